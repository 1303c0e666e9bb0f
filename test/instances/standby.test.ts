/**
 * A primary with a streaming standby. The primary is killed while orders are placed, and the standby is promoted.
 * CURD_TEST_FAILOVER_ORDERS=2000 sets how many orders the synchronous standby confirms before.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/database/open.ts';
import { sql } from '../../src/database/sql.ts';
import { curd } from '../cli/run.ts';
import { secret, until } from '../context.ts';
import { assertError, openShop, type Shop } from '../helper.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { numbered, registerEndpoint } from '../webhooks/webhook-shop.ts';
import {
  kill,
  lostOf,
  openPrimary,
  orderBody,
  ordersIn,
  type Pair,
  promote,
  replicateSynchronously,
  type SendOrder,
  startOrders,
  stopReplication,
} from './failover.ts';
import { standbyOf } from './standby-postgres.ts';

const confirmedMin = Number(process.env.CURD_TEST_FAILOVER_ORDERS ?? 100);
const clients = 4;
/** Between the kill and the promotion. */
const outageMs = 400;
const recoveryMs = 5000;

test('A primary is killed, and its standby is promoted', { timeout: 180_000 }, async (t) => {
  const { url, primary, makeStandby } = await openPrimary(t);
  const settings = { CURD_DATABASE: url, CURD_APPROVAL_DELAY: '1h' };
  const shop = await openShop(t, { settings });
  const cheese = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: 'Comté', pricePerKg: 41.5 },
  });
  const receiver = await openReceiver(t);
  await registerEndpoint(shop, receiver.url, ['order.placed']);
  await shop.app.webhooks.worker.start();
  const send = sendOrder(shop);

  /** Each was received, also what was being sent at the kill: nothing waits for its lease of a minute. */
  async function requireSent(orderIds: readonly number[]): Promise<void> {
    const subjects = new Set(orderIds.map((id) => `order:${id}`));
    const isComplete = async () =>
      subjects.isSubsetOf(new Set(receiver.received.map(({ body }) => String(body.subject))));
    await until(isComplete, 'webhooks do not continue', 30_000);
  }

  let pair: Pair = { primary, standby: await makeStandby() };

  await t.test(
    'A promoted asynchronous standby lacks only the last orders, and their positions are 410',
    async (t) => {
      const orders = startOrders(send, cheese.json.id, clients);
      await orders.more(20);
      const kept = await newestPosition(shop);
      const stoppedAt = performance.now();
      const sender = await stopReplication(pair);
      await orders.more(10);
      await orders.stop();
      const lost = await newestPosition(shop);
      const namesOf = async () => {
        const { status, json } = await shop.request('GET', '/v2/cheeses', { as: shop.reader });
        return status === 200 ? json.items.map(({ name }: { name: string }) => name) : null;
      };
      await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Lost' } });
      assert.deepEqual(await namesOf(), ['Comté', 'Lost']);
      await kill(pair, sender);
      await promote(pair);
      await until(async () => (await namesOf()) !== null, 'lists do not come back');
      assert.deepEqual(await namesOf(), ['Comté']);
      // The new primary gives the same version of the catalogue again.
      await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'New' } });
      assert.deepEqual(await namesOf(), ['Comté', 'New']);

      // No change follows yet, so no event gets a number.
      const list = (since: string) => shop.request('GET', `/v2/events?since=${since}`, { as: shop.admin });
      await until(async () => (await list(lost)).status === 410, 'the position is not known as lost');
      assertError(await list(lost), 410, 'log_rewound');
      assert.equal((await list(kept)).status, 200);

      const missing = lostOf(orders, await ordersIn(pair.standby));
      t.diagnostic(`${orders.confirmed.size} confirmed, lost: ${missing.map(({ id }) => id).join(', ')}`);
      assert.ok(missing.length >= 10);
      for (const { id, atMs } of missing) {
        assert.ok(atMs > stoppedAt, `order ${id} was confirmed before the replication stopped`);
      }
      // A client that repeats them gets one order each.
      for (const { key } of [...missing, ...missing]) {
        assert.equal((await send(orderBody(cheese.json.id, key), key)).status, 201);
      }
      const stored = await ordersIn(pair.standby);
      assert.deepEqual([...stored.keys()].toSorted(), [...orders.confirmed.keys()].toSorted());
      assert.ok(
        [...stored.values()].every((ids) => ids.length === 1),
        'a key made two orders',
      );
      await requireSent([...stored.values()].flat());
    },
  );

  await t.test(
    'The old primary, back as a standby, takes no writes, though the URL names it first',
    async () => {
      pair = { primary: pair.standby, standby: await standbyOf(t, pair.standby, primary.port) };
      await assert.rejects(pair.standby.ask('create table x (id bigint)'), /read-only/);
      const database = await openDatabase({ database: { engine: 'postgres', file: null, url } });
      const reads = Array.from({ length: 4 }, () =>
        database.get<{ port: string }>(sql`select current_setting('port') as port`),
      );
      assert.deepEqual(
        (await Promise.all(reads)).map((row) => Number(row?.port)),
        reads.map(() => pair.primary.port),
      );
      await database.close();
    },
  );

  await t.test(
    'A promoted synchronous standby has every order, and keys that are repeated make one order',
    async (t) => {
      await replicateSynchronously(pair);
      const orders = startOrders(send, cheese.json.id, clients);
      await orders.more(confirmedMin);
      const kept = await newestPosition(shop);
      await kill(pair);
      const before = { ...orders.statuses };
      await sleep(outageMs);
      assert.equal(orders.statuses[201], before[201], 'an order was confirmed without a primary');
      await promote(pair);
      const promotedAt = performance.now();
      await orders.more(1);
      const recoveredMs = performance.now() - promotedAt;
      await orders.more(20);
      await orders.stop();
      assert.deepEqual(orders.faults, []);
      assert.ok(recoveredMs < recoveryMs, `${recoveredMs} ms until the first order`);
      assert.ok((orders.statuses[503] ?? 0) > 0 && orders.repeated.size > 0);
      const stored = await ordersIn(pair.standby);
      t.diagnostic(
        `${JSON.stringify(orders.statuses)}, ${orders.repeated.size} keys repeated, slowest ${orders.slowestMs()} ms`,
      );
      assert.deepEqual(lostOf(orders, stored), []);
      assert.deepEqual(
        [...stored.values()].filter((ids) => ids.length !== 1),
        [],
        'a key made two orders',
      );

      // Nothing was lost, so readers continue where they were.
      const page = await shop.request('GET', `/v2/events?since=${kept}&limit=100`, { as: shop.admin });
      assert.equal(page.status, 200, page.text);
      await numbered(shop);
      await requireSent([...orders.confirmed.values()].map(({ id }) => id));
      const doctor = await curd(
        { ...settings, CURD_SECRET: secret, CURD_DATA_DIR: shop.config.dataDir },
        'doctor',
      );
      assert.equal(doctor.code, 0, doctor.stdout);
    },
  );
});

/** Sends orders through the shop. */
function sendOrder(shop: Shop): SendOrder {
  return async (body, key) => {
    const response = await shop.request('POST', '/v2/store/order', {
      as: shop.admin,
      headers: { 'Idempotency-Key': key },
      body,
    });
    const retryAfter = Number(response.headers['retry-after'] ?? 0);
    return { status: response.status, retryAfter, id: response.json.id };
  };
}

async function newestPosition(shop: Shop): Promise<string> {
  await numbered(shop);
  return (await shop.request('GET', '/v2/events?since=latest', { as: shop.admin })).json.next;
}
