/** If-Match on every route that changes one resource: a change needs a version that the client named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newCustomer, newSession } from '../auth/holders.ts';
import { formOf, testImage } from '../files/images.ts';
import {
  assertError,
  onBothEngines,
  openShop,
  type RequestOptions,
  type Shop,
  shared,
  type TestResponse,
} from '../helper.ts';
import { newCheese, newOrder, type OrderChange } from '../shop-verbs.ts';

/** A resource, the path with its ETag, and a change to it that succeeds once. */
interface Change {
  readonly operationId: string;
  readonly path: string;
  readonly resource: string;
  readonly options?: RequestOptions;
}

let made = 0;

/** The path of a new order with a status. */
const newOrderPath = async (shop: Shop, ...changes: readonly OrderChange[]) =>
  `/v2/store/order/${await newOrder(shop, await newCheese(shop), { changes })}`;

/** The path of a new customer, and the headers of a session. */
async function newProfile(shop: Shop): Promise<{ path: string; headers: { authorization: string } }> {
  made += 1;
  const id = await newCustomer(shop, `matched${made}`, 'customer');
  return {
    path: `/v2/customer/matched${made}`,
    headers: { authorization: `Bearer ${await newSession(shop, id)}` },
  };
}

/** Changes and deletions of what the owner of a shop configures. */
async function configurationChanges(shop: Shop): Promise<Change[]> {
  const admin = { as: shop.admin };
  const made = async (path: string, key: string, body: object) =>
    `${path}/${(await shop.request('POST', path, { ...admin, body })).json[key]}`;
  const kinds = [
    [
      'DeliveryMethod',
      '/v2/delivery-methods',
      'id',
      (name: string) => ({ name, kind: 'pickup' }),
      { text: 'Ring' },
    ],
    [
      'TaxRate',
      '/v2/tax-rates',
      'id',
      (category: string) => ({ category, name: 'VAT', percent: 1 }),
      { percent: 2 },
    ],
    [
      'Discount',
      '/v2/discounts',
      'code',
      (code: string) => ({ code, kind: 'free_delivery' }),
      { usesMax: 3 },
    ],
  ] as const;
  const changes: Change[] = [];
  for (const [name, path, key, make, body] of kinds) {
    const [changed, deleted] = [
      await made(path, key, make('MATCH-1')),
      await made(path, key, make('MATCH-2')),
    ];
    changes.push(
      { operationId: `patch${name}`, resource: changed, path: changed, options: { ...admin, body } },
      { operationId: `delete${name}`, resource: deleted, path: deleted, options: admin },
    );
  }
  return changes;
}

async function changesOf(shop: Shop): Promise<Change[]> {
  const cheese = async () => `/v2/cheeses/${await newCheese(shop)}`;
  const [replaced, updated, patched, deleted, pictured] = [
    await cheese(),
    await cheese(),
    await cheese(),
    await cheese(),
    await cheese(),
  ];
  const replacement = { id: Number(replaced.split('/').at(-1)), name: 'Replaced', status: 'sold' };
  const [renamed, gone] = [await newProfile(shop), await newProfile(shop)];
  const profile = { username: renamed.path.split('/').at(-1), email: 'm@example.com', password: 'right' };
  const [placed, toApprove] = [await newOrderPath(shop), await newOrderPath(shop)];
  const [approved, shipped] = [
    await newOrderPath(shop, 'approve'),
    await newOrderPath(shop, 'approve', 'ship'),
  ];
  const admin = { as: shop.admin };
  const stock = `${await cheese()}/stock`;
  await shop.request('PUT', stock, { ...admin, body: { onHand: 5 } });
  const buyer = await newProfile(shop);
  const own = `${buyer.path}/orders/${await newOrder(shop, await newCheese(shop), { headers: buyer.headers })}`;
  return [
    { operationId: 'cancelCustomerOrder', resource: own, path: own, options: { headers: buyer.headers } },
    {
      operationId: 'replaceCheese',
      resource: replaced,
      path: '/v2/cheeses',
      options: { ...admin, body: replacement },
    },
    {
      operationId: 'patchCheese',
      resource: patched,
      path: patched,
      options: { ...admin, body: { status: 'sold' } },
    },
    {
      operationId: 'updateCheese',
      resource: updated,
      path: updated,
      options: { ...admin, body: { status: 'sold' } },
    },
    {
      operationId: 'deleteCheese',
      resource: deleted,
      path: deleted,
      options: { ...admin, headers: { 'x-confirm-delete': 'true' } },
    },
    {
      operationId: 'uploadCheeseImage',
      resource: pictured,
      path: `${pictured}/uploadImage`,
      options: { ...admin, ...formOf(await testImage(7)) },
    },
    {
      operationId: 'replaceCustomer',
      resource: renamed.path,
      path: renamed.path,
      options: { headers: renamed.headers, body: profile },
    },
    {
      operationId: 'deleteCustomer',
      resource: gone.path,
      path: gone.path,
      options: { headers: gone.headers },
    },
    {
      operationId: 'replaceCheeseStock',
      resource: stock,
      path: stock,
      options: { ...admin, body: { onHand: 3 } },
    },
    {
      operationId: 'patchShop',
      resource: '/v2/shop',
      path: '/v2/shop',
      options: { ...admin, body: { phone: '1' } },
    },
    {
      operationId: 'patchShopSettings',
      resource: '/v2/shop/settings',
      path: '/v2/shop/settings',
      options: { ...admin, body: { delivery: { packagingGrams: 1 } } },
    },
    ...(await configurationChanges(shop)),
    { operationId: 'cancelOrder', resource: placed, path: placed, options: admin },
    { operationId: 'approveOrder', resource: toApprove, path: `${toApprove}/approve`, options: admin },
    { operationId: 'shipOrder', resource: approved, path: `${approved}/ship`, options: admin },
    {
      operationId: 'replaceOrderShipment',
      resource: `${shipped}/shipment`,
      path: `${shipped}/shipment`,
      options: { ...admin, body: { carrier: 'Swiss Post' } },
    },
    { operationId: 'deliverOrder', resource: shipped, path: `${shipped}/deliver`, options: admin },
  ];
}

/** Tested with the other operations of their resource, in test/webhooks/endpoints.test.ts. */
const elsewhere = [
  'updateWebhookEndpoint',
  'deleteWebhookEndpoint',
  'rotateWebhookEndpointSecret',
  'enableWebhookEndpoint',
  'disableWebhookEndpoint',
];

onBothEngines('If-Match', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('If-Match returns 412 for every change at another version, and permits it at the current one', async () => {
    const shop = opened();
    const changes = await changesOf(shop);
    for (const { operationId, path, resource, options = {} } of changes) {
      const { method = '' } = shop.app.routes.find((route) => route.operationId === operationId) ?? {};
      const read = () => shop.request('GET', resource, { as: shop.admin });
      const send = (tag: string): Promise<TestResponse> =>
        shop.request(method, path, { ...options, headers: { ...options.headers, 'if-match': tag } });
      const before = await read();
      const { etag = '' } = before.headers;
      assert.match(etag, /^"[^"]+"$/, operationId);
      for (const tag of ['"another"', '"another-gzip"', `W/${etag}`, 'nonsense']) {
        const refused = await send(tag);
        assertError(refused, 412, 'precondition_failed');
        assert.match(refused.json.message, tag.startsWith('"another') ? /has changed/ : /without W\//);
      }
      assert.deepEqual((await read()).json, before.json, operationId);
      const ofApache = etag.replace(/"$/, '-gzip"');
      const changed = await send(`"another", ${ofApache}`);
      assert.ok(changed.status === 200 || changed.status === 204, `${operationId} ${changed.text}`);
    }
    const changing = shop.app.routes.filter(
      ({ method, path }) =>
        method === 'PUT' ||
        method === 'PATCH' ||
        method === 'DELETE' ||
        (method === 'POST' && path.includes(':')),
    );
    const known = [...changes.map(({ operationId }) => operationId), ...elsewhere];
    for (const { operationId, headers = {} } of changing) {
      assert.equal(known.includes(operationId), 'If-Match' in headers, `test If-Match for ${operationId}`);
    }
  });

  test('If-Match of an order is checked before its status, also for a repeated cancellation', async () => {
    const shop = opened();
    const shipped = await newOrderPath(shop, 'approve', 'ship');
    const call = (method: string, path: string, tag: string) =>
      shop.request(method, path, { as: shop.admin, headers: { 'if-match': tag } });
    for (const [method, path] of [
      ['DELETE', shipped],
      ['POST', `${shipped}/approve`],
      ['POST', `${shipped}/ship`],
    ] as const) {
      assertError(await call(method, path, '"another"'), 412, 'precondition_failed');
      assertError(await call(method, path, '*'), 409, 'conflict');
    }
    const placed = await newOrderPath(shop);
    const { headers } = await shop.request('GET', placed, { as: shop.admin });
    assert.equal((await call('DELETE', placed, headers.etag ?? '')).status, 204);
    assertError(await call('DELETE', placed, headers.etag ?? ''), 412, 'precondition_failed');
    const { headers: now } = await shop.request('GET', placed, { as: shop.admin });
    assert.equal((await call('DELETE', placed, now.etag ?? '')).status, 204);
    assertError(await call('DELETE', '/v2/store/order/999999', '"another"'), 404, 'not_found');
  });

  test('If-Match permits one of several concurrent transitions', async () => {
    const shop = opened();
    const other = await shop.another();
    for (let round = 0; round < 5; round += 1) {
      const order = await newOrderPath(shop, 'approve');
      const { headers } = await shop.request('GET', order, { as: shop.admin });
      const options = { as: shop.admin, headers: { 'if-match': headers.etag ?? '' } };
      const responses = await Promise.all([
        shop.request('POST', `${order}/ship`, options),
        other.request('DELETE', order, options),
        shop.request('DELETE', order, options),
      ]);
      const won = responses.filter(({ status }) => status < 300);
      assert.equal(won.length, 1, JSON.stringify(responses.map(({ status }) => status)));
    }
  });

  test('If-Match is not checked for a replay: the stored response is returned', async () => {
    const shop = opened();
    const order = await newOrderPath(shop);
    const { headers } = await shop.request('GET', order, { as: shop.admin });
    const options = {
      as: shop.admin,
      headers: { 'if-match': headers.etag ?? '', 'idempotency-key': `approve-${made}` },
    };
    const [first, second] = [
      await shop.request('POST', `${order}/approve`, options),
      await shop.request('POST', `${order}/approve`, options),
    ];
    assert.deepEqual([first.status, second.status, second.text], [200, 200, first.text]);
  });
});
