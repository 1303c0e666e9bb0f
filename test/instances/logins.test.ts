/** Many parallel logins on several instances: how long they delay other requests and each other. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import type { Shop } from '../helper.ts';
import { password, sendLogin } from '../shop-verbs.ts';
import { newUsername, openInstances, tally } from './instances.ts';

suite('200 parallel logins on two instances', () => {
  test('200 parallel logins on two instances never deadlock, and other requests get responses in the meantime', async (t) => {
    const shops = await openInstances(t, 2);
    const usernames = Array.from({ length: 8 }, () => newUsername());
    for (const username of usernames) {
      const body = { username, email: `${username}@example.com`, password };
      assert.equal((await shops.request('POST', '/v2/customer', { body })).status, 201);
    }
    let isOver = false;
    const waits: number[] = [];
    async function read(shop: Shop): Promise<void> {
      while (!isOver) {
        const began = performance.now();
        assert.equal((await shop.request('GET', '/v2/cheeses', { as: shops.reader })).status, 200);
        waits.push(performance.now() - began);
      }
    }
    const reading = Promise.all(shops.all.map(read));
    const began = performance.now();
    const responses = await shops.atOnce(200, (shop, index) =>
      sendLogin(shop, usernames[index % 8] as string, index % 3 === 0 ? 'wrong' : password),
    );
    const took = performance.now() - began;
    isOver = true;
    await reading;
    const longest = Math.round(Math.max(...waits));
    t.diagnostic(
      `${tally(responses)} in ${Math.round(took)} ms; of ${waits.length} reads the longest took ${longest} ms`,
    );
    const statuses = new Set(responses.map(({ status }) => status));
    assert.ok(
      [...statuses].every((status) => [200, 401, 429, 503].includes(status)),
      tally(responses),
    );
    assert.ok(longest < 5000, `a read took ${longest} ms`);
    // A deadlock is resolved after a second of waiting, and its connection reports it within another one.
    const { database } = shops.all[0].app;
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await database.get(sql`select pg_stat_force_next_flush() is null as done`);
    const row = await database.get<{ deadlocks: number }>(
      sql`select deadlocks from pg_stat_database where datname = current_database()`,
    );
    assert.equal(row?.deadlocks, 0);
  });
});
