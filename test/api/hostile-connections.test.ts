/** Clients that send what is costly to refuse, pipeline requests, or never close their connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRouteTable } from '../../src/http/route-table.ts';
import { cleanUp } from '../context.ts';
import { assertError, openListeningShop, openShop } from '../helper.ts';

/** Of this process: other work on the machine does not count. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test('A path of thousands of malformed segments is refused without decoding them', () => {
  const table = createRouteTable([{ method: 'GET', path: '/v2/cheeses/:cheeseId' }]);
  const path = '/%'.repeat(7600);
  const before = process.cpuUsage();
  for (let count = 0; count < 100; count += 1) {
    assert.deepEqual(table.methodsOf(path), []);
  }
  // Decoding took 25 ms or more for each.
  assert.ok(cpuMsSince(before) < 1000);
  assert.deepEqual(table.methodsOf('/v2/cheeses/%31/'), ['GET', 'OPTIONS']);
  assert.deepEqual(table.methodsOf('/v2/cheeses/%'), []);
});

test('Requests to unknown paths are counted by client IP', async (t) => {
  const limits = '{"perMinute":100,"accountsPerMinute":100,"publicPerMinute":3}';
  const shop = await openShop(t, { settings: { CURD_ADDRESS_LIMITS: limits } });
  for (let count = 0; count < 3; count += 1) {
    assertError(await shop.request('GET', '/v2/nothing'), 404, 'not_found');
  }
  const response = await shop.request('GET', '/v2/nothing');
  assertError(response, 429, 'rate_limit_exceeded');
  assert.match(response.headers['retry-after'] ?? '', /^[1-9]\d*$/);
});

test('A form of half a million empty fields is refused without parsing it', async (t) => {
  const shop = await openShop(t);
  for (const [contentType, raw] of [
    ['application/x-www-form-urlencoded', 'a&'.repeat(524_000)],
    ['multipart/form-data; boundary=x', '--x\r\n\r\n\r\n'.repeat(100_000)],
  ] as const) {
    const before = process.cpuUsage();
    const response = await shop.request('POST', '/v2/cheeses/1', {
      as: shop.writer,
      headers: { 'content-type': contentType },
      raw,
    });
    assertError(response, 422, 'validation_error');
    assert.match(response.json.errors[0].message, /at most 100 fields/);
    // Parsing took three seconds.
    assert.ok(cpuMsSince(before) < 1500, contentType);
  }
});

test('A session does not lift the limit of registrations from a client IP', async (t) => {
  const limits = '{"perMinute":100,"accountsPerMinute":6,"publicPerMinute":100}';
  const shop = await openShop(t, { settings: { CURD_ADDRESS_LIMITS: limits } });
  const password = 'correct horse battery staple';
  const customer = (name: string) => ({ username: name, email: `${name}@example.com`, password });
  assert.equal((await shop.request('POST', '/v2/customer', { body: customer('ada') })).status, 201);
  const login = await shop.request('POST', '/v2/customer/login', { body: { username: 'ada', password } });
  const headers = { authorization: `Bearer ${login.json.token}` };
  const batch = (...names: string[]) =>
    shop.request('POST', '/v2/customer/createMultiple', { headers, body: names.map(customer) });
  assert.equal((await batch('b', 'c')).status, 200);
  assertError(await batch('d', 'e', 'f', 'g'), 429, 'rate_limit_exceeded');
  // An account with a plan registers for its customers.
  const registered = await shop.request('POST', '/v2/customer/createMultiple', {
    as: shop.reader,
    body: ['d', 'e', 'f', 'g', 'h', 'i', 'j'].map(customer),
  });
  assert.equal(registered.status, 200, registered.text);
});

test('Pipelined requests are processed one after the other', async (t) => {
  const shop = await openListeningShop(t);
  const socket = connect(shop.port, '127.0.0.1');
  cleanUp(t, () => socket.destroy());
  const body = '{"name":"Brie"}';
  const head = `Host: shop\r\nX-API-Key: ${shop.writer}\r\n`;
  const post = `POST /v2/cheeses HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const get = `GET /v2/cheeses HTTP/1.1\r\n${head}\r\n`;
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'connect');
  socket.write(post + get);
  while (!/"total":\d+/.test(text)) {
    await once(socket, 'data');
  }
  // Handled at the same time, the list would have been read before the cheese was committed.
  assert.match(text, /"total":1/);
});

test('Clients that time out and do not close their connection lose their place', async (t) => {
  const shop = await openListeningShop(t, {
    settings: { CURD_MAX_CONNECTIONS: '5', CURD_HEADERS_TIMEOUT: '1s' },
  });
  for (let count = 0; count < 5; count += 1) {
    const socket = connect({ port: shop.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    cleanUp(t, () => socket.destroy());
    await once(socket, 'connect');
    socket.write('GET /healthz HTTP/1.1\r\nHost: shop\r\n');
  }
  const isOpen = () =>
    fetch(`${shop.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  assert.equal(await isOpen(), false);
  const deadline = performance.now() + 60_000;
  while (!(await isOpen())) {
    assert.ok(performance.now() < deadline, 'the connections are still open');
    await sleep(250);
  }
});
