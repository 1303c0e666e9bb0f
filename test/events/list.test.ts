/** The event log as a list: order, positions, filters, waiting, and who may read it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { onBothEngines, shared, until } from '../context.ts';
import { assertError, openShop, type Shop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { untilNumbered } from './streams.ts';

interface Listed {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Everything from a position on, page by page. */
async function listAll(shop: Shop, query = '', as = shop.admin, limit = 7): Promise<Listed[]> {
  const events: Listed[] = [];
  let since = new URLSearchParams(query).get('since') ?? 'earliest';
  const rest = query.replace(/(^|&)since=[^&]*/, '');
  for (;;) {
    const page = await shop.request('GET', `/v2/events?since=${since}&limit=${limit}&${rest}`, { as });
    assert.equal(page.status, 200, page.text);
    events.push(...page.json.items);
    since = page.json.next;
    if (!page.json.hasMore) {
      return events;
    }
  }
}

onBothEngines('GET /v2/events', (engine) => {
  const opened = shared(async (t) => {
    const shop = await openShop(t, { engine });
    const ids = [];
    for (const name of ['Brie', 'Feta', 'Gouda', 'Comté', 'Tilsiter']) {
      ids.push(await newCheese(shop, { name }));
    }
    await shop.request('POST', `/v2/cheeses/${ids[0]}?status=pending`, { as: shop.writer });
    await shop.request('DELETE', `/v2/cheeses/${ids[1]}`, {
      as: shop.writer,
      headers: { 'x-confirm-delete': 'true' },
    });
    await untilNumbered(shop);
    return { shop, ids };
  });

  test('GET /v2/events lists every event once, with numbers that rise by one', async () => {
    const { shop, ids } = opened();
    const events = await listAll(shop);
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, index) => index + 1),
    );
    for (const { id, sequence } of events) {
      assert.match(id, new RegExp(`^evt_[0-9A-Za-z]{4}_${sequence}$`));
    }
    const cheeses = events.filter(({ type }) => type.startsWith('cheese.'));
    assert.deepEqual(
      cheeses.map(({ type, subject }) => [type, subject]),
      [
        ...ids.map((id) => ['cheese.created', `cheese:${id}`]),
        ['cheese.updated', `cheese:${ids[0]}`],
        ['cheese.deleted', `cheese:${ids[1]}`],
      ],
    );
    assert.deepEqual(cheeses[5]?.data, {
      id: ids[0],
      name: 'Brie',
      changes: { status: { from: 'available', to: 'pending' } },
    });
  });

  test('GET /v2/events continues after an event id, a time, and from the end', async () => {
    const { shop } = opened();
    const events = await listAll(shop);
    const third = events[2] as Listed & { timestamp: string };
    assert.deepEqual(await listAll(shop, `since=${third.id}`), events.slice(3));
    assert.deepEqual(await listAll(shop, 'since=latest'), []);
    const future = new Date(Date.now() + 3_600_000).toISOString();
    assert.deepEqual(await listAll(shop, `since=${future}`), []);
    assert.deepEqual(await listAll(shop, 'since=2020-01-01T00:00:00Z'), events);
    const since = await listAll(shop, `since=${third.timestamp}`);
    assert.ok(since.some(({ id }) => id === third.id));
    for (const wrong of ['2027-02-30T10:00:00Z', '2026-11-01', '2026-11-01T10:00:00']) {
      const refused = await shop.request('GET', `/v2/events?since=${wrong}`, { as: shop.admin });
      assertError(refused, 400, 'bad_request');
      assert.match(refused.json.message, /an RFC 3339 time such as 2026-01-15T09:30:00Z/);
    }
  });

  test('GET /v2/events filters by types and subject, and examines no event twice', async () => {
    const { shop, ids } = opened();
    const events = await listAll(shop);
    const updates = await listAll(shop, 'types=cheese.updated,cheese.deleted');
    assert.deepEqual(
      updates,
      events.filter(({ type }) => /updated|deleted/.test(type)),
    );
    assert.equal((await listAll(shop, `subject=cheese:${ids[0]}&types=cheese.*`)).length, 2);
    const none = await shop.request('GET', '/v2/events?types=order.placed', { as: shop.admin });
    assert.deepEqual(none.json, { items: [], next: events.at(-1)?.id, hasMore: false });
    for (const path of ['/v2/events', '/v2/events/stream']) {
      const refused = await shop.request('GET', `${path}?subject=order`, { as: shop.admin });
      assertError(refused, 400, 'bad_request');
      assert.match(refused.json.message, /subject: must be a kind and an id, such as order:31\./);
    }
  });

  test('GET /v2/events shows events of API keys and accounts to admin alone, and leaves no gap in positions for others', async () => {
    const { shop } = opened();
    const all = await listAll(shop);
    const shown = await listAll(shop, '', shop.reader);
    assert.ok(all.some(({ type }) => type === 'api_key.created'));
    assert.deepEqual(
      shown,
      all.filter(({ type }) => !/^(api_key|account)\./.test(type)),
    );
    const key = all.find(({ type }) => type === 'api_key.created');
    assertError(await shop.request('GET', `/v2/events/${key?.id}`, { as: shop.reader }), 404, 'not_found');
    assert.equal((await shop.request('GET', `/v2/events/${key?.id}`, { as: shop.admin })).status, 200);
  });

  test('GET /v2/events returns one event with a tag that never changes', async () => {
    const { shop } = opened();
    const [event] = await listAll(shop, 'types=cheese.created');
    const response = await shop.request('GET', `/v2/events/${event?.id}`, { as: shop.reader });
    assert.deepEqual(response.json, event);
    assert.equal(response.headers['cache-control'], 'private, max-age=31536000, immutable');
    const again = await shop.request('GET', `/v2/events/${event?.id}`, {
      as: shop.reader,
      headers: { 'if-none-match': response.headers.etag ?? '' },
    });
    assert.equal(again.status, 304);
    for (const id of ['evt_0000_1', 'evt_x', 'abc', 'evt_test_abcdefghijkl']) {
      const missing = await shop.request('GET', `/v2/events/${id}`, { as: shop.reader });
      assert.ok([404, 410].includes(missing.status), `${id} ${missing.text}`);
    }
  });

  test('GET /v2/events refuses positions that are malformed or not given yet, and unknown types', async () => {
    const { shop } = opened();
    const last = (await listAll(shop)).at(-1) as Listed;
    const beyond = last.id.replace(/\d+$/, String(last.sequence + 1));
    for (const query of [
      'since=abc',
      'since=',
      `since=${beyond}`,
      'since=evt_x_1',
      'since=9999-12-31T23:59:59-01:00',
      'since=0000-01-01T00:00:00%2B01:00',
      `since=evt_${last.id.slice(4, 8)}_9999999999999999`,
      'types=cheese.eaten',
      'types=',
      'limit=101',
      'wait=31',
    ]) {
      assertError(await shop.request('GET', `/v2/events?${query}`, { as: shop.admin }), 400, 'bad_request');
    }
    assertError(
      await shop.request('GET', '/v2/events?since=evt_zzzz_1', { as: shop.admin }),
      410,
      'log_rewound',
    );
  });

  test('GET /v2/events waits for the next event', async () => {
    const { shop } = opened();
    const started = performance.now();
    const waiting = shop.request('GET', '/v2/events?since=latest&types=cheese.*&wait=20', { as: shop.admin });
    await until(async () => shop.app.database.stats().done > 0);
    const id = await newCheese(shop, { name: `Waited for ${started}` });
    const response = await waiting;
    assert.equal(response.json.items[0].subject, `cheese:${id}`);
    assert.ok(performance.now() - started < 15_000);
  });

  test('GET /v2/events returns an empty page when the wait is over', async () => {
    const { shop } = opened();
    const response = await shop.request('GET', '/v2/events?since=latest&types=order.*&wait=1', {
      as: shop.admin,
    });
    assert.deepEqual([response.status, response.json.items], [200, []]);
  });

  test('GET /v2/events has no events of test orders', async () => {
    const { shop } = opened();
    const { database } = shop.app;
    const approve = await shop.request('POST', '/v2/store/order/1/approve', { as: shop.admin });
    assert.ok([200, 404, 409].includes(approve.status));
    const rows = await database.all<{ sequence: number }>(
      sql`select sequence from event where subject in ('order:1', 'order:2', 'order:3')`,
    );
    assert.ok(rows.every(({ sequence }) => sequence === 0));
  });
});

suite('Access to the event log', () => {
  const opened = shared((t) => openShop(t));

  test('Access to the event log needs an API key or the scope admin', async () => {
    const shop = opened();
    assertError(await shop.request('GET', '/v2/events'), 401, 'unauthorized');
    assert.equal((await shop.request('GET', '/v2/events', { as: shop.reader })).status, 200);
  });
});
