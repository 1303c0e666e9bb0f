/** The request log: which requests are kept, what is kept of them, and who may see them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { eventsNumbered, newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import {
  bern,
  onBothEngines,
  openShop,
  type RequestOptions,
  type Scope,
  shared,
  testClock,
} from '../helper.ts';
import { bearer, cheese, found, lookUp, rowsOf, send } from './request-helpers.ts';

onBothEngines('Requests that are kept', (engine) => {
  const shop = shared((t: Scope) => openShop(t, { engine }));

  test('Requests in the request log contain the errors of a 422 and the route with its parameters', async () => {
    const options = { as: shop().writer, body: { name: '', price: -1 } };
    const response = await send(shop(), 'invalid-1', 'POST', '/v2/cheeses', options);
    assert.equal(response.status, 422);
    const item = await found(shop(), 'invalid-1');
    assert.deepEqual(item.errors, response.json.errors);
    assert.deepEqual(item.error, { type: 'validation_error', message: response.json.message });
    assert.equal(item.status, 422);
    assert.equal(item.method, 'POST');
    assert.equal(item.route, '/v2/cheeses');
    await send(shop(), 'missing-1', 'GET', '/v2/cheeses/4711', { as: shop().reader });
    const { route, ids, error, instance } = await found(shop(), 'missing-1');
    assert.deepEqual([route, ids], ['/v2/cheeses/{cheeseId}', { cheeseId: 4711 }]);
    assert.equal(error.type, 'not_found');
    assert.equal(instance, shop().app.operations.instances.id);
  });

  test('Requests in the request log count members that were ignored, and do not name them', async () => {
    const body = { ...cheese, name: 'Ignorant', colour: 'blue', taste: 'mild' };
    await send(shop(), 'ignored-1', 'POST', '/v2/cheeses', { as: shop().writer, body });
    const item = await found(shop(), 'ignored-1');
    assert.equal(item.ignoredMembers, 2);
    assert.doesNotMatch(JSON.stringify(item), /colour|taste/);
    await send(shop(), 'ignored-2', 'POST', '/v2/cheeses', { as: shop().writer, body: { name: 'Aware' } });
    assert.equal('ignoredMembers' in (await found(shop(), 'ignored-2')), false);
  });

  test('Requests in the request log name the scope that a 403 missed, and the credential', async () => {
    await send(shop(), 'forbidden-1', 'POST', '/v2/cheeses', { as: shop().reader, body: cheese });
    const { access, credential, status } = await found(shop(), 'forbidden-1');
    assert.equal(status, 403);
    assert.deepEqual(access, { requires: ['write:cheeses'], missing: ['write:cheeses'] });
    assert.deepEqual([credential.kind, credential.actsFor], ['apiKey', null]);
    assert.match(credential.id, /^key:\d+$/);
  });

  test('Requests in the request log name the events that an order caused, and not those of another client with the same id', async () => {
    const key = await shop().createKey({ scopes: ['admin'] });
    const other = await shop().createKey({ scopes: ['write:cheeses'] });
    const created = await send(shop(), 'same', 'POST', '/v2/cheeses', {
      as: other,
      body: { ...cheese, status: 'available', price: 20 },
    });
    assert.equal(created.status, 201, created.text);
    const body = { items: [{ cheeseId: created.json.id, quantity: 1 }], shippingAddress: bern };
    const placed = await send(shop(), 'same', 'POST', '/v2/store/order', { as: key, body });
    assert.equal(placed.status, 201, placed.text);
    await eventsNumbered(shop());
    const { items } = (await lookUp(shop(), 'same')).json;
    assert.deepEqual(
      items.map(({ route }: { route: string }) => route),
      ['/v2/store/order', '/v2/cheeses'],
    );
    const [order, catalogue] = items.map(({ events }: { events: { id: string; type: string }[] }) => events);
    assert.deepEqual(
      [order, catalogue].map((events) => events.map(({ type }: { type: string }) => type)),
      [['order.placed'], ['cheese.created']],
    );
    const event = await shop().request('GET', `/v2/events/${order[0].id}`, { as: key });
    assert.equal(event.json.requestId, 'same');
  });

  test('Requests in the request log are successful reads only if the client sent an id', async () => {
    const plain = await shop().request('GET', '/v2/cheeses', { as: shop().reader });
    await shop().app.requestLog.work.run();
    const missing = await lookUp(shop(), String(plain.headers['x-request-id']));
    assert.equal(missing.status, 404);
    assert.match(missing.json.message, /24 hours.*X-Request-Id/);
    await send(shop(), 'probe-1', 'GET', '/v2/cheeses', { as: shop().reader });
    await send(shop(), 'probe-1', 'GET', '/v2/stock', { as: shop().reader });
    const { items } = (await lookUp(shop(), 'probe-1')).json;
    assert.equal(items.length, 2);
    assert.ok(items.every(({ id }: { id: string }) => id === 'probe-1'));
  });

  test('Requests in the request log are at most 20 with one id', async (t) => {
    const own = await openShop(t, { engine, clock: testClock() });
    const clock = own.clock as ReturnType<typeof testClock>;
    for (let count = 0; count < 22; count += 1) {
      clock.advance(1000);
      await own.request('GET', '/v2/cheeses', {
        as: own.reader,
        headers: { 'x-request-id': 'repeated' },
      });
    }
    await own.app.requestLog.work.run();
    assert.equal((await lookUp(own, 'repeated')).json.items.length, 20);
  });

  test('Requests in the request log are not those to the request log', async () => {
    await send(shop(), 'own-1', 'GET', '/v2/requests', { as: shop().admin });
    await send(shop(), 'own-2', 'GET', '/v2/requests/nothing', { as: shop().admin });
    assert.equal((await lookUp(shop(), 'own-1')).status, 404);
    assert.equal((await lookUp(shop(), 'own-2')).status, 404);
  });

  test('Requests in the request log include those without a route, those that the framework refuses, and pages', async () => {
    await send(shop(), 'nowhere-1', 'GET', '/v2/nowhere', { as: shop().reader });
    const nowhere = await found(shop(), 'nowhere-1');
    assert.deepEqual([nowhere.route, nowhere.credential, nowhere.status], [null, null, 404]);
    await send(shop(), 'encoding-1', 'GET', '/v2/cheeses/%E0%A4%A', { as: shop().reader });
    assert.deepEqual((await found(shop(), 'encoding-1')).status, 404);
    await send(shop(), 'token-1', 'POST', '/oauth/token', { raw: 'grant_type=x' });
    const token = await found(shop(), 'token-1');
    assert.equal(token.route, '/oauth/token');
    assert.ok(token.status >= 400);
  });

  test('Requests in the request log say that they were a replay or a dry run', async () => {
    const options = { as: shop().writer, body: { ...cheese, name: 'Vacherin' }, headers: {} };
    const keyed = { ...options, headers: { 'idempotency-key': 'once' } };
    await send(shop(), 'first', 'POST', '/v2/cheeses', keyed);
    await send(shop(), 'again', 'POST', '/v2/cheeses', keyed);
    const dry = { ...options, headers: { 'dry-run': 'true' } };
    await send(shop(), 'dry', 'POST', '/v2/cheeses', { ...dry, body: { ...cheese, name: 'Epoisses' } });
    const [first, again, dried] = await Promise.all(['first', 'again', 'dry'].map((id) => found(shop(), id)));
    assert.deepEqual(first.idempotency, { used: true, replayed: false });
    assert.deepEqual(again.idempotency, { used: true, replayed: true });
    assert.deepEqual([first.dryRun, dried.dryRun, dried.status], [false, true, 201]);
    assert.deepEqual(dried.idempotency, { used: false, replayed: false });
    assert.deepEqual([first.simulated, dried.events], [false, []]);
  });

  test('Requests in the request log have the trace of a valid traceparent', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
    await send(shop(), 'traced', 'GET', '/v2/cheeses', { as: shop().reader, headers });
    await send(shop(), 'untraced', 'GET', '/v2/cheeses', {
      as: shop().reader,
      headers: { traceparent: 'secret' },
    });
    assert.equal((await found(shop(), 'traced')).traceId, trace);
    assert.equal((await found(shop(), 'untraced')).traceId, null);
  });

  test('Requests in the request log have parts that add up to at most the whole', async () => {
    await send(shop(), 'timed-1', 'POST', '/v2/cheeses', {
      as: shop().writer,
      body: { ...cheese, name: 'Gruyère' },
    });
    await send(shop(), 'timed-2', 'POST', '/v2/cheeses', { headers: { 'x-api-key': 'wrong' }, body: cheese });
    for (const id of ['timed-1', 'timed-2']) {
      const { milliseconds, parts } = await found(shop(), id);
      const hundredths = Object.values<number>(parts).map((part) => Math.round(part * 100));
      assert.ok(hundredths.every((part) => part >= 0));
      const sum = hundredths.reduce((all, part) => all + part, 0);
      assert.ok(sum <= Math.round(milliseconds * 100), `${sum} of ${milliseconds}`);
      assert.ok(sum >= Math.round(milliseconds * 100) - 4, `${sum} of ${milliseconds}`);
    }
    const { parts } = await found(shop(), 'timed-2');
    assert.deepEqual([parts.limits, parts.body, parts.handler], [0, 0, 0]);
    assert.ok((await found(shop(), 'timed-1')).parts.handler > 0);
  });

  test('Requests in the request log are found on another instance', async (t) => {
    await send(shop(), 'elsewhere', 'GET', '/v2/cheeses', { as: shop().reader });
    if (engine === 'postgres') {
      const other = await openShop(t, { engine });
      assert.equal((await lookUp(other, 'elsewhere')).status, 404);
      const second = await shop().another();
      assert.equal((await lookUp(second, 'elsewhere', { as: shop().admin })).status, 200);
    }
  });
});

onBothEngines('Rate limits in the request log', (engine) => {
  const limited = async (t: Scope, settings: Record<string, string>) =>
    openShop(t, { engine, clock: testClock(), settings });

  test('Rate limits are named in the request log where they refused a request', async (t) => {
    const burst = await limited(t, { CURD_PLANS: '{"enterprise":{"perHour":null,"burst":2}}' });
    const hour = await limited(t, { CURD_PLANS: '{"enterprise":{"perHour":2,"burst":1000}}' });
    for (const [shop, by] of [
      [burst, 'burst'],
      [hour, 'hour'],
    ] as const) {
      for (const id of ['one', 'two', 'three']) {
        await send(shop, id, 'GET', '/v2/cheeses', { as: shop.reader });
      }
      const operator = await shop.createKey({ scopes: ['admin'] });
      const { items } = (await lookUp(shop, 'three', { as: operator })).json;
      assert.equal(items[0].status, 429);
      assert.equal(items[0].limits.refusedBy, by);
      assert.equal(items[0].limits.plan, 'enterprise');
      const [two] = (await lookUp(shop, 'two', { as: operator })).json.items;
      assert.deepEqual([two.limits.refusedBy, two.limits.burst.remaining], [null, by === 'burst' ? 0 : 998]);
    }
    const byIp = await limited(t, { CURD_ADDRESS_LIMITS: '{"perMinute":1}' });
    await send(byIp, 'ip-1', 'GET', '/v2/limits');
    const refused = await send(byIp, 'ip-2', 'GET', '/v2/limits');
    assert.equal(refused.status, 429);
    assert.equal((await found(byIp, 'ip-2')).limits.refusedBy, 'clientIp');
  });
});

onBothEngines('Who sees a request', (engine) => {
  const shop = shared((t: Scope) => openShop(t, { engine }));

  /** Which of these see a request with an id. */
  async function visibleTo(id: string, viewers: Readonly<Record<string, RequestOptions>>) {
    const seen: string[] = [];
    for (const [name, options] of Object.entries(viewers)) {
      const one = await lookUp(shop(), id, options);
      const list = await shop().request('GET', '/v2/requests?limit=100', options);
      const isListed = list.json.items.some((item: { id: string }) => item.id === id);
      assert.equal(isListed, one.status === 200, `${name} ${id}`);
      if (one.status === 200) {
        seen.push(name);
      } else {
        assert.equal(one.status, 404);
        assert.equal(one.text, (await lookUp(shop(), 'no-such-request', options)).text);
      }
    }
    return seen;
  }

  test('A request in the request log is seen by its account, its customer, and the operator', async () => {
    const clientId = await newClient(shop(), ['read:cheeses', 'admin']);
    const [ada, bob] = [
      await newCustomer(shop(), 'ada-of-visibility', 'customer'),
      await newCustomer(shop(), 'bob-of-visibility', 'customer'),
    ];
    const [adaSession, bobSession] = [await newSession(shop(), ada), await newSession(shop(), bob)];
    const { account_id: accountId } = (await shop().app.database.get<{ account_id: number }>(
      sql`select account_id from oauth_client where id = ${clientId}`,
    )) as { account_id: number };
    const { app } = shop();
    const { key: applicationKey } = await app.auth.keys.create(app.contextOf('test'), accountId, {});
    const token = await newToken(shop(), { client: clientId, customer: ada, scope: 'read:cheeses' });
    const viewers = {
      admin: { as: shop().admin },
      own: { as: shop().reader },
      other: { as: await shop().createKey() },
      application: { as: applicationKey },
      ada: bearer(adaSession),
      bob: bearer(bobSession),
    };
    await send(shop(), 'by-key', 'GET', '/v2/cheeses', { as: shop().writer });
    assert.deepEqual(await visibleTo('by-key', viewers), ['admin', 'own']);
    await send(shop(), 'by-session', 'GET', '/v2/cheeses', bearer(adaSession));
    assert.deepEqual(await visibleTo('by-session', viewers), ['admin', 'ada']);
    await send(shop(), 'by-both', 'GET', '/v2/cheeses', { ...bearer(adaSession), as: shop().reader });
    assert.deepEqual(await visibleTo('by-both', viewers), ['admin', 'own']);
    await send(shop(), 'by-both-refused', 'GET', '/v2/api-keys', { ...bearer(adaSession), as: shop().admin });
    assert.deepEqual(await visibleTo('by-both-refused', viewers), ['admin', 'own']);
    assert.equal((await found(shop(), 'by-both-refused')).credential.actsFor, `customer:${ada}`);
    await send(shop(), 'by-token', 'GET', '/v2/cheeses', bearer(token));
    assert.deepEqual(await visibleTo('by-token', viewers), ['admin', 'application']);
    await send(shop(), 'by-nobody', 'GET', '/v2/cheeses');
    await send(shop(), 'by-invalid', 'GET', '/v2/cheeses', { as: 'wrong' });
    assert.deepEqual(await visibleTo('by-nobody', viewers), ['admin']);
    assert.deepEqual(await visibleTo('by-invalid', viewers), ['admin']);
    // A token of a customer is not the account, and a key beside a session is not either.
    assert.equal((await lookUp(shop(), 'by-token', bearer(token))).status, 403);
    assert.equal((await lookUp(shop(), 'by-key', {})).status, 401);
    const both = { ...bearer(adaSession), as: shop().reader };
    assert.equal((await lookUp(shop(), 'by-both', both)).status, 403);
  });

  test('A request in the request log is seen by nobody after the customer was deleted, and the deletion is not kept', async () => {
    const id = await newCustomer(shop(), 'cleo-of-deletion', 'customer');
    const session = await newSession(shop(), id);
    await send(shop(), 'cleo-1', 'GET', '/v2/cheeses', bearer(session));
    await send(shop(), 'cleo-2', 'GET', '/v2/cheeses', { ...bearer(session), as: shop().reader });
    const dryRun = { headers: { ...bearer(session).headers, 'dry-run': 'true' } };
    const tried = await send(shop(), 'cleo-3', 'DELETE', '/v2/customer/cleo-of-deletion', dryRun);
    assert.equal(tried.status, 204, tried.text);
    assert.equal((await lookUp(shop(), 'cleo-3')).status, 200);
    assert.equal((await lookUp(shop(), 'cleo-1')).status, 200);
    // Not written yet.
    await shop().request('GET', '/v2/cheeses', {
      headers: { ...bearer(session).headers, 'x-request-id': 'cleo-4' },
    });
    const deleted = await send(shop(), 'cleo-5', 'DELETE', '/v2/customer/cleo-of-deletion', bearer(session));
    assert.equal(deleted.status, 204, deleted.text);
    for (const request of ['cleo-1', 'cleo-2', 'cleo-3', 'cleo-4', 'cleo-5']) {
      assert.equal((await lookUp(shop(), request)).status, 404, request);
    }
    const left = (await rowsOf(shop())).filter((row) => JSON.stringify(row).includes(`customer:${id}"`));
    assert.deepEqual(left, []);
  });
});
