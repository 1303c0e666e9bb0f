/** What a request may do that acts for a customer: with an API key, and the session or token of the customer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Operation, operationsOf } from '../fuzz/openapi.ts';
import { assertError, bern, openShop, type Shop } from '../helper.ts';
import { openListeningShop } from '../oauth/flow.ts';
import { approve, newClient, newCustomer, newSession, newToken } from './holders.ts';
import { permittedForCustomers } from './route-access.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const takesCredentials = ({ security }: Operation) => security.length > 0;

function operationsIn(shop: Shop): Operation[] {
  const operations = operationsOf(shop.app.describe());
  const ids = operations.map(({ operationId }) => operationId);
  assert.deepEqual(
    permittedForCustomers.filter((id) => !ids.includes(id)),
    [],
    'no operation has these ids: remove them from test/auth/route-access.ts',
  );
  return operations;
}

/** The credentials of two customers, one of them staff, and of an admin. */
async function openWithCredentials(shop: Shop) {
  const [ada, bob] = [await newCustomer(shop, 'ada', 'customer'), await newCustomer(shop, 'bob', 'staff')];
  const client = await newClient(shop);
  const token = async (customer: number | null, scope: string) =>
    bearer(await newToken(shop, { client, customer, scope }));
  await approve(shop, client, bob);
  return {
    acting: [
      bearer(await newSession(shop, ada)),
      bearer(await newSession(shop, bob)),
      await token(ada, 'read:cheeses read:orders write:orders read:profile write:profile'),
      await token(bob, 'write:cheeses'),
    ],
    notActing: [await token(bob, 'admin'), await token(null, 'read:cheeses')],
    ada: bearer(await newSession(shop, ada)),
  };
}

/** A request whose path, query and body are invalid: a permitted one is refused for that, and changes nothing. */
function sendGarbage(shop: Shop, { method, path }: Operation, headers: Readonly<Record<string, string>>) {
  return shop.request(method, `${path.replace(/\{\w+\}/g, 'garbage')}?limit=none&status=none&since=garbage`, {
    as: shop.admin,
    headers: { 'x-confirm-delete': 'perhaps', ...headers },
    ...(method === 'GET' ? {} : { raw: '{"' }),
  });
}

test('Every operation is 403 for a key with admin that acts for a customer, except those for customers', async (t) => {
  const shop = await openShop(t);
  const { acting, notActing } = await openWithCredentials(shop);
  // A customer's credential is 401 at the MCP endpoint.
  const operations = operationsIn(shop)
    .filter(takesCredentials)
    .filter(({ operationId }) => operationId !== 'sendMcpMessage');
  assert.ok(operations.length > 80);
  for (const operation of operations) {
    const { operationId: id } = operation;
    // The others would end the sessions.
    const isLogout = id.startsWith('logoutCustomer');
    for (const headers of isLogout ? [] : acting) {
      const response = await sendGarbage(shop, operation, headers);
      if (permittedForCustomers.includes(id)) {
        assert.ok(
          ![401, 403].includes(response.status),
          `${id} lacks \`permitsConfined\`, or is in a list of test/auth/route-access.ts by mistake: ${response.text}`,
        );
      } else {
        assert.equal(
          response.status,
          403,
          `remove \`permitsConfined\` from ${id}. If it reaches only data of the customer, add it to \`permittedForCustomers\` in test/auth/route-access.ts`,
        );
        assertError(response, 403, 'forbidden');
        assert.match(response.json.message, /^This request acts for a customer/, id);
      }
    }
    for (const headers of isLogout ? [] : notActing) {
      const { status, text } = await sendGarbage(shop, operation, headers);
      assert.ok(!text.includes('This request acts for a customer'), `${id} ${status} ${text}`);
    }
  }
  for (const [index, method] of ['GET', 'POST'].entries()) {
    const request = { as: shop.admin, headers: acting[index] ?? {} };
    assert.equal((await shop.request(method, '/v2/customer/logout', request)).status, 204);
  }
});

test('Operations that ignore credentials return the same to a request that acts for a customer', async (t) => {
  const shop = await openListeningShop(t);
  const { ada } = await openWithCredentials(shop);
  const open = operationsIn(shop).filter((operation) => !takesCredentials(operation));
  assert.ok(open.length > 30);
  for (const { method, path, operationId } of open) {
    const send = async (headers: Readonly<Record<string, string>>) => {
      const url = `${shop.url}${path.replace(/\{\w+\}/g, 'garbage')}`;
      const response = await fetch(url, { method, headers, redirect: 'manual' });
      return [
        response.status,
        (await response.text()).replace(/(content|nonce)="[\w+/]{24}"|[\w-]{43}/g, ''),
      ];
    };
    const acting = await send({ 'x-api-key': shop.admin, ...ada });
    if (/^(issue|revoke|introspect)Token/.test(operationId)) {
      // Authorization is for the secret of an application there.
      assert.equal(acting[0], 400, operationId);
    } else {
      assert.deepEqual(acting, await send({}), operationId);
    }
  }
});

test("A request that acts for a customer reaches no event of another's order, no secret and no stock", async (t) => {
  const shop = await openShop(t);
  const { ada } = await openWithCredentials(shop);
  const send = (method: string, path: string, body?: unknown, headers = ada) =>
    shop.request(method, `/v2${path}`, { as: shop.admin, headers, ...(body === undefined ? {} : { body }) });
  const alone = (method: string, path: string, body?: unknown) => send(method, path, body, {} as never);
  const { id: cheeseId } = (await alone('POST', '/cheeses', { name: 'Ordered', pricePerKg: 20 })).json;
  const order = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern };
  const { id } = (await alone('POST', '/store/order', order)).json;
  for (const [method, path, body] of [
    ['GET', `/events?subject=order:${id}`],
    ['GET', '/events/stream'],
    ['GET', '/customers/1'],
    ['GET', `/cheeses/${cheeseId}/stock`],
    ['PUT', `/cheeses/${cheeseId}/stock`, { onHand: 1 }],
    ['GET', '/api-keys'],
    ['POST', '/webhook-endpoints', { url: 'http://127.0.0.1:9/' }],
    ['PATCH', `/cheeses/${cheeseId}`, { pricePerKg: 1 }],
    ['POST', '/customer/login', { username: 'ada', password: 'right' }],
  ] as const) {
    assertError(await send(method, path, body), 403, 'forbidden');
  }
  assertError(await shop.request('GET', '/metrics', { as: shop.admin, headers: ada }), 403, 'forbidden');
  // A dry run, which is the quote, and an order.
  const quoted = await send('POST', '/store/order', order, { ...ada, 'dry-run': 'true' } as never);
  assert.deepEqual([quoted.status, quoted.json.total], [201, 20]);
  assert.equal((await send('POST', '/store/order', order)).status, 201);
});

test('An Idempotency-Key of the key alone, or for another customer, is not found by a request for a customer', async (t) => {
  const shop = await openShop(t);
  const [ada, bob] = [await newCustomer(shop, 'ada', 'customer'), await newCustomer(shop, 'bob', 'customer')];
  const client = await newClient(shop);
  const key = await shop.createKey({ scopes: ['write:orders'] });
  const token = async (customer: number, scope: string) =>
    bearer(await newToken(shop, { client, customer, scope }));
  const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: 'Ordered', pricePerKg: 20 },
  });
  const body = { items: [{ cheeseId: cheese.id, quantity: 1 }], shippingAddress: bern };
  const place = (headers: object) =>
    shop.request('POST', '/v2/store/order', {
      as: key,
      headers: { 'idempotency-key': 'cart', ...headers },
      body,
    });
  const lookUp = (headers: Readonly<Record<string, string>>) =>
    shop.request('GET', '/v2/idempotency/cart', { as: key, headers });
  // These tokens do not permit an order, so the order is one of the key; its response is still theirs alone.
  const [adas, bobs] = [await token(ada, 'read:cheeses'), await token(bob, 'read:cheeses')];
  const first = await place(adas);
  assert.equal(first.status, 201, first.text);
  assert.equal((await place(adas)).headers['idempotency-replayed'], 'true');
  assert.deepEqual((await lookUp(adas)).json.items[0].body, first.json);
  assertError(await lookUp(bobs), 404, 'not_found');
  assertError(await lookUp({}), 404, 'not_found');
  const second = await place(bobs);
  assert.notEqual(second.json.id, first.json.id);
  assert.equal((await place({})).status, 201);
  assert.equal((await lookUp({})).json.items.length, 1);
  assert.deepEqual((await lookUp(bobs)).json.items[0].body, second.json);
});
