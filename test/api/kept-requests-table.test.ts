/** The table of kept requests: what it never has, its bounds, and its purge. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { newCustomer, newSession } from '../auth/holders.ts';
import { bern, onBothEngines, openShop, type RequestOptions, testClock } from '../helper.ts';
import { bearer, cheese, lookUp, rowsOf, send } from './request-helpers.ts';

onBothEngines('The table of kept requests', (engine) => {
  test('The table of the request log has no text of a request', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_TRUSTED_PROXIES: '127.0.0.0/8' } });
    const secrets: string[] = [];
    /** A text that must not be kept. */
    const secretText = (text: string) => {
      secrets.push(text);
      return text;
    };
    const id = await newCustomer(shop, secretText('zerlina'), 'customer');
    const session = secretText(await newSession(shop, id));
    const admin = { as: shop.admin };
    const forwarded = { 'x-forwarded-for': secretText('198.51.100.77') };
    secrets.push(shop.admin, shop.reader, shop.writer, hash('sha256', shop.admin), hash('sha256', session));
    secrets.push('zerlina@example.com', 'Gerechtigkeitsgasse', 'hunter2zz');
    const day: [string, string, RequestOptions][] = [
      ['POST', '/v2/customer/login', { body: { username: 'zerlina', password: 'hunter2zz' } }],
      ['POST', '/v2/customer/login', { body: { username: 'zerlina', password: 'right' } }],
      ['GET', '/v2/customer/zerlina', bearer(session)],
      ['GET', `/v2/customer/${secretText('pamina')}`, admin],
      ['GET', `/v2/cheeses/${secretText('papageno')}`, admin],
      // A secret key in the URL, which is refused.
      ['GET', `/v2/cheeses?key=${shop.reader}`, {}],
      ['GET', `/v2/cheeses?limit=1&api_key=${shop.reader}`, admin],
      ['POST', `/v2/store/order?key=${shop.writer}`, admin],
      ['GET', `/v2/${secretText('sarastro')}/${secretText('tamino')}`, admin],
      ['GET', `/v2/cheeses?q=${secretText('monostatos')}&limit=0`, admin],
      ['GET', `/v2/cheeses?limit=${secretText('zauberfloete')}`, admin],
      ['GET', `/v2/events?types=${secretText('queen')}`, admin],
      ['GET', `/v2/events/${secretText('evt_papagena_1')}`, admin],
      ['GET', `/v2/api-keys?account=${secretText('drei-damen')}`, admin],
      [
        'GET',
        `/v2/cheeses?${secretText('unknownname')}=1`,
        { ...admin, headers: { prefer: 'handling=strict' } },
      ],
      ['GET', `/v2/store/orders?cursor=${secretText('badcursor')}`, admin],
      ['GET', `/reference/${secretText('nopage')}`, {}],
      ['POST', '/v2/accounts', { ...admin, body: { name: secretText('drei-knaben') } }],
      ['POST', '/v2/accounts', { ...admin, body: { name: 'drei-knaben' } }],
      [
        'POST',
        '/v2/cheeses',
        {
          ...admin,
          headers: { prefer: 'handling=strict' },
          body: { ...cheese, [secretText('unknownmember')]: secretText('membervalue') },
        },
      ],
      ['POST', '/v2/cheeses', { ...admin, raw: `{"name": "${secretText('brokenjson')}` }],
      [
        'POST',
        '/v2/customer',
        {
          body: {
            username: secretText('astrifiammante'),
            email: secretText('no-email'),
            password: 'hunter2zz',
          },
        },
      ],
      [
        'POST',
        '/v2/store/order',
        { ...admin, body: { items: [{ cheeseId: 999_999, quantity: 1 }], shippingAddress: bern } },
      ],
      [
        'POST',
        '/v2/webhook-endpoints',
        {
          ...admin,
          body: { url: `ftp://${secretText('hook.example')}/`, types: [secretText('no.such.type')] },
        },
      ],
      ['GET', '/v2/cheeses', { headers: { 'x-api-key': secretText('sk_live_wrongwrongwrong') } }],
      ['GET', '/v2/cheeses', { headers: { authorization: `Basic ${secretText('dXNlcjpwYXNz')}` } }],
      [
        'POST',
        '/v2/cheeses',
        { ...admin, headers: { 'idempotency-key': `${secretText('idem-key')}\u00e9` }, body: cheese },
      ],
      ['POST', '/v2/cheeses', { ...admin, headers: { 'dry-run': secretText('perhaps') }, body: cheese }],
      ['POST', '/oauth/token', { raw: `grant_type=x&client_secret=${secretText('oauthsecret')}` }],
    ];
    for (const [index, [method, url, options]] of day.entries()) {
      // Each has another caller, so that none is left out by the bound of a caller.
      const headers = { ...options.headers, 'x-request-id': `day-${index}`, ...forwarded };
      const caller = options.as === shop.admin ? { as: await shop.createKey({ scopes: ['admin'] }) } : {};
      await shop.request(method, url, { ...options, ...caller, headers });
      await shop.app.requestLog.work.run();
    }
    const rows = await rowsOf(shop);
    assert.ok(rows.length >= day.length - 1, `${rows.length} of ${day.length}`);
    const text = JSON.stringify(rows);
    assert.deepEqual(
      secrets.filter((secret) => text.includes(secret)),
      [],
    );
  });

  test('The table of the request log loses requests after 24 hours', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    await send(shop, 'old', 'GET', '/v2/cheeses', { as: shop.reader });
    clock.advance(24 * 3_600_000 - 1);
    assert.equal((await lookUp(shop, 'old')).status, 200);
    clock.advance(1);
    assert.equal((await lookUp(shop, 'old')).status, 404);
    await shop.app.maintenance.run();
    assert.deepEqual(
      (await rowsOf(shop)).filter((row) => row.request_id === 'old'),
      [],
    );
  });

  test('The table of the request log has the newest 10,000 of an owner', async (t) => {
    const shop = await openShop(t, { engine });
    const { database } = shop.app;
    const at = new Date(shop.clock.now()).toISOString();
    await database.insert(
      'request',
      ['request_id', 'owner', 'at', 'method', 'status', 'facts'],
      Array.from({ length: 10_003 }, (_, index) => [`n-${index}`, '', at, 'GET', 404, '{}']),
    );
    await send(shop, 'newest', 'GET', '/v2/nowhere');
    await shop.app.maintenance.run();
    const rows = (await rowsOf(shop)).filter(({ owner }) => owner === '');
    assert.equal(rows.length, 10_000);
    assert.deepEqual([rows[0]?.request_id, rows.at(-1)?.request_id], ['n-4', 'newest']);
  });

  test('The table of the request log stays empty with CURD_REQUEST_LOG=off', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_REQUEST_LOG: 'off' } });
    await send(shop, 'off-1', 'POST', '/v2/cheeses', { as: shop.writer, body: cheese });
    assert.deepEqual(await rowsOf(shop), []);
    const one = await lookUp(shop, 'off-1');
    assert.equal(one.status, 404);
    assert.match(one.json.message, /CURD_REQUEST_LOG/);
    const list = await shop.request('GET', '/v2/requests', { as: shop.admin });
    assert.deepEqual(list.json, { items: [], nextCursor: null, hasMore: false });
  });

  test('The table of the request log gets 20 requests of a caller and 200 of a server within a second', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const refuse = (as: string) => shop.request('GET', '/v2/cheeses/4711', { as });
    for (let count = 0; count < 25; count += 1) {
      await refuse(shop.reader);
    }
    const keys = await Promise.all(Array.from({ length: 10 }, () => shop.createKey()));
    for (const key of keys) {
      for (let count = 0; count < 20; count += 1) {
        await refuse(key);
      }
    }
    await shop.app.requestLog.work.run();
    const rows = await rowsOf(shop);
    assert.equal(rows.length, 200);
    assert.equal(Map.groupBy(rows, ({ owner }) => owner).size, 10);
    const metrics = await shop.request('GET', '/metrics', { as: shop.admin });
    assert.match(metrics.text, /^curd_requests_unlogged_total 25$/m);
    clock.advance(1000);
    await refuse(shop.reader);
    await shop.app.requestLog.work.run();
    assert.equal((await rowsOf(shop)).length, 201);
  });

  test('The table of the request log gets at most 200 requests a second of many refusals, while others read', async (t) => {
    const shop = await openShop(t, { engine });
    const keys = await Promise.all(Array.from({ length: 20 }, () => shop.createKey()));
    let refused = 0;
    async function refuse(key: string) {
      for (let count = 0; count < 30; count += 1) {
        const { status } = await shop.request('GET', '/v2/cheeses/4711', { as: key });
        assert.equal(status, 404);
        refused += 1;
      }
    }
    async function read() {
      let reads = 0;
      for (; refused < 600; reads += 1) {
        assert.equal((await shop.request('GET', '/v2/cheeses', { as: shop.reader })).status, 200);
      }
      return reads;
    }
    const [reads] = await Promise.all([read(), ...keys.map(refuse)]);
    assert.ok(reads > 10, `${reads}`);
    await shop.app.requestLog.work.run();
    const rows = await rowsOf(shop);
    const ofSeconds = Map.groupBy(rows, ({ at }) => String(at).slice(0, 19));
    const most = Math.max(...[...ofSeconds.values()].map(({ length }) => length));
    assert.ok(most <= 200 && rows.length >= 200, `${most} of ${rows.length}`);
    const metrics = await shop.request('GET', '/metrics', { as: shop.admin });
    assert.equal(
      metrics.text.match(/^curd_requests_unlogged_total (\d+)$/m)?.[1],
      String(refused - rows.length),
    );
  });

  test('The table of the request log has short rows, whatever a client sends', async (t) => {
    const shop = await openShop(t, { engine });
    const longId = 'x'.repeat(128);
    const members = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`${index}`.repeat(300), 1]),
    );
    await send(shop, longId, 'POST', '/v2/cheeses', {
      as: shop.writer,
      headers: { prefer: 'handling=strict' },
      body: { ...members, ...cheese },
    });
    await send(shop, `${longId}x`, 'GET', `/v2/${'y'.repeat(8000)}`, { as: shop.writer });
    const rows = await rowsOf(shop);
    assert.equal(rows.length, 2);
    assert.equal(rows[0]?.request_id, longId);
    assert.ok(String(rows[1]?.request_id).length < 60);
    assert.ok(rows.every((row) => JSON.stringify(row).length < 8000));
    assert.equal((await lookUp(shop, longId)).json.items[0].errors.length, 20);
  });
});
