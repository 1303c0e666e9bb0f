/**
 * The order of the log over HTTP: writers of two instances change the same subjects while a reader follows the log. On
 * SQLite a command writes beside the server.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeShop } from '../../src/app/compose.ts';
import { bern, onBothEngines } from '../context.ts';
import { openShop, type Shop } from '../helper.ts';
import { listSequences, untilNumbered } from './streams.ts';

const seconds = Number(process.env.CURD_TEST_ORDER_SECONDS ?? 1);
const subjects = 4;
const writers = 14;

interface Listed {
  readonly type: string;
  readonly sequence: number;
  readonly subject: string;
  readonly actor: string;
  readonly data: {
    readonly status: string;
    readonly changes?: { readonly status: { from: string; to: string } };
  };
}

/** Follows the log until `isDone`, and then to its end. */
async function follow(shop: Shop, isDone: () => boolean): Promise<Listed[]> {
  const events: Listed[] = [];
  for (let since = 'earliest'; ; ) {
    const wasDone = isDone();
    const url = `/v2/events?since=${since}&limit=100&wait=${wasDone ? 0 : 1}`;
    const { json } = await shop.request('GET', url, { as: shop.admin });
    events.push(...json.items);
    since = json.next;
    if (wasDone && !json.hasMore) {
      return events;
    }
  }
}

onBothEngines('The order of the log', (engine) => {
  test('The order of the log has no gap, and that of each subject is the order of its changes, with two instances and a command', async (t) => {
    const first = await openShop(t, { engine });
    const instances = engine === 'postgres' ? [first, await first.another()] : [first];
    const as = first.admin;
    const cheeses: number[] = [];
    for (let count = 0; count < subjects; count += 1) {
      const body = { name: `Cheese ${count}`, pricePerKg: 10 };
      cheeses.push((await first.request('POST', '/v2/cheeses', { as, body })).json.id);
    }
    const orderable = (
      await first.request('POST', '/v2/cheeses', { as, body: { name: 'Brie', pricePerKg: 1 } })
    ).json.id;
    let isDone = false;
    const reading = follow(first, () => isDone);
    const endsAt = performance.now() + seconds * 1000;
    const statuses = ['available', 'pending', 'sold'];
    async function writeAs(shop: Shop, writer: number): Promise<void> {
      for (let count = 0; performance.now() < endsAt; count += 1) {
        const cheese = cheeses[count % subjects];
        const status = statuses[Math.floor(Math.random() * 3)];
        await shop.request('POST', `/v2/cheeses/${cheese}?status=${status}`, { as });
        const order = { items: [{ cheeseId: orderable, quantity: 1 }], shippingAddress: bern };
        const { id } = (await shop.request('POST', '/v2/store/order', { as, body: order })).json;
        const other = instances[(writer + 1) % instances.length] ?? shop;
        // Both change one order: one of them wins each time.
        await Promise.all([
          shop.request('POST', `/v2/store/order/${id}/approve`, { as }),
          other.request('DELETE', `/v2/store/order/${id}`, { as }),
        ]);
        await Promise.all([
          shop.request('POST', `/v2/store/order/${id}/ship`, { as }),
          other.request('POST', `/v2/store/order/${id}/ship`, { as }),
        ]);
      }
    }
    /** With its own connection, as a command has. */
    async function writeAsCommand(): Promise<void> {
      const services = await composeShop(first.config, { workers: first.app });
      const context = services.contextOf('cli');
      do {
        const made = await services.cheeses.service.create(context, { name: `Cheese ${Math.random()}` });
        await services.cheeses.service.update(context, made.id, { status: 'sold' });
        await sleep(5);
      } while (performance.now() < endsAt);
      await services.close();
    }
    await Promise.all([
      writeAsCommand(),
      ...Array.from({ length: writers }, (_, writer) =>
        writeAs(instances[writer % instances.length] ?? first, writer),
      ),
    ]);
    await untilNumbered(first);
    isDone = true;
    const events = await reading;
    assert.ok(events.length > 30, `${events.length}`);
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, index) => index + 1),
    );
    assert.equal(events.length, (await listSequences(first)).length);
    const ofCommand = events.filter(({ actor }) => actor === 'cli');
    assert.ok(ofCommand.length >= 2, `${ofCommand.length} events of the command`);
    for (const [subject, own] of Map.groupBy(events, (one) => one.subject)) {
      if (subject.startsWith('order:')) {
        const { json } = await first.request('GET', `/v2/store/${subject.replace(':', '/')}/timeline`, {
          as,
        });
        const timeline = json.items.map(({ status }: { status: string }) => status);
        assert.deepEqual(
          own.map(({ data }) => data.status),
          timeline,
          subject,
        );
        const path = timeline.join();
        assert.match(path, /^placed(,approved(,shipped|,cancelled)?|,cancelled)?$/, path);
      } else if (subject.startsWith('cheese:')) {
        let status = 'available';
        for (const { data } of own.filter(({ type }) => type === 'cheese.updated')) {
          assert.equal(data.changes?.status.from, status, subject);
          status = data.changes?.status.to ?? '';
        }
      }
    }
  });
});
