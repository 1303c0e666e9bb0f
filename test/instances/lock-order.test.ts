/**
 * The order in which transactions on PostgreSQL lock rows: cheeses, customers, jobs, orders, and rows of one table by
 * their keys. Each test takes one lock, sends a request that waits for it, and checks what the request has locked.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { forUpdate, type Statement, skippingLocked, sql } from '../../src/database/sql.ts';
import { shared, until } from '../helper.ts';
import { deleteCheese, newCheese, password, placeOrder, registerAndLogIn } from '../shop-verbs.ts';
import { type Instances, newName, newUsername, openInstances } from './instances.ts';

const instances = shared((t) => openInstances(t, 2));

const databaseOf = ({ all: [, { app }] }: Instances) => app.database;

/** Waits until so many transactions wait for a lock. */
function untilWaiting(shops: Instances, transactions: number): Promise<void> {
  return until(async () => {
    const row = await databaseOf(shops).get<{ waiting: number }>(sql`
      select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return row?.waiting === transactions;
  });
}

/** Whether the row of `probe` is free while `work` waits for the row of `held`. */
async function isFreeMeanwhile<T>(
  shops: Instances,
  held: Statement,
  probe: Statement,
  work: () => Promise<T>,
): Promise<{ isFree: boolean; result: T }> {
  const database = databaseOf(shops);
  const { isFree, working } = await database.transaction(async (tx) => {
    await tx.get(sql`${held}${forUpdate}`);
    const working = work();
    await untilWaiting(shops, 1);
    return { isFree: (await tx.get(sql`${probe}${skippingLocked}`)) !== undefined, working: { working } };
  });
  return { isFree, result: await working.working };
}

suite('Transactions lock rows in one order:', () => {
  test('Transactions lock rows in one order: cheeses before the customer, where an order is placed or a profile replaced', async () => {
    const shops = instances();
    const id = await newCheese(shops);
    const username = newUsername();
    const { headers } = await registerAndLogIn(shops, { username });
    const cheese = sql`select id from cheese where id = ${id}`;
    const customer = sql`select id from customer where username = ${username}`;
    const placed = await isFreeMeanwhile(shops, cheese, customer, () =>
      placeOrder(shops.next(), id, { headers }),
    );
    assert.deepEqual([placed.result.status, placed.isFree], [201, true], placed.result.text);
    const body = { username, email: `${username}@example.com`, password, favouriteCheese: { id } };
    for (const sent of [body, { ...body, firstName: 'Ada' }]) {
      const changed = await isFreeMeanwhile(shops, cheese, customer, () =>
        shops.request('PUT', `/v2/customer/${username}`, { headers, body: sent }),
      );
      assert.ok(changed.result.status < 300, changed.result.text);
      assert.ok(changed.isFree);
    }
  });

  test('Transactions lock rows in one order: no cheese after the customer, also where the favourite has changed meanwhile', async () => {
    const shops = instances();
    const database = databaseOf(shops);
    const [first, second] = [await newCheese(shops), await newCheese(shops)];
    for (const method of ['PUT', 'DELETE']) {
      const username = newUsername();
      const { headers } = await registerAndLogIn(shops, { username });
      const favouriteCheese = { id: first };
      const profile = { username, email: `${username}@example.com`, password, favouriteCheese };
      const path = `/v2/customer/${username}`;
      assert.equal((await shops.request('PUT', path, { headers, body: profile })).status, 200);
      await database.transaction(async (tx) => {
        await tx.get(sql`select id from cheese where id = ${second}${forUpdate}`);
        const { changing } = await database.transaction(async (other) => {
          await other.run(sql`update customer set favourite_id = ${second} where username = ${username}`);
          const changing = shops.request(method, path, {
            headers,
            ...(method === 'PUT' ? { body: { ...profile, firstName: 'Ada' } } : {}),
          });
          await untilWaiting(shops, 1);
          return { changing };
        });
        assert.ok((await changing).status < 300, method);
      });
    }
  });

  test('Transactions lock rows in one order: cheeses by their ids, where a file updates them in another order', async () => {
    const shops = instances();
    const names = [newName(), newName()];
    const ids: number[] = [];
    for (const name of names) {
      ids.push(await newCheese(shops, { name }));
    }
    const data = new FormData();
    const rows = names.toReversed().map((name) => `${name},33`);
    data.append('file', new Blob([['name,pricePerKg', ...rows].join('\n')]), 'cheeses.csv');
    data.append('mode', 'update');
    const encoded = new Response(data);
    const raw = new Uint8Array(await encoded.arrayBuffer());
    const headers = { 'content-type': encoded.headers.get('Content-Type') ?? '' };
    const row = (id = 0) => sql`select id from cheese where id = ${id}`;
    const { isFree, result } = await isFreeMeanwhile(shops, row(ids[0]), row(ids[1]), () =>
      shops.request('POST', '/v2/imports', { as: shops.writer, raw, headers }),
    );
    assert.deepEqual([result.status, result.json.updated, isFree], [200, 2, true], result.text);
  });

  test('Transactions lock rows in one order: names of customers one after another, where two take the names of each other', async () => {
    const shops = instances();
    const [one, other] = [newUsername(), newUsername()];
    const { headers } = await registerAndLogIn(shops, { username: one });
    const { headers: otherHeaders } = await registerAndLogIn(shops, { username: other });
    const rename = (from: string, to: string, as: Record<string, string>) =>
      shops.request('PUT', `/v2/customer/${from}`, {
        headers: as,
        body: { username: to, email: `${from}@example.com`, password },
      });
    const database = databaseOf(shops);
    const { renaming } = await database.transaction(async (tx) => {
      await tx.get(sql`select id from customer where username = ${one}${forUpdate}`);
      const first = rename(one, other, headers);
      await untilWaiting(shops, 1);
      const second = rename(other, one, otherHeaders);
      await untilWaiting(shops, 2);
      return { renaming: [first, second] };
    });
    const statuses = (await Promise.all(renaming)).map(({ status }) => status);
    assert.deepEqual(statuses, [422, 422]);
  });

  test('Transactions lock rows in one order: customers before orders, where a cheese is deleted', async () => {
    const shops = instances();
    const id = await newCheese(shops);
    const username = newUsername();
    const { headers } = await registerAndLogIn(shops, { username });
    const body = { username, email: `${username}@example.com`, password, favouriteCheese: { id } };
    assert.equal((await shops.request('PUT', `/v2/customer/${username}`, { headers, body })).status, 200);
    const order = await placeOrder(shops.next(), id, { headers });
    const { isFree, result } = await isFreeMeanwhile(
      shops,
      sql`select id from customer where username = ${username}`,
      sql`select id from orders where id = ${order.json.id}`,
      () => deleteCheese(shops.next(), id),
    );
    assert.deepEqual([result.status, isFree], [204, true], result.text);
  });

  test('API keys by their ids, not by their use', async (t) => {
    const shops = await openInstances(t, 2);
    const [shop] = shops.all;
    const keys = [await shop.createKey(), await shop.createKey(), await shop.createKey()];
    const database = databaseOf(shops);
    for (const as of keys.toReversed()) {
      assert.equal((await shop.request('GET', '/v2/cheeses', { as })).status, 200);
    }
    const rows = await database.all<{ id: number }>(sql`select id from api_key order by id desc limit 3`);
    const [last, , first] = rows.map(({ id }) => id);
    const { isFree } = await isFreeMeanwhile(
      shops,
      sql`select id from api_key where id = ${first ?? 0}`,
      sql`select id from api_key where id = ${last ?? 0}`,
      () => shop.app.close(),
    );
    assert.ok(isFree);
  });
});

test('Batches with the same customers in another order never deadlock', async () => {
  const shops = instances();
  const database = databaseOf(shops);
  const [first, second, third] = [newUsername(), newUsername(), newUsername()];
  const entry = (username: string) => ({ username, email: `${username}@example.com`, password });
  const send = (usernames: readonly string[]) =>
    shops.all[1].request('POST', '/v2/customer/createMultiple', { body: usernames.map(entry) });
  const { answers: responses } = await database.transaction(async (tx) => {
    const [name, email] = [third, `${third}@example.com`];
    // The first batch waits for this lock after its first customer.
    await tx.run(sql`
      insert into customer (username, username_key, email, email_key, first_name, last_name, last_first, first_last,
        password, tier, created_at)
      values (${name}, ${name}, ${email}, ${email}, '', '', '', '', '', 'bronze', '')`);
    const one = send([first, third, second]);
    await untilWaiting(shops, 1);
    const other = send([second, first]);
    await untilWaiting(shops, 2);
    return { answers: [one, other] };
  });
  const created = (await Promise.all(responses)).map(({ json }) =>
    json.created.map(({ username }: { username: string }) => username),
  );
  assert.deepEqual(created, [[first, second], []]);
  // A connection reports what it counted within a second.
  await sleep(1100);
  await database.get(sql`select pg_stat_force_next_flush() is null as done`);
  const row = await database.get<{ deadlocks: number }>(
    sql`select deadlocks from pg_stat_database where datname = current_database()`,
  );
  assert.equal(row?.deadlocks, 0);
});

test('Purges pass over rows that a transaction has locked', async (t) => {
  const shops = await openInstances(t, 2);
  const database = databaseOf(shops);
  const { sessions } = shops.all[0].app.auth;
  await registerAndLogIn(shops, { username: newUsername() });
  await registerAndLogIn(shops, { username: newUsername() });
  await database.run(sql`update session set expires_at = '2020-01-01T00:00:00.000Z'`);
  const count = async () => (await database.all<object>(sql`select token_hash from session`)).length;
  await database.transaction(async (tx) => {
    await tx.get(sql`select token_hash from session order by token_hash limit 1${forUpdate}`);
    await sessions.purge();
    assert.equal(await count(), 1);
  });
  await sessions.purge();
  assert.equal(await count(), 0);
});
