/** A long lock on PostgreSQL: changes that need it are refused after a while, and reads still work. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Sql } from '../../src/database/database.ts';
import { Effects, rollingBack } from '../../src/database/dry-run.ts';
import { createGroupCommit } from '../../src/database/group-commit.ts';
import { createSemaphore } from '../../src/database/semaphore.ts';
import { sql } from '../../src/database/sql.ts';
import { assertError, bern, openShop, type Shop } from '../helper.ts';

/** More than the connections of an instance. */
const changesAtOnce = 14;

/** Keeps the lock of `lock` until `work` has ended. */
async function holding(other: Shop, lock: ReturnType<typeof sql>, work: () => Promise<void>): Promise<void> {
  await other.app.database.transaction(async (tx) => {
    await tx.run(lock);
    await work();
  });
}

suite('While another instance holds a lock', () => {
  test('While another instance holds a lock on the catalogue, changes are 503 with Retry-After, and reads still work', async (t) => {
    const shop = await openShop(t, { engine: 'postgres' });
    const other = await shop.another();
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Locked', pricePerKg: 1 },
    });
    const path = `/v2/cheeses/${cheese.id}`;
    let settled = 0;
    await holding(other, sql`update catalogue set version = version`, async () => {
      const changes = Array.from({ length: changesAtOnce }, async (_, place) => {
        const body = { name: `Locked ${place}` };
        const response = await shop.request('POST', place % 2 === 0 ? path : '/v2/cheeses', {
          as: shop.writer,
          body,
        });
        settled += 1;
        return response;
      });
      for (const [url, as] of [
        [path, shop.reader],
        ['/v2/cheeses?limit=5', shop.reader],
        ['/v2/cheeses/findByStatus?status=available', shop.writer],
        ['/v2/whoami', shop.reader],
        ['/readyz', undefined],
      ] as const) {
        const answer = await shop.request('GET', url, as === undefined ? {} : { as });
        assert.equal(answer.status, 200, answer.text);
      }
      const order = { items: [{ cheeseId: cheese.id, quantity: 1 }], shippingAddress: bern };
      assert.equal(settled, 0, 'all that was before the first change was refused');
      for (const answer of await Promise.all(changes)) {
        assertError(answer, 503, 'unavailable');
        assert.ok(Number(answer.headers['retry-after']) > 0);
      }
      const placed = await shop.request('POST', '/v2/store/order', { as: shop.admin, body: order });
      assert.equal(placed.status, 201, 'orders do not need that lock');
    });
    const { json: list } = await shop.request('GET', '/v2/cheeses', { as: shop.reader });
    assert.deepEqual(list.items, [cheese], 'nothing was changed');
    const body = { name: 'Free again' };
    assert.equal((await shop.request('POST', path, { as: shop.writer, body })).status, 200);
  });

  test('While another instance holds a lock on a customer, changes to the profile are 503', async (t) => {
    const shop = await openShop(t, { engine: 'postgres' });
    const other = await shop.another();
    const profile = { username: 'ada', email: 'ada@example.com', password: 'right and long' };
    await shop.request('POST', '/v2/customer', { body: profile });
    const { json } = await shop.request('POST', '/v2/customer/login', { body: profile });
    const headers = { authorization: `Bearer ${json.token}` };
    await holding(other, sql`select id from customer for update`, async () => {
      const body = { ...profile, phone: '1' };
      assertError(await shop.request('PUT', '/v2/customer/ada', { headers, body }), 503, 'unavailable');
    });
    assert.equal((await shop.request('DELETE', '/v2/customer/ada', { headers })).status, 204);
  });

  test('While another instance holds a lock, a dry run is 503, and waits less than a real change would', async (t) => {
    const shop = await openShop(t, { engine: 'postgres' });
    const other = await shop.another();
    const { database } = shop.app;
    const dryRun = (headers: Readonly<Record<string, string>>) =>
      shop.request('POST', '/v2/cheeses', { as: shop.writer, headers, body: { name: 'Dry' } });
    await holding(other, sql`update catalogue set version = version`, async () => {
      const refused = await dryRun({ 'dry-run': 'effects' });
      assertError(refused, 503, 'unavailable');
      assert.equal(refused.headers['dry-run'], 'effects');
      assert.ok(Number(refused.headers['retry-after']) > 0);
    });
    assert.equal((await dryRun({ 'dry-run': 'true' })).status, 201);
    const lockTimeout = async (tx: Sql) =>
      (await tx.get<{ value: string }>(sql`select current_setting('lock_timeout') as value`))?.value;
    const dryTransaction = rollingBack(database.transaction, new Effects(), shop.clock);
    assert.equal(await dryTransaction(lockTimeout), '2s');
    assert.equal(await database.transaction(lockTimeout), '2500ms', 'only of the transaction of the dry run');
  });

  test('While another instance holds a lock, commands that change whole tables wait for it', async (t) => {
    const shop = await openShop(t, { engine: 'postgres' });
    const other = await shop.another();
    const { database } = shop.app;
    let overhaul: Promise<number> | undefined;
    await holding(other, sql`update catalogue set version = version`, async () => {
      overhaul = database.exclusiveTransaction((tx) => tx.run(sql`update catalogue set version = version`));
      const refused = database.run(sql`update catalogue set version = version`);
      await assert.rejects(refused, { code: 'unavailable' });
    });
    assert.equal(await overhaul, 1);
  });
});

suite('A semaphore', () => {
  test('A semaphore gives permits in order of arrival, after work that succeeds or fails', async () => {
    const semaphore = createSemaphore(2, 60_000);
    const [events, ends]: [string[], (() => void)[]] = [[], []];
    const work = (name: string, fails = false) =>
      semaphore
        .during(async () => {
          events.push(name);
          await new Promise<void>((resolve) => ends.push(resolve));
          if (fails) {
            throw new Error(name);
          }
        })
        .catch(() => events.push(`${name} failed`));
    const all = [work('a', true), work('b'), work('c'), work('d')];
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await turn();
    assert.deepEqual([events, semaphore.waiting()], [['a', 'b'], 2]);
    ends[0]?.();
    await turn();
    assert.deepEqual(events.toSorted(), ['a', 'a failed', 'b', 'c']);
    ends[1]?.();
    await turn();
    assert.deepEqual([events.at(-1), semaphore.waiting()], ['d', 0]);
    for (const end of ends) {
      end();
    }
    await Promise.all(all);
    assert.equal(await semaphore.during(async () => 'free'), 'free');
  });

  test('A semaphore refuses a task after the maximum wait, and takes it out of the queue', async () => {
    const semaphore = createSemaphore(1, 20);
    let end: () => void = () => {};
    const first = semaphore.during(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    await assert.rejects(
      semaphore.during(async () => {}),
      { code: 'unavailable' },
    );
    assert.equal(semaphore.waiting(), 0);
    end();
    await first;
    assert.equal(await semaphore.during(async () => 'free'), 'free');
  });
});

suite('Groups', () => {
  const work = (value: string) => async () => value;

  test('Groups of changes run in order, and leave to the next group what has not begun', async () => {
    const groups: number[] = [];
    const { add, ended, waiting } = createGroupCommit({
      sizeMax: 4,
      async commit(works) {
        groups.push(works.length);
        return [{ value: await works[0]?.({} as Sql) }];
      },
    });
    const ends: unknown[] = [];
    const all = [3, 1, 2, 1, 0].map(async (order, place) => {
      ends.push(await add(work(`${order}, ${place}`), order));
    });
    assert.equal(waiting(), 5);
    await Promise.all(all);
    await ended();
    // The fifth arrived after the first group was full.
    assert.deepEqual(ends, ['1, 1', '1, 3', '2, 2', '3, 0', '0, 4']);
    assert.deepEqual(groups, [4, 3, 2, 1, 1]);
  });

  test('Groups of changes run again with savepoints after a failure, and so do the next 16', async () => {
    const kinds: boolean[] = [];
    const { add } = createGroupCommit({
      sizeMax: 2,
      async commit(works, hasSavepoints) {
        kinds.push(hasSavepoints);
        return hasSavepoints || kinds.length > 1 ? works.map((_, value) => ({ value })) : null;
      },
    });
    await Promise.all(Array.from({ length: 36 }, () => add(work('a'))));
    assert.deepEqual(kinds, [false, ...Array(17).fill(true), false]);
  });

  test('Groups of changes refuse all changes of a group whose commit fails, and those that have waited too long', async () => {
    let hang: () => void = () => {};
    const groups = createGroupCommit({
      sizeMax: 2,
      // So long that a busy machine does not delay the first group by as much.
      waitMs: 500,
      async commit(works) {
        await new Promise<void>((resolve) => {
          hang = resolve;
        });
        throw new Error(`${works.length} lost`);
      },
    });
    const all = Promise.allSettled([groups.add(work('a')), groups.add(work('b')), groups.add(work('late'))]);
    await new Promise((resolve) => setTimeout(resolve, 600));
    hang();
    const [first, second, late] = (await all) as PromiseRejectedResult[];
    assert.deepEqual([first?.reason.message, second?.reason.message], ['2 lost', '2 lost']);
    assert.equal(late?.reason.code, 'unavailable');
  });
});
