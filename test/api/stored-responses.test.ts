/** What the database contains of the responses to requests with an Idempotency-Key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { newCustomer, newSession } from '../auth/holders.ts';
import { assertFields, bern, onBothEngines, openShop, type TestResponse } from '../helper.ts';

/** Add one only if its responses never have a secret, and data of a customer only for the customer's own credential. */
const plainOperations = [
  'adjustCheeseStock',
  'advanceSandboxClock',
  'changeAccountPlan',
  'changeCheeses',
  'createAccount',
  'createCheese',
  'createSnapshot',
  'importCheeses',
  'placeOrder',
  'resetSandbox',
  'restoreSnapshot',
  'updateCheese',
  'uploadCheeseImage',
];

onBothEngines('Stored responses', (engine) => {
  test('Stored responses are bounded: a request with a longer one is 422 and changes nothing', async (t) => {
    const shop = await openShop(t, { engine });
    const photoUrls = Array.from({ length: 100 }, (_, index) => `/${index}`.padEnd(600, 'x'));
    const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Wide', photoUrls },
    });
    const body = Array.from({ length: 100 }, (_, index) => ({
      username: `ada${index}`,
      email: `ada${index}@example.com`,
      password: 'a cellar full of wheels',
      favouriteCheese: { id: cheese.id },
    }));
    const register = (headers: Readonly<Record<string, string>>) =>
      shop.request('POST', '/v2/customer/createMultiple', { as: shop.admin, body, headers });
    const refused = await register({ 'idempotency-key': 'wide' });
    assertFields(refused, ['']);
    assert.match(refused.json.message, /can be stored for an Idempotency-Key: send fewer entries at once/);
    const customers = await shop.app.database.all(sql`select id from customer`);
    assert.deepEqual(customers, []);
  });

  test('Stored responses are encrypted where they have a secret or data of a customer, and are all replayed', async (t) => {
    const shop = await openShop(t, { engine });
    const { database } = shop.app;
    const customerId = await newCustomer(shop, 'grace', 'customer');
    const authorization = `Bearer ${await newSession(shop, customerId)}`;
    const as = await shop.createKey({ scopes: ['admin', 'write:orders', 'write:cheeses'] });
    const requestOf = (key: string, method: string, path: string, body: object, more = {}) => ({
      key,
      send: (): Promise<TestResponse> =>
        shop.request(method, path, { as, body, headers: { 'idempotency-key': key, ...more } }),
    });
    const cheese = requestOf('cheese', 'POST', '/v2/cheeses', {
      name: 'Brie fourme.example',
      pricePerKg: 20,
    });
    const { id: cheeseId } = (await cheese.send()).json;
    const order = {
      items: [{ cheeseId, quantity: 1 }],
      shippingAddress: { ...bern, street: 'Fourme.example street' },
      notes: 'fourme.example',
    };
    const person = { username: 'ada', email: 'ada@fourme.example', password: 'a fourme.example of cheese' };
    const requests = [
      cheese,
      requestOf('order', 'POST', '/v2/store/order', order),
      requestOf('customer-order', 'POST', '/v2/store/order', order, { authorization }),
      requestOf('registration', 'POST', '/v2/customer', person),
      requestOf('batch', 'POST', '/v2/customer/createMultiple', [
        { ...person, username: 'eve', email: 'eve@fourme.example' },
      ]),
      requestOf('login', 'POST', '/v2/customer/login', person),
      requestOf('api-key', 'POST', '/v2/api-keys', { name: 'fourme.example' }),
      requestOf('webhook', 'POST', '/v2/webhook-endpoints', { url: 'http://127.0.0.1:9/fourme.example' }),
    ];
    const found: Record<string, 'as it is' | 'encrypted'> = {};
    for (const { key, send } of requests) {
      const first = await send();
      assert.ok(first.status < 300, `${key}: ${first.text}`);
      const [row] = await database.all<{ response: string }>(
        sql`select response from stored_response order by id desc limit 1`,
      );
      const stored = row?.response ?? '';
      found[key] = stored.includes(first.text) ? 'as it is' : 'encrypted';
      if (found[key] === 'encrypted') {
        const bytes = Buffer.from(stored, 'base64').toString('latin1');
        assert.doesNotMatch(stored + bytes, /fourme\.example|"id":|"token":|"whsec_/i, key);
      }
      const again = await send();
      assert.deepEqual([again.headers['idempotency-replayed'], again.text], ['true', first.text], key);
    }
    assert.deepEqual(found, {
      cheese: 'as it is',
      order: 'as it is',
      'customer-order': 'encrypted',
      registration: 'encrypted',
      batch: 'encrypted',
      login: 'encrypted',
      'api-key': 'encrypted',
      webhook: 'encrypted',
    });
  });
});

test('Stored responses of a closed list of operations alone are not encrypted', async (t) => {
  const { app } = await openShop(t);
  const plain = app.routes.filter(({ storesPlainResponse }) => storesPlainResponse !== undefined);
  assert.deepEqual(
    plain.map(({ operationId }) => operationId).sort(),
    plainOperations,
    'list an operation only if its response never has a secret or data of a customer; otherwise remove storesPlainResponse',
  );
});
