/** The clock of the shop: what it shows, how it moves, and what it refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import {
  assertError,
  assertFields,
  onBothEngines,
  openShop,
  type Shop,
  shared,
  testClock,
} from '../helper.ts';
import { newCheese, newOrder } from '../shop-verbs.ts';
import { clockPath, findOrder as order } from './helper.ts';

const dayMs = 24 * 60 * 60_000;

const read = async (shop: Shop) => (await shop.request('GET', clockPath, { as: shop.reader })).json;

const advance = (shop: Shop, body: object, headers: Record<string, string> = {}) =>
  shop.request('POST', clockPath, { as: shop.admin, body, headers });

onBothEngines('POST /sandbox/clock', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('POST /sandbox/clock moves the time of the shop, and every response has it', async () => {
    const shop = opened();
    const before = await read(shop);
    assert.equal(before.movable, true);
    const response = await advance(shop, { advance: '2h' });
    assert.equal(response.status, 200, response.text);
    assert.deepEqual(
      { ...response.json, now: '' },
      {
        now: '',
        did: { approved: 0, cancelled: 0, shipped: 0, delivered: 0, deliveries: 0 },
        more: false,
      },
    );
    const after = await read(shop);
    const moved = Date.parse(after.now) - Date.parse(before.now);
    assert.ok(moved >= 2 * 60 * 60_000 && moved < 2 * 60 * 60_000 + 60_000, String(moved));
    for (const url of ['/healthz', '/nothing', '/v2/cheeses', clockPath]) {
      const { headers } = await shop.request('GET', url, { as: shop.reader });
      assert.ok(Math.abs(Date.parse(headers['x-clock'] ?? '') - Date.parse(after.now)) < 60_000, url);
    }
  });

  test('POST /sandbox/clock is that of the machine, to the millisecond, until it is moved', async (t) => {
    let time = Date.parse('2026-06-01T12:00:00.000Z');
    // A millisecond passes between any two readings.
    const clock = { ...testClock(time), now: () => (time += 1) };
    const shop = await openShop(t, { engine, clock });
    const { now, system, advancedBy } = await read(shop);
    assert.equal(system, now);
    assert.equal(advancedBy, 'PT0S');
  });

  test('POST /sandbox/clock approves an order at the time at which it is due', async () => {
    const shop = opened();
    const id = await newOrder(shop, [[await newCheese(shop), 30]]);
    const { createdAt } = await order(shop, id);
    const response = await advance(shop, { advance: '3d' });
    assert.equal(response.json.did.approved, 1);
    const { status, updatedAt, shipDate } = await order(shop, id);
    assert.equal(status, 'approved');
    const delay = Date.parse(updatedAt) - Date.parse(createdAt);
    assert.ok(delay >= 5000 && delay < 65_000, String(delay));
    assert.ok(Math.abs(Date.parse(shipDate) - Date.parse(updatedAt) - 2 * dayMs) < 1000);
  });

  test('POST /sandbox/clock is 422 for a time in the past, too far, both members or none', async () => {
    const shop = opened();
    const { now } = await read(shop);
    const to = (ms: number) => new Date(Date.parse(now) + ms).toISOString();
    assertFields(await advance(shop, { to: to(-3_600_000) }), ['to']);
    assertFields(await advance(shop, { to: to(367 * dayMs) }), ['to']);
    assertFields(await advance(shop, { advance: '400d' }), ['advance']);
    assertFields(await advance(shop, { advance: 'soon' }), ['advance']);
    assertFields(await advance(shop, { advance: '1d', to: to(dayMs) }), ['']);
    assertFields(await advance(shop, {}), ['']);
    assertError(
      await shop.request('POST', clockPath, { as: shop.writer, body: { advance: '1d' } }),
      403,
      'forbidden',
    );
    assertError(await shop.request('POST', clockPath, { body: { advance: '1d' } }), 401, 'unauthorized');
    assert.ok(Date.parse((await read(shop)).now) - Date.parse(now) < 60_000);
  });

  test('POST /sandbox/clock reaches a time exactly', async () => {
    const shop = opened();
    const { now } = await read(shop);
    const to = new Date(Date.parse(now) + 5 * dayMs).toISOString();
    const { json } = await advance(shop, { to });
    const late = Date.parse(json.now) - Date.parse(to);
    assert.ok(late >= 0 && late < 5000, String(late));
  });

  test('POST /sandbox/clock lists the transitions of orders in a dry run, and moves nothing', async () => {
    const shop = opened();
    const id = await newOrder(shop, [[await newCheese(shop), 30]]);
    const before = await read(shop);
    const response = await advance(shop, { advance: '1d' }, { 'Dry-Run': 'effects' });
    assert.equal(response.status, 200, response.text);
    const effects = JSON.parse(response.text).effects;
    assert.deepEqual(
      effects.map(({ type, subject }: { type: string; subject: string }) => `${type} ${subject}`),
      [`order.approved order:${id}`],
    );
    assert.equal((await order(shop, id)).status, 'placed');
    assert.ok(Date.parse((await read(shop)).now) - Date.parse(before.now) < 60_000);
  });

  test('POST /sandbox/clock returns the stored response to the same key, and moves once', async () => {
    const shop = opened();
    const headers = { 'Idempotency-Key': `advance-${engine}` };
    const first = await advance(shop, { advance: '3d' }, headers);
    const second = await advance(shop, { advance: '3d' }, headers);
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assert.deepEqual(second.json, first.json);
    assert.ok(Date.parse((await read(shop)).now) - Date.parse(first.json.now) < 60_000);
    assertFields(await advance(shop, { advance: '4d' }, headers), ['']);
    await advance(shop, { advance: '25h' });
    const third = await advance(shop, { advance: '3d' }, headers);
    assert.equal(third.headers['idempotency-replayed'], undefined);
    assert.ok(Date.parse(third.json.now) - Date.parse(first.json.now) > 4 * dayMs);
  });
});

onBothEngines('A request whose response was not stored', (engine) => {
  test('A request whose response was not stored continues to its time with the same key, also when that has passed', async (t) => {
    const shop = await openShop(t, { engine });
    for (const body of [{ to: new Date(Date.now() + dayMs).toISOString() }, { advance: '2d' }]) {
      const headers = { 'Idempotency-Key': `key-of-${Object.keys(body)}` };
      const first = await advance(shop, body, headers);
      assert.equal(first.status, 200, first.text);
      await shop.app.database.run(sql`delete from stored_response`);
      const again = await advance(shop, body, headers);
      assert.equal(again.status, 200, again.text);
      assert.equal(again.headers['idempotency-replayed'], undefined);
      assert.ok(Date.parse(again.json.now) - Date.parse(first.json.now) < 60_000);
      assertFields(await advance(shop, { advance: '9d' }, headers), ['']);
    }
  });
});

test('A server with the clock of the machine does not move it', async (t) => {
  const shop = await openShop(t, { settings: { CURD_CLOCK: 'system' } });
  const { now, system, ...rest } = await read(shop);
  assert.deepEqual(rest, { advancedBy: 'PT0S', movable: false });
  assert.equal(now, system);
  assertError(await advance(shop, { advance: '1d' }), 409, 'conflict');
});

test('Production has no path of the sandbox clock', async (t) => {
  const shop = await openShop(t, {
    settings: { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' },
  });
  for (const method of ['GET', 'POST']) {
    for (const as of [undefined, shop.admin]) {
      const response = await shop.request(method, clockPath, as === undefined ? {} : { as });
      assertError(response, 404, 'not_found');
    }
  }
});

test('/readyz and /v2/status say that the clock was moved', async (t) => {
  const shop = await openShop(t);
  const status = async () => (await shop.request('GET', '/v2/status', { as: shop.admin })).json;
  const ready = async () => (await shop.request('GET', '/readyz')).json;
  assert.deepEqual(await ready(), { status: 'ok' });
  assert.equal((await status()).clock.advancedBy, 'PT0S');
  await advance(shop, { advance: '26h' });
  const shown = await ready();
  assert.equal(shown.clock.advancedBy, 'P1DT2H');
  assert.equal((await status()).clock.advancedBy, 'P1DT2H');
  assert.equal((await status()).uptimeSeconds < 60, true);
});
