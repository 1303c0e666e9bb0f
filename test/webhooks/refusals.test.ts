/** What webhook endpoints refuse: targets in private networks, bodies that are not valid, and unknown ids. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { shared } from '../context.ts';
import { assertError, assertFields, openShop, type Shop, secret } from '../helper.ts';
import { openNameServer } from './name-server.ts';

const path = '/v2/webhook-endpoints';

function create(shop: Shop, body: object) {
  return shop.request('POST', path, { as: shop.admin, body });
}

suite('Targets of webhook endpoints', () => {
  const sandbox = shared((t) =>
    openShop(t, { settings: { CURD_ENVIRONMENT: 'sandbox', CURD_SECRET: secret } }),
  );

  test('Targets of webhook endpoints must be https at public IP addresses in sandbox', async (t) => {
    const shop = sandbox();
    await openNameServer(t, {
      'public.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
      'private.example': ['10.0.0.1'],
      'both.example': ['93.184.215.14', '10.0.0.1'],
      'metadata.example': ['169.254.169.254'],
      'empty.example': [],
    });
    const refused = [
      ...['http://public.example/', 'ftp://public.example/', 'https://', 'public.example', 'https://a b/'],
      ...['https://user:password@public.example/', 'https://127.0.0.1/', 'https://[::1]/'],
      ...[
        'https://[::ffff:169.254.169.254]/',
        'https://2130706433/',
        'https://0x7f.1/',
        'https://localhost/',
        'https://shop.localhost/',
      ],
      ...['https://private.example/', 'https://both.example/', 'https://metadata.example/'],
      ...['https://empty.example/', 'https://unknown.example/', 'https://168.63.129.16/'],
    ];
    for (const url of refused) {
      assertFields(await create(shop, { url }), ['url'], url);
    }
    const created = await create(shop, { url: 'https://public.example:8443/hooks' });
    assert.equal(created.status, 201, created.text);
    const one = `${path}/${created.json.id}`;
    const changed = await shop.request('POST', one, {
      as: shop.admin,
      body: { url: 'https://private.example/' },
    });
    assertFields(changed, ['url']);
    const message = changed.json.errors[0].message;
    assert.match(message, /private network.*CURD_WEBHOOK_TARGETS=any/);
    assert.ok(!message.includes('10.0.0.1'), 'names of private networks are not resolved for callers');
    const read = await shop.request('GET', one, { as: shop.admin });
    assert.equal(read.json.url, 'https://public.example:8443/hooks');
  });

  test('Targets of webhook endpoints may be anything that is http in local, and where CURD_WEBHOOK_TARGETS is any', async (t) => {
    const local = await openShop(t);
    const any = await openShop(t, {
      settings: { CURD_ENVIRONMENT: 'sandbox', CURD_SECRET: secret, CURD_WEBHOOK_TARGETS: 'any' },
    });
    for (const shop of [local, any]) {
      for (const url of ['http://127.0.0.1:9000/', 'https://localhost/', 'http://unknown.example/']) {
        assert.equal((await create(shop, { url })).status, 201, url);
      }
      for (const url of ['ftp://127.0.0.1/', 'file:///etc/passwd', 'unix:/socket']) {
        assertFields(await create(shop, { url }), ['url'], url);
      }
    }
  });
});

suite('Webhook endpoints', () => {
  const opened = shared((t) => openShop(t));
  const url = 'https://receiver.example/';

  test('Webhook endpoints refuse bodies that are not valid, and change nothing', async () => {
    const shop = opened();
    const long = `https://receiver.example/${'x'.repeat(2048)}`;
    const refused: [object, string[]][] = [
      [{}, ['url']],
      [{ url: long }, ['url']],
      [{ url: 1, types: 'order.*', description: 2 }, ['url', 'types', 'description']],
      [{ url, types: [] }, ['types']],
      [
        { url, types: ['order.*', 'order.unknown', 'orders.*', 'webhook.test'] },
        ['types[1]', 'types[2]', 'types[3]'],
      ],
      [{ url, types: Array.from({ length: 21 }, () => 'order.*') }, ['types']],
      [{ url, description: 'x'.repeat(501) }, ['description']],
      [{ url, since: 'yesterday' }, ['since']],
      [{ url, since: 'evt_abc_1' }, ['since']],
    ];
    for (const [body, fields] of refused) {
      assertFields(await create(shop, body), fields, JSON.stringify(body));
    }
    assertError(await create(shop, { url, account: 'unknown' }), 404, 'not_found');
    assertError(await create(shop, { url, since: 'evt_zzzz_1' }), 410, 'log_rewound');
    const list = await shop.request('GET', path, { as: shop.admin });
    assert.deepEqual(list.json, { items: [] });
    assertError(await shop.request('GET', `${path}?account=unknown`, { as: shop.admin }), 404, 'not_found');

    const { json } = await create(shop, { url });
    for (const field of ['account', 'since']) {
      const change = await shop.request('POST', `${path}/${json.id}`, {
        as: shop.admin,
        body: { [field]: 'latest' },
      });
      assertFields(change, [field]);
    }
  });

  test('Webhook endpoints are 404 where there is none', async () => {
    const shop = opened();
    for (const id of ['999', '0', 'abc', '99999999999999999999']) {
      for (const [method, rest, body] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '', {}],
        ['POST', '/rotate-secret'],
        ['POST', '/test'],
        ['POST', '/deliver'],
        ['POST', '/enable'],
        ['POST', '/disable'],
        ['POST', '/replay', { since: 'earliest' }],
        ['GET', '/deliveries'],
      ] as const) {
        const response = await shop.request(method, `${path}/${id}${rest}`, {
          as: shop.admin,
          ...(body === undefined ? {} : { body }),
        });
        assertError(response, 404, 'not_found');
      }
    }
    for (const [method, rest] of [
      ['GET', ''],
      ['POST', '/retry'],
    ] as const) {
      const response = await shop.request(method, `/v2/webhook-deliveries/999${rest}`, { as: shop.admin });
      assertError(response, 404, 'not_found');
    }
  });
});
