/** GET /metrics: the exact text format of Prometheus, without personal data. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };
import { sql } from '../../src/database/sql.ts';
import { orderEvents } from '../../src/orders/event-types.ts';
import { restoreTestOrders } from '../../src/orders/test-orders.ts';
import { openFilledShop, requestOk } from '../cli/filled-shop.ts';
import { fillLog, openStream, untilNumbered } from '../events/streams.ts';
import {
  assertError,
  onBothEngines,
  openShop,
  type Shop,
  type TestResponse,
  temporaryFolder,
  testClock,
  until,
} from '../helper.ts';
import { newApplication, openListeningShop, post } from '../oauth/flow.ts';
import { orderOf } from '../shop-verbs.ts';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly type: string;
  readonly samples: Sample[];
}

/** The text format, version 0.0.4, in its strictest form: HELP, TYPE, and the samples of that family. */
function parse(text: string): Map<string, Family> {
  assert.ok(text.endsWith('\n') && !text.includes('\n\n') && !text.includes('\r'));
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let helped = '';
  let current = '';
  for (const line of text.trimEnd().split('\n')) {
    const [, help] = /^# HELP ([a-z_]+) [A-Z][^\\]+\.$/.exec(line) ?? [];
    const [, typed, type] = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (help !== undefined) {
      assert.ok(!families.has(help), `${help} comes twice`);
      helped = help;
    } else if (typed !== undefined) {
      assert.equal(typed, helped);
      families.set(typed, { type: String(type), samples: [] });
      current = typed;
    } else {
      const [, name = '', inside = '', value = ''] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const family = families.get(current);
      assert.ok(family !== undefined && name !== '', `not understood: ${line}`);
      const isPart = family.type === 'histogram' && /_(bucket|sum|count)$/.test(name);
      assert.equal(isPart ? name.replace(/_(bucket|sum|count)$/, '') : name, current, line);
      const labels = labelsIn(inside, line);
      const key = `${name} ${JSON.stringify(labels)}`;
      assert.ok(!seen.has(key), `${key} comes twice`);
      seen.add(key);
      assert.match(value, /^-?\d+(\.\d+)?(e-?\d+)?$/, line);
      family.samples.push({ name, labels, value: Number(value) });
    }
  }
  return families;
}

function labelsIn(inside: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = inside;
  while (rest !== '') {
    const [all, name = '', value = ''] = /^([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)/.exec(rest) ?? [];
    assert.ok(all !== undefined && labels[name] === undefined, `labels not understood: ${line}`);
    labels[name] = value;
    rest = rest.slice(all.length);
  }
  return labels;
}

/** Buckets that only grow up to the count, and a sum that fits them. */
function assertHistogram({ samples }: Family, name: string): void {
  const byLabels = Map.groupBy(samples, ({ labels: { le: _, ...rest } }) => JSON.stringify(rest));
  for (const [key, some] of byLabels) {
    const buckets = some.filter((one) => one.name === `${name}_bucket`);
    const [sum] = some.filter((one) => one.name === `${name}_sum`);
    const [count] = some.filter((one) => one.name === `${name}_count`);
    assert.ok(sum !== undefined && count !== undefined && some.length === buckets.length + 2, key);
    const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('+Inf', 'Infinity')));
    assert.ok(bounds.length > 5 && bounds.at(-1) === Number.POSITIVE_INFINITY);
    let [soFar, least, lastBound] = [0, 0, 0];
    let most = 0;
    for (const [place, { value }] of buckets.entries()) {
      const bound = bounds[place] ?? Number.NaN;
      assert.ok(bound > lastBound && value >= soFar, `${key} at ${bound}`);
      least += (value - soFar) * lastBound;
      most += value === soFar ? 0 : (value - soFar) * bound;
      [soFar, lastBound] = [value, bound];
    }
    assert.ok(count.value === soFar && count.value > 0, key);
    assert.ok(
      sum.value >= least - 1e-9 && sum.value <= most + 1e-9,
      `${key}: ${sum.value} in ${least} to ${most}`,
    );
  }
}

const requests = 'curd_http_request_duration_seconds';

async function look(shop: Shop, as = shop.admin) {
  const response = await shop.request('GET', '/metrics', { as });
  assert.equal(response.status, 200, response.text);
  return read(response);
}

function read({ headers, text }: TestResponse) {
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(headers['cache-control'], 'no-store');
  const families = parse(text);
  const family = families.get(requests);
  assert.equal(family?.type, 'histogram');
  assertHistogram(family as Family, requests);
  /** The value with these labels; 0 when there is none. */
  const figure = (name: string, labels: Record<string, string> = {}): number =>
    (families.get(name.replace(/_count$/, '')) ?? families.get(name))?.samples.find(
      (one) => one.name === name && JSON.stringify(one.labels) === JSON.stringify(labels),
    )?.value ?? 0;
  const counted = (method: string, route: string, status: number): number =>
    figure(`${requests}_count`, { method, route, status: String(status) });
  return { text, families, figure, counted };
}

onBothEngines('Metrics', (engine) => {
  test('Metrics have the times of the last backup and check as 0 before the first, and no backup on PostgreSQL', async (t) => {
    const shop = await openShop(t, { engine });
    const { figure, families } = await look(shop);
    assert.deepEqual([figure('curd_last_doctor_timestamp_seconds'), figure('curd_doctor_faults')], [0, 0]);
    const before = families.get('curd_last_backup_timestamp_seconds')?.samples.map(({ value }) => value);
    assert.deepEqual(before, engine === 'sqlite' ? [0] : []);
    await shop.app.database.run(sql`update shop set last_backup_at = '2026-06-01T12:00:00.000Z'`);
    const after = (await look(shop)).figure('curd_last_backup_timestamp_seconds');
    assert.equal(after, engine === 'sqlite' ? 1_780_315_200 : 0);
  });

  test('Metrics count every request by route and status, and do not grow with the number of different paths', async (t) => {
    const shop = await openShop(t, { engine });
    const first = await look(shop);
    assert.equal(first.counted('GET', '/metrics', 200), 0, 'it is not answered yet');
    const { id } = await requestOk(shop, 'POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Brie' } });
    for (const [times, method, url, as] of [
      [3, 'GET', `/v2/cheeses/${id}`, shop.reader],
      [2, 'GET', '/v2/cheeses/99', shop.reader],
      [2, 'HEAD', `/v2/cheeses/${id}`, shop.reader],
      [1, 'GET', '/v2/cheeses/99', undefined],
      [2, 'GET', '/v2/cheeses?limit=1', shop.reader],
      [1, 'DELETE', '/v2/cheeses', shop.reader],
      [2, 'GET', '/healthz', undefined],
    ] as const) {
      for (let time = 0; time < times; time += 1) {
        await shop.request(method, url, as === undefined ? {} : { as });
      }
    }
    const second = await look(shop);
    const found = [
      ['POST', '/v2/cheeses', 201],
      ['GET', '/v2/cheeses/:cheeseId', 200],
      ['GET', '/v2/cheeses/:cheeseId', 404],
      ['HEAD', '/v2/cheeses/:cheeseId', 200],
      ['GET', '/v2/cheeses/:cheeseId', 401],
      ['GET', '/v2/cheeses', 200],
      ['GET', '/healthz', 200],
      ['GET', '/metrics', 200],
      ['any', 'none', 405],
    ].map(([method, route, status]) => second.counted(String(method), String(route), Number(status)));
    assert.deepEqual(found, [1, 3, 2, 2, 1, 2, 2, 1, 1]);

    const sizes = new Set<number>();
    for (let round = 0; round < 2; round += 1) {
      for (let one = 0; one < 10; one += 1) {
        await shop.request('GET', `/nowhere-${round}-${one}`, { as: shop.reader });
        await shop.request('GET', `/v2/cheeses/${1000 + round * 10 + one}`, { as: shop.reader });
        await shop.request(['PROPFIND', 'LOCK', 'TRACE', 'SEARCH'][one % 4] ?? '', '/v2/cheeses', {
          as: shop.reader,
        });
        await shop.request('OPTIONS', `/${one}-${round}`, {});
      }
      sizes.add((await look(shop)).text.split('\n').length);
    }
    assert.equal([...sizes].length, 1, `${[...sizes]}`);
    const last = await look(shop);
    assert.equal(last.counted('any', 'none', 404) + last.counted('OPTIONS', '*', 404), 40);
  });

  test('Metrics count refused requests by limit', async (t) => {
    const clock = testClock();
    const settings = {
      CURD_PLANS: '{"enterprise":{"perHour":30,"burst":20}}',
      CURD_ADDRESS_LIMITS: '{"perMinute":3}',
    };
    const shop = await openShop(t, { engine, clock, settings });
    const other = await shop.createKey();
    const statuses: Record<string, number> = {};
    const ask = async (as: string | undefined, times: number) => {
      for (let time = 0; time < times; time += 1) {
        const { status } = await shop.request('GET', '/v2/cheeses/1', as === undefined ? {} : { as });
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await ask(other, 25);
    clock.advance(1500);
    await ask(other, 12);
    await ask(undefined, 7);
    assert.deepEqual(statuses, { 401: 3, 404: 30, 429: 11 });
    const metrics = await look(shop);
    const refused = ['burst', 'hour', 'address'].map((limit) =>
      metrics.figure('curd_calls_refused_total', { limit }),
    );
    assert.deepEqual(refused, [5, 2, 4]);
    assert.equal(metrics.counted('GET', '/v2/cheeses/:cheeseId', 429), 11);
  });

  test('Metrics count orders by status and work in progress, and contain no secret, no name and no id', async (t) => {
    const filled = await openFilledShop(t, engine);
    const { shop, orderer } = filled;
    // Test orders have no customer.
    await restoreTestOrders(shop.app.contextOf('test'));
    let looked = await look(shop);
    // On PostgreSQL a pass that numbers events may be running.
    for (let tries = 0; tries < 100 && looked.figure('curd_database_waiting') > 0; tries += 1) {
      await sleep(10);
      looked = await look(shop);
    }
    const { text, families, figure } = looked;
    const statuses = ['placed', 'approved', 'shipped', 'delivered', 'cancelled'];
    const counts = statuses.map((status) => figure('curd_orders', { status }));
    assert.deepEqual(counts, [3, 1, 1, 2, 3]);
    assert.equal(families.get('curd_orders')?.samples.length, statuses.length);
    for (const name of ['curd_images', 'curd_passwords']) {
      assert.deepEqual(
        families.get(name)?.samples.map(({ labels, value }) => [labels.state, value]),
        [
          ['running', 0],
          ['waiting', 0],
        ],
      );
    }
    for (const name of ['curd_changes_under_way', 'curd_uploads_under_way', 'curd_database_waiting']) {
      assert.deepEqual(families.get(name), { type: 'gauge', samples: [{ name, labels: {}, value: 0 }] });
    }
    assert.ok(figure('curd_database_operations_total') > 10 && figure('curd_database_seconds_total') > 0);
    assert.ok(figure('process_resident_memory_bytes') > 1e7 && figure('process_cpu_seconds_total') > 0);
    assert.ok(Math.abs(figure('process_start_time_seconds') - performance.timeOrigin / 1000) < 1);
    for (const word of [
      shop.reader,
      shop.admin,
      orderer,
      filled.session.authorization,
      'ada',
      'bob',
      'Comt',
      '@',
      'sk_live_',
      'sk_test_',
    ]) {
      assert.ok(!text.includes(word), `the metrics contain ${word}`);
    }
    for (const { labels } of families.get(requests)?.samples ?? []) {
      assert.match(String(labels.route), /^(none|\*|(\/v2)?\/[a-zA-Z/.:_]*)$/, 'a path with an id');
    }

    // Changes are counted while they wait, here for a lock on the cheese.
    const { promise: asked, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    const holding = shop.app.database.transaction(async (tx) => {
      await tx.run(sql`update cheese set version = version where id = ${filled.cheeses[0]}`);
      hold();
      await asked;
    });
    await held;
    const body = orderOf(filled.cheeses[0]);
    // With the lock and the look, no more connections than PgBouncer has in the tests.
    const many = Array.from({ length: 3 }, () =>
      shop.request('POST', '/v2/store/order', { as: orderer, body }),
    );
    for (let tries = 0; tries < 50 && (await look(shop)).figure('curd_changes_under_way') < 3; tries += 1) {
      await sleep(10);
    }
    assert.equal((await look(shop)).figure('curd_changes_under_way'), 3);
    letGo();
    await Promise.all([holding, ...many]);
    const later = await look(shop);
    assert.equal(later.counted('POST', '/v2/store/order', 201), 13);
    assert.equal(later.figure('curd_changes_under_way'), 0);
    assert.equal(
      later.figure('curd_orders', { status: 'placed' }),
      3,
      'orders are counted every 15 seconds at most',
    );
  });

  test('Metrics include the version, the size of the database, and the space of each disk', async (t) => {
    const clock = testClock();
    const images = { CURD_IMAGES: `file:${await temporaryFolder(t)}` };
    const shop = await openShop(t, { engine, clock, settings: images });
    const { figure } = await look(shop);
    const { node } = process.versions;
    const build = { version: packageJson.version, node, engine, environment: 'local' };
    assert.equal(figure('curd_build_info', build), 1);
    for (const folder of ['data', 'images']) {
      const [free, total] = ['free', 'total'].map((one) => figure(`curd_disk_${one}_bytes`, { folder }));
      assert.ok(Number(free) > 0 && Number(free) <= Number(total), `${free} of ${total}`);
    }
    const size = figure('curd_database_size_bytes');
    assert.ok(size > 100_000 && size < 100_000_000, `${size}`);
    const filler = `create table filler (content text); insert into filler values ('${'x'.repeat(100_000)}')`;
    await shop.app.database.exclusiveTransaction((_sql, run) => run(filler));
    assert.equal((await look(shop)).figure('curd_database_size_bytes'), size, 'it is read once a minute');
    clock.advance(60_000);
    assert.ok((await look(shop)).figure('curd_database_size_bytes') > size);
  });

  test('Metrics count events, the wait for their numbers, and open streams', async (t) => {
    const shop = await openListeningShop(t, { engine });
    const { figure } = await look(shop);
    const stream = await openStream(t, shop);
    const waiting = shop.request('GET', '/v2/events?since=latest&types=order.*&wait=20', { as: shop.admin });
    await untilNumbered(shop);
    const before = figure('curd_events_numbered_total');
    await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Brie' } });
    await untilNumbered(shop);
    const later = await look(shop);
    assert.ok(later.figure('curd_events_numbered_total') > before);
    assert.equal(later.figure('curd_event_streams_open', { kind: 'stream' }), 1);
    assert.equal(later.figure('curd_event_streams_open', { kind: 'long_poll' }), 1);
    stream.close();
    const data = { id: 7, status: 'placed', total: 1, reason: null } as const;
    await fillLog(shop, [orderEvents.placed.of('order:7', data)]);
    await waiting;
    await until(
      async () => (await look(shop)).figure('curd_event_streams_open', { kind: 'stream' }) === 0,
      'the stream stays counted',
    );
    assert.equal((await look(shop)).figure('curd_event_streams_open', { kind: 'long_poll' }), 0);
    assert.equal((await look(shop)).figure('curd_events_numbering_lag_seconds'), 0);
    if (engine === 'postgres') {
      // Passes skip the log while another transaction has its lock.
      const { database } = shop.app;
      await database.transaction(async (tx) => {
        await tx.get(sql`select id from event_log for update`);
        await database.run(sql`
          insert into event (type, subject, actor, data, created_at)
          values ('order.placed', 'order:7', 'test', '{}', '2020-01-01T00:00:00.000Z')`);
        assert.ok((await look(shop)).figure('curd_events_numbering_lag_seconds') > 1e8);
      });
    }
  });

  test('Metrics require the scope admin, of a key or of an approved application', async (t) => {
    const shop = await openListeningShop(t, { engine });
    assertError(await shop.request('GET', '/metrics'), 401, 'unauthorized');
    for (const as of [shop.reader, shop.writer]) {
      assertError(await shop.request('GET', '/metrics', { as }), 403, 'forbidden');
    }
    const request = { grants: ['client_credentials' as const], scopes: ['admin' as const] };
    const application = await newApplication(shop, request);
    const form = { grant_type: 'client_credentials', scope: 'admin' };
    const asked = await post(`${shop.url}/oauth/token`, form, application);
    assert.equal(asked.status, 400, 'it is not approved yet');
    const {
      oauth: { approvals },
      contextOf,
    } = shop.app;
    const [approval] = await approvals.list();
    await approvals.approve(contextOf('test'), Number(approval?.id));
    const { json } = await post(`${shop.url}/oauth/token`, form, application);
    const headers = { authorization: `Bearer ${json.access_token}` };
    const response = await shop.request('GET', '/metrics', { headers });
    assert.equal(response.status, 200, response.text);
    const { counted, text } = read(response);
    assert.deepEqual(
      [
        counted('GET', '/metrics', 401),
        counted('GET', '/metrics', 403),
        counted('POST', '/oauth/token', 200),
      ],
      [1, 2, 1],
    );
    assert.ok(!text.includes(json.access_token) && !text.includes(application.clientId));
  });
});
