/** Log lines about requests: one for each at the level debug, and one per second during an outage. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };
import { fullPath } from '../../src/http/route.ts';
import { curdJson, freshShop, serve } from '../cli/run.ts';
import { cleanUp, createDatabase, secret } from '../context.ts';
import { openShop } from '../helper.ts';

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly requestId: string;
  readonly traceId?: string;
  readonly clientIp?: string;
  readonly route?: string;
  readonly principal?: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly before?: number;
  readonly err?: unknown;
}

const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('At debug every request has one log line that identifies it', async (t) => {
  const environment = await freshShop(t, { CURD_SECRET: secret, CURD_LOG_LEVEL: 'debug' });
  await curdJson(environment, 'accounts', 'create', 'shop');
  const { id, key } = await curdJson(
    environment,
    'keys',
    'create',
    '--account',
    'shop',
    '--scope',
    'write:orders',
  );
  const { url, stop } = await serve(t, environment);
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
  const sent: [string, string, Record<string, string>, Partial<Line>][] = [
    [
      'GET',
      '/v2/cheeses/1',
      { 'x-api-key': key },
      { route: '/v2/cheeses/:cheeseId', status: 200, principal: `key:${id}` },
    ],
    [
      'GET',
      '/v2/cheeses/999999?x=y',
      { 'x-api-key': key, traceparent },
      { route: '/v2/cheeses/:cheeseId', status: 404, principal: `key:${id}`, traceId: trace },
    ],
    [
      'HEAD',
      '/v2/cheeses',
      { 'x-api-key': key },
      { route: '/v2/cheeses', status: 200, principal: `key:${id}` },
    ],
    [
      'POST',
      '/v2/store/order',
      { 'x-api-key': key, traceparent: `${traceparent}-00` },
      { route: '/v2/store/order', status: 422, principal: `key:${id}` },
    ],
    ['GET', '/v2/cheeses/1', {}, { route: '/v2/cheeses/:cheeseId', status: 401 }],
    [
      'GET',
      '/v2/customer/ada',
      { 'x-api-key': `${key}x`, traceparent },
      { route: '/v2/customer/:username', status: 401, traceId: trace },
    ],
    ['GET', '/nowhere/at/all', {}, { status: 404 }],
    ['DELETE', '/healthz', {}, { status: 405 }],
    ['GET', '/readyz', {}, { route: '/readyz', status: 200 }],
    ['POST', '/oauth/token', { traceparent }, { route: '/oauth/token', status: 401, traceId: trace }],
    ['GET', '/openapi.json', {}, { route: '/openapi.json', status: 200 }],
  ];
  const ids: string[] = [];
  for (const [place, [method, path, headers]] of sent.entries()) {
    const mine = place % 2 === 0 ? { 'x-request-id': `mine-${place}` } : {};
    const response = await fetch(`${url}${path}`, { method, headers: { ...headers, ...mine } });
    await response.arrayBuffer();
    ids.push(response.headers.get('x-request-id') ?? '');
    assert.equal(ids[place] === `mine-${place}`, place % 2 === 0);
  }
  const lines = linesOf((await stop()).stderr).filter(({ requestId }) => requestId !== undefined);
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    sent.map(() => 'answered'),
  );
  for (const [place, line] of lines.entries()) {
    const [method, path, , facts] = sent[place] ?? assert.fail();
    const { requestId, durationMs, method: written, level, traceId, time } = line;
    assert.deepEqual([requestId, written, level], [ids[place], method, 'debug'], path);
    assert.equal(line.clientIp, '127.0.0.1', path);
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60 * 60 * 1000, time);
    assert.ok(durationMs >= 0 && durationMs < 5000);
    for (const name of ['route', 'status', 'principal', 'traceId'] as const) {
      if (name !== 'traceId' || place !== 3) {
        assert.equal(line[name], facts[name], `${name} of ${method} ${path}`);
      }
    }
    assert.ok(traceId === undefined || /^[0-9a-f]{32}$/.test(traceId));
    assert.equal(Object.hasOwn(line, 'err'), false);
  }
});

test('At info, which is the default, the log has a line at start and one at stop, and none for requests', async (t) => {
  const { CURD_DATA_DIR = '' } = await freshShop(t);
  const { url, stop, greeting } = await serve(t, { CURD_DATA_DIR, CURD_SECRET: secret });
  const [key = ''] = /sk_test_\w+/.exec(greeting) ?? [];
  for (const path of ['/v2/cheeses', '/v2/cheeses/0', '/nowhere', '/healthz']) {
    await (await fetch(`${url}${path}`, { headers: { 'x-api-key': key } })).arrayBuffer();
  }
  const lines = (linesOf((await stop()).stderr) as (Line & { ms?: number; cheeses?: number })[]).map(
    ({ time, ms, ...line }) => line,
  );
  // The catalogue is loaded beside the rest of the start.
  lines.sort(
    (one, other) =>
      Number(other.msg === 'the catalogue is loaded') - Number(one.msg === 'the catalogue is loaded'),
  );
  assert.deepEqual(lines, [
    { level: 'info', msg: 'the catalogue is loaded', cheeses: lines[0]?.cheeses },
    {
      level: 'info',
      version: packageJson.version,
      environment: 'local',
      engine: 'sqlite',
      node: process.version,
      address: '127.0.0.1',
      port: Number(new URL(url).port),
      msg: 'started',
    },
    { ...lines[2], level: 'info', signal: 'SIGTERM', msg: 'stopped' },
  ]);
});

test('The client IP is that which the trusted proxy reports, and a setting omits it', async (t) => {
  const environment = await freshShop(t, { CURD_LOG_LEVEL: 'debug', CURD_TRUSTED_PROXIES: '127.0.0.1' });
  for (const [more, expected] of [
    [{}, '203.0.113.9'],
    [{ CURD_LOG_CLIENT_IP: 'false' }, undefined],
  ] as const) {
    const { url, stop } = await serve(t, { ...environment, ...more });
    await (await fetch(`${url}/v2/cheeses`, { headers: { 'x-forwarded-for': '203.0.113.9' } })).arrayBuffer();
    const { stderr } = await stop();
    const line = linesOf(stderr).find(({ status }) => status === 401);
    assert.equal(line?.clientIp, expected);
    assert.equal(stderr.includes('203.0.113.9'), expected !== undefined);
  }
});

test('Refused requests are counted by route, and the log sums them up once a minute and at stop', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const shop = await openShop(t, { settings: { CURD_ADDRESS_LIMITS: '{"perMinute":12}' } });
  const summary = t.mock.method(shop.app.log, 'info');
  const summaries = () => summary.mock.calls.map(({ arguments: all }) => all.slice(0, 2));
  const times = async (count: number, method: string, url: string, as?: string) => {
    for (let time = 0; time < count; time += 1) {
      await shop.request(method, url, as === undefined ? {} : { as });
    }
  };
  const line = (requests: number, ...routes: [string, string, number, number][]) => [
    {
      requests,
      routes: routes.map(([method, route, status, count]) => ({ method, route, status, requests: count })),
    },
    'requests were refused',
  ];

  await times(3, 'GET', '/v2/cheeses', shop.reader);
  await times(2, 'GET', '/v2/cheeses/none', shop.reader);
  t.mock.timers.tick(60_000);
  assert.deepEqual(summaries(), [], 'nothing was refused');

  await times(2, 'GET', '/v2/cheeses/1');
  await times(4, 'POST', '/v2/cheeses', shop.reader);
  await times(1, 'POST', '/oauth/token');
  t.mock.timers.tick(60_000);
  const first = line(
    7,
    ['POST', '/v2/cheeses', 403, 4],
    ['GET', '/v2/cheeses/:cheeseId', 401, 2],
    ['POST', '/oauth/token', 401, 1],
  );
  assert.deepEqual(summaries(), [first]);
  t.mock.timers.tick(60_000);
  assert.deepEqual(summaries(), [first], 'nothing was refused since');

  await times(14, 'GET', '/v2/cheeses/1');
  await shop.app.close();
  const second = line(14, ['GET', '/v2/cheeses/:cheeseId', 401, 9], ['GET', '/v2/cheeses/:cheeseId', 429, 5]);
  assert.deepEqual(summaries(), [first, second]);
});

test('The summary of refused requests has at most 20 routes, however many were refused', async (t) => {
  const shop = await openShop(t);
  const summary = t.mock.method(shop.app.log, 'info');
  const guarded = shop.app.routes.filter(({ access }) => access !== 'operational' && access !== 'open');
  for (const route of guarded) {
    await shop.request(route.method, fullPath(route));
  }
  await shop.app.close();
  const [facts] = JSON.parse(JSON.stringify(summary.mock.calls[0]?.arguments ?? []));
  assert.ok(guarded.length > 20);
  assert.equal(summary.mock.callCount(), 1);
  assert.deepEqual(
    [facts.requests, facts.routes.length, facts.others],
    [guarded.length, 20, guarded.length - 20],
  );
});

/** A proxy in front of a database, whose connections a test can close. */
async function openWire(t: TestContext, databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const wire = createServer((socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const other = connect(Number(target.port), target.hostname);
    for (const [one, two] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(two);
      one.on('error', () => two.destroy());
      one.on('close', () => two.destroy());
    }
  });
  wire.listen(0, '127.0.0.1');
  await once(wire, 'listening');
  const cut = (is: boolean) => {
    isCut = is;
    for (const socket of is ? sockets : []) {
      socket.destroy();
    }
  };
  cleanUp(t, () => {
    cut(true);
    wire.close();
  });
  const place = new URL(databaseUrl);
  place.port = String((wire.address() as { port: number }).port);
  return { url: place.href, cut };
}

test('During an outage the log has one line per second for each reason, with the number of omitted lines', async (t) => {
  const wire = await openWire(t, await createDatabase(t, 'template_curd'));
  const environment = await freshShop(t, {
    CURD_SECRET: secret,
    CURD_DATABASE: wire.url,
    CURD_LOG_LEVEL: 'warn',
  });
  await curdJson(environment, 'accounts', 'create', 'shop');
  const { key } = await curdJson(environment, 'keys', 'create', '--account', 'shop');
  const { url, stop, statusFor } = await serve(t, environment);
  assert.equal(await statusFor(key), 200);
  wire.cut(true);
  const ends = performance.now() + 1700;
  let refused = 0;
  const statuses = new Set<number>();
  while (performance.now() < ends) {
    const some = await Promise.all([
      ...Array.from({ length: 8 }, () => statusFor(key)),
      fetch(`${url}/readyz`).then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      }),
    ]);
    refused += some.filter((status) => status === 503).length;
    for (const status of some) {
      statuses.add(status);
    }
    await sleep(50);
  }
  assert.deepEqual([...statuses], [503]);
  wire.cut(false);
  for (let tries = 0; (await statusFor(key)) !== 200; tries += 1) {
    assert.ok(tries < 100, 'it does not find back');
    refused += 1;
    await sleep(50);
  }
  const { stderr } = await stop();
  const lines = linesOf(stderr).filter(({ requestId }) => requestId !== undefined);
  const byReason = Map.groupBy(lines, ({ msg }) => msg);
  assert.ok(byReason.has('The database does not respond.'), [...byReason.keys()].join());
  assert.ok(byReason.size >= 2 && byReason.size <= 6, [...byReason.keys()].join());
  let logged = 0;
  for (const [reason, some] of byReason) {
    assert.ok(some.length <= 5, `${reason}: ${some.length} lines in three seconds`);
    assert.equal(some[0]?.before, undefined);
    logged += some.reduce((sum, { before = 0 }) => sum + 1 + before, 0);
  }
  assert.ok([...byReason.values()].some((some) => some.slice(1).some(({ before = 0 }) => before > 0)));
  // Omitted lines after the last one are counted in the next line, which was not written.
  assert.ok(logged <= refused && logged > refused / 3, `${logged} of ${refused}`);
  assert.ok(!stderr.includes(key) && !stderr.includes(secret));
});
