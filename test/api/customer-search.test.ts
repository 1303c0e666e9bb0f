/** Search, single reads, roles and sessions of customers, for operators. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchNames } from '../../src/customers/search/search-names.ts';
import { sql } from '../../src/database/sql.ts';
import { eventsNumbered, newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import { assertError, assertFields, onBothEngines, openShop, type Shop, shared } from '../helper.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

interface Item {
  readonly customer: { readonly id: number; readonly username: string };
  readonly role: string;
  readonly deliveredTotal: number;
}

/** Inserts customers without hashing passwords. */
async function insert(shop: Shop, customers: readonly (readonly [string, string, string, string?])[]) {
  const { database } = shop.app;
  for (const [username, firstName, lastName, tier = 'bronze'] of customers) {
    const { lastFirst, firstLast } = searchNames({ first_name: firstName, last_name: lastName });
    await database.run(sql`
      insert into customer (username, username_key, email, email_key, first_name, last_name, last_first, first_last,
        password, tier, created_at)
      values (${username}, ${username.toLowerCase()}, ${`${username}@Mail.example`},
        ${`${username.toLowerCase()}@mail.example`}, ${firstName}, ${lastName}, ${lastFirst}, ${firstLast}, '', ${tier},
        '2026-01-01T00:00:00.000Z')`);
  }
}

/** The usernames of all pages. */
async function search(shop: Shop, query: string, limit = 2): Promise<string[]> {
  const names: string[] = [];
  let cursor = '';
  for (;;) {
    const path = `/v2/customers?limit=${limit}&${cursor === '' ? query : `cursor=${encodeURIComponent(cursor)}`}`;
    const { status, json, text } = await shop.request('GET', path, { as: shop.admin });
    assert.equal(status, 200, text);
    assert.equal(json.hasMore, json.nextCursor !== null);
    assert.ok(json.items.length <= limit);
    names.push(...json.items.map(({ customer }: Item) => customer.username));
    if (json.nextCursor === null) {
      return names;
    }
    cursor = json.nextCursor;
  }
}

onBothEngines('GET /customers', (engine) => {
  const shop = shared(async (t) => {
    const opened = await openShop(t, { engine });
    await insert(opened, [
      ['zoë.m', 'Zoë', 'Müller'],
      ['ada', 'Ada', 'Łukasiewicz', 'gold'],
      ['adam', 'José María', 'Ñandú'],
      ['muller', 'Øyvind', 'Adamsson', 'gold'],
      ['x_y%', 'Eve', ''],
    ]);
    return opened;
  });

  test('GET /customers finds each customer by each beginning of four names with accents, once', async () => {
    const names = [
      ['zoë.m', 'Zoë Müller', 'Müller Zoë'],
      ['ada', 'Ada Łukasiewicz', 'Łukasiewicz Ada'],
      ['adam', 'José María Ñandú', 'Ñandú José María'],
      ['muller', 'Øyvind Adamsson', 'Adamsson Øyvind'],
    ] as const;
    for (const [username, ...texts] of names) {
      for (const text of [username, `${username}@mail.EXAMPLE`, ...texts]) {
        const characters = [...text];
        for (let length = 1; length <= characters.length; length += 3) {
          const beginning = characters.slice(0, length).join('');
          for (const q of [beginning, beginning.toUpperCase()]) {
            const found = await search(shop(), `q=${encodeURIComponent(q)}`, 3);
            assert.ok(found.includes(username), `${username} by ${q}: ${found}`);
            assert.equal(new Set(found).size, found.length, `${q}: ${found}`);
          }
        }
      }
    }
    assert.deepEqual(await search(shop(), 'q=jose%20maria'), ['adam']);
    assert.deepEqual(await search(shop(), 'q=lukas'), ['ada']);
  });

  test('GET /customers lists matches of usernames first, then of last names, then of first and last names', async () => {
    assert.deepEqual(await search(shop(), 'q=ada', 1), ['ada', 'adam', 'muller']);
    assert.deepEqual(await search(shop(), 'q=mu'), ['muller', 'zoë.m']);
    assert.deepEqual(await search(shop(), 'q=ada&status=gold'), ['ada', 'muller']);
    assert.deepEqual(await search(shop(), 'q=x_y%25'), ['x_y%']);
    for (const q of ['_', '%25', 'nobody', '%CC%81', 'zo%CD%8F%F4%8F%BF%BF']) {
      assert.deepEqual(await search(shop(), `q=${q}`), [], q);
    }
  });

  test('GET /customers lists the newest first without q, by tier and by role', async () => {
    assert.deepEqual(await search(shop(), ''), ['x_y%', 'muller', 'adam', 'ada', 'zoë.m']);
    assert.deepEqual(await search(shop(), 'status=gold', 1), ['muller', 'ada']);
    const {
      customers: { administration: customerAdministration },
      contextOf,
      database,
    } = shop().app;
    const [ada, adam] = [await customerAdministration.idOf('ada'), await customerAdministration.idOf('adam')];
    for (const id of [ada, adam]) {
      await customerAdministration.changeRole(contextOf('test'), id, 'staff');
    }
    await database.run(sql`update customer set delivered_cents = 70950 where id = ${ada}`);
    assert.deepEqual(await search(shop(), 'role=staff', 1), ['adam', 'ada']);
    assert.deepEqual(await search(shop(), 'role=staff&status=gold'), ['ada']);
    assert.deepEqual(await search(shop(), 'role=customer&status=gold'), ['muller']);
    const { json } = await shop().request('GET', `/v2/customers/${ada}`, { as: shop().reader });
    assert.deepEqual([json.role, json.deliveredTotal], ['staff', 709.5]);
  });

  test('GET /customers returns 400 for parameters that are not valid, and for a cursor of another query', async () => {
    const { json } = await shop().request('GET', '/v2/customers?q=a&limit=1', { as: shop().admin });
    const cursor = encodeURIComponent(json.nextCursor);
    for (const query of [
      'q=',
      `q=${'x'.repeat(101)}`,
      'q=%20',
      'q=a%00',
      'status=diamond',
      'role=admin',
      'cursor=x',
      `q=b&cursor=${cursor}`,
    ]) {
      const response = await shop().request('GET', `/v2/customers?${query}`, { as: shop().admin });
      assertError(response, 400, 'bad_request');
    }
  });

  test('GET /customers has the name of a registration and of a changed profile at once', async () => {
    const body = { username: 'grace', email: 'g@mail.example', password: 'right', lastName: 'Höpper' };
    await shop().request('POST', '/v2/customer', { body });
    assert.deepEqual(await search(shop(), 'q=hopp'), ['grace']);
    const id = await shop().app.customers.administration.idOf('grace');
    const headers = bearer(await newSession(shop(), id));
    const renamed = { ...body, lastName: 'Ångström' };
    await shop().request('PUT', '/v2/customer/grace', { headers, body: renamed });
    assert.deepEqual(await search(shop(), 'q=hopp'), []);
    assert.deepEqual(await search(shop(), 'q=ANGS'), ['grace']);
    const long = { ...body, username: 'long', email: 'l@mail.example', lastName: '\ufdfa'.repeat(100) };
    assert.equal((await shop().request('POST', '/v2/customer', { body: long })).status, 201);
    assert.deepEqual(await search(shop(), `q=${encodeURIComponent('\ufdfa'.repeat(60))}`), ['long']);
  });
});

onBothEngines('An operator', (engine) => {
  test('An operator reads a customer by id; a key does too, and a request that acts for a customer is 403', async (t) => {
    const shop = await openShop(t, { engine });
    const [ada, bob] = [await newCustomer(shop, 'ada', 'customer'), await newCustomer(shop, 'bob', 'staff')];
    const profile = (await shop.request('GET', '/v2/customer/ada', { as: shop.reader })).json;
    const expected = { customer: profile, role: 'customer', deliveredTotal: 0 };
    for (const as of [shop.reader, shop.admin]) {
      const { status, json, headers } = await shop.request('GET', `/v2/customers/${ada}`, { as });
      assert.deepEqual([status, json, headers['cache-control']], [200, expected, 'no-store']);
    }
    const headers = bearer(await newSession(shop, ada));
    const asAda = (id: number) => shop.request('GET', `/v2/customers/${id}`, { as: shop.admin, headers });
    assertError(await asAda(ada), 403, 'forbidden');
    assertError(await asAda(bob), 403, 'forbidden');
    assertError(await shop.request('GET', '/v2/customers/999', { as: shop.reader }), 404, 'not_found');
  });

  test('An operator changes roles, but not their own, and ends all sessions of a customer', async (t) => {
    const shop = await openShop(t, { engine });
    const [ada, bob] = [await newCustomer(shop, 'ada', 'customer'), await newCustomer(shop, 'bob', 'staff')];
    const client = await newClient(shop);
    const {
      oauth: { approvals },
      contextOf,
    } = shop.app;
    const { id } = await approvals.request(client, bob);
    await approvals.approve(contextOf('test'), id);
    const headers = bearer(await newToken(shop, { client, customer: bob, scope: 'admin' }));
    const send = (method: string, path: string, body?: unknown) =>
      shop.request(method, `/v2/customers/${path}`, { headers, ...(body === undefined ? {} : { body }) });

    const changed = await send('POST', `${ada}/role`, { role: 'staff' });
    assert.deepEqual([changed.status, changed.json.role, changed.json.customer.id], [200, 'staff', ada]);
    assertError(await send('POST', `${bob}/role`, { role: 'customer' }), 409, 'conflict');
    assertError(await send('POST', '999/role', { role: 'staff' }), 404, 'not_found');
    assertFields(await send('POST', `${ada}/role`, { role: 'owner' }), ['role']);

    const sessions = [await newSession(shop, ada), await newSession(shop, ada)];
    const token = await newToken(shop, { client, customer: ada, scope: 'read:profile' });
    const read = async (credential: string) =>
      (await shop.request('GET', '/v2/customer/ada', { headers: bearer(credential) })).status;
    assert.equal((await send('DELETE', `${ada}/sessions`)).status, 204);
    assert.deepEqual(await Promise.all([...sessions, token].map(read)), [401, 401, 200]);
    assertError(await send('DELETE', '999/sessions'), 404, 'not_found');
    await eventsNumbered(shop);
    const { json } = await shop.request('GET', `/v2/events?subject=customer:${ada}&limit=100`, {
      as: shop.reader,
    });
    assert.deepEqual(json.items.at(-1).type, 'customer.sessions_ended');
    assert.deepEqual(json.items.at(-1).data, { id: ada });
  });
});

test('GET /customers examines at most 1,000 customers, and continues where it stopped', async (t) => {
  const shop = await openShop(t);
  const { database } = shop.app;
  await database.transaction((tx) =>
    tx.insert(
      'customer',
      [
        'username',
        'username_key',
        'email',
        'email_key',
        'first_name',
        'last_name',
        'last_first',
        'first_last',
        'password',
        'tier',
        'created_at',
      ],
      Array.from({ length: 1500 }, (_, index) => {
        const name = `u${String(index).padStart(5, '0')}`;
        const tier = index === 1499 ? 'gold' : 'bronze';
        return [
          name,
          name,
          `${name}@x`,
          `${name}@x`,
          'Una',
          'Urs',
          'urs una',
          'una urs',
          '',
          tier,
          '2026-01-01T00:00:00.000Z',
        ];
      }),
    ),
  );
  const page = async (query: string) =>
    (await shop.request('GET', `/v2/customers?limit=100&${query}`, { as: shop.admin })).json;
  const first = await page('q=u&status=gold');
  assert.deepEqual([first.items, first.hasMore], [[], true]);
  const found: string[] = [];
  let cursor = first.nextCursor;
  for (let pages = 1; cursor !== null; pages += 1) {
    assert.ok(pages <= 9, 'four walks of 1,500 customers');
    const { items, nextCursor } = await page(`cursor=${encodeURIComponent(cursor)}`);
    found.push(...items.map(({ customer }: Item) => customer.username));
    cursor = nextCursor;
  }
  assert.deepEqual(found, ['u01499']);
  const [row] = await database.all<{ detail: string }>(
    sql`explain query plan select id from customer where role = 'staff' and id < ${9} order by id desc limit 5`,
  );
  assert.match(row?.detail ?? '', /customer_staff/);
});
