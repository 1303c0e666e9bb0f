/** What needs a real connection: bytes that are not HTTP, bodies that are too large, and the public pages. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, openListeningShop, until } from '../helper.ts';

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends bytes and reads until the server closes the connection. A reset connection is an error, as for a client. */
function exchange(t: TestContext, port: number, bytes: string | readonly string[]): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    cleanUp(t, () => socket.destroy());
    socket.setTimeout(5000, () => socket.destroy(new Error('no response in 5 s')));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('end', () => resolve(parse(text)));
    for (const part of typeof bytes === 'string' ? [bytes] : bytes) {
      socket.write(part);
    }
  });
}

function parse(text: string): Reply {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
  };
}

function requestOf(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: shop', 'Connection: close', ...headers, '', body].join('\r\n');
}

/** The error body and the request id, which every error response has. */
function assertErrorReply({ status, headers, body }: Reply, expected: number, type: string): void {
  assert.equal(status, expected, body);
  assert.match(headers['content-type'] ?? '', /^application\/json/, `no JSON with ${status}`);
  // Responses of 400 to a parameter also name the field.
  const { message, errors, ...rest } = JSON.parse(body);
  assert.ok(errors === undefined || expected === 400);
  assert.deepEqual(rest, { code: expected, type });
  assert.ok(typeof message === 'string' && message !== '');
  assert.match(headers['x-request-id'] ?? '', /^[A-Za-z0-9._-]+$/);
}

test('Bytes that are not HTTP get 400 with the usual error body, and the connection closes', async (t) => {
  const { port } = await openListeningShop(t);
  const chunked = 'Transfer-Encoding: chunked';
  for (const bytes of [
    'NONSENSE\r\n\r\n',
    '\u0016\u0003\u0001\u0002\r\n\r\n',
    'GET /healthz HTTP/9.9\r\nHost: shop\r\n\r\n',
    'GET /health z HTTP/1.1\r\nHost: shop\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    requestOf('GET /healthz', ['no colon']),
    requestOf('GET /healthz', ['spaced : out']),
    requestOf('GET /healthz', ['nul: \0']),
    requestOf('POST /v2/cheeses', ['Content-Length: many']),
    requestOf('POST /v2/cheeses', ['Content-Length: -1']),
    requestOf('POST /v2/cheeses', ['Content-Length: 1', 'Content-Length: 2'], '{}'),
    requestOf('POST /v2/cheeses', ['Content-Length: 5', chunked], '0\r\n\r\n'),
    requestOf('POST /v2/cheeses', ['Transfer-Encoding: nonsense'], '{}'),
  ]) {
    const reply = await exchange(t, port, bytes);
    assert.notEqual(reply.status, 200, JSON.stringify(bytes));
    assertErrorReply(reply, 400, 'bad_request');
    assert.equal(reply.headers.connection, 'close');
  }
});

test('A broken chunk in a body gets one 400', async (t) => {
  const shop = await openListeningShop(t);
  const { port } = shop;
  const headers = [`X-API-Key: ${shop.writer}`, 'Transfer-Encoding: chunked'];
  const reply = await exchange(t, port, requestOf('POST /v2/cheeses', headers, 'ZZ\r\nbroken\r\n'));
  assertErrorReply(reply, 400, 'bad_request');
});

test('HTTP/1.1 without Host gets 400 with the usual error body; HTTP/1.0 needs no Host', async (t) => {
  const { port } = await openListeningShop(t);
  const missing = await exchange(t, port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n');
  assertErrorReply(missing, 400, 'bad_request');
  assert.equal((await exchange(t, port, 'GET /healthz HTTP/1.0\r\n\r\n')).status, 200);
  assert.equal((await exchange(t, port, requestOf('GET /healthz'))).status, 200);
});

test('Headers or a URL above 16 KiB get 431 with the usual error body; a URL below that is 404', async (t) => {
  const shop = await openListeningShop(t);
  const { port } = shop;
  const long = 'x'.repeat(20_000);
  const key = `X-API-Key: ${shop.reader}`;
  for (const request of [
    requestOf('GET /healthz', [`X-Long: ${long}`]),
    requestOf('GET /healthz', [`${long}: 1`]),
    requestOf(
      'GET /healthz',
      Array.from({ length: 500 }, (_, index) => `X-${index}: ${'y'.repeat(40)}`),
    ),
    requestOf(`GET /${long}`),
    requestOf(`GET /v2/cheeses?q=${long}`, [key]),
  ]) {
    assertErrorReply(await exchange(t, port, request), 431, 'header_fields_too_large');
  }
  for (const path of [`/${'x'.repeat(15_000)}`, `/v2/cheeses/${'1'.repeat(4000)}`]) {
    assertErrorReply(await exchange(t, port, requestOf(`GET ${path}`, [key])), 404, 'not_found');
  }
  const query = await exchange(t, port, requestOf(`GET /v2/cheeses?q=${'x'.repeat(15_000)}`, [key]));
  assertErrorReply(query, 400, 'bad_request');
});

test('An expectation other than 100-continue gets 417 with the usual error body', async (t) => {
  const shop = await openListeningShop(t);
  const { port } = shop;
  const body = '{"name":"Brie"}';
  const headers = [`X-API-Key: ${shop.writer}`, `Content-Length: ${body.length}`];
  const refused = await exchange(
    t,
    port,
    requestOf('POST /v2/cheeses', [...headers, 'Expect: nonsense'], body),
  );
  assertErrorReply(refused, 417, 'expectation_failed');
  const expecting = [...headers, 'Expect: 100-continue'];
  const taken = await exchange(t, port, requestOf('POST /v2/cheeses', expecting, body));
  assert.equal(taken.status, 100);
  assert.match(taken.body, /^HTTP\/1\.1 201 /);
});

test('A request that takes too long gets 408 with the usual error body', async (t) => {
  const shop = await openListeningShop(t);
  const { port } = shop;
  // Node looks for late requests every 30 s; the test reports one in its place.
  shop.app.server.server.once('connection', (socket: Socket) => {
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    setImmediate(() => shop.app.server.server.emit('clientError', late, socket));
  });
  assertErrorReply(await exchange(t, port, 'GET /heal'), 408, 'request_timeout');
});

test('A body of 2 MB gets a response and no reset, with Content-Length or in chunks', async (t) => {
  const shop = await openListeningShop(t);
  const { port } = shop;
  const body = JSON.stringify({ name: 'x'.repeat(2 * 1024 * 1024) });
  const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
  const chunks = [...Array.from({ length: 32 }, () => chunk), '0\r\n\r\n'];
  const announced = `Content-Length: ${body.length}`;
  const key = `X-API-Key: ${shop.writer}`;
  for (let round = 0; round < 5; round += 1) {
    const large = [requestOf('POST /v2/cheeses', [key, announced]), body];
    assertErrorReply(await exchange(t, port, large), 413, 'payload_too_large');
    const streamed = [requestOf('POST /v2/cheeses', [key, 'Transfer-Encoding: chunked']), ...chunks];
    assertErrorReply(await exchange(t, port, streamed), 413, 'payload_too_large');
    const unknown = [requestOf('POST /v2/cheeses', [announced]), body];
    assertErrorReply(await exchange(t, port, unknown), 401, 'unauthorized');
    const text = [requestOf('POST /v2/cheeses', [key, announced, 'Content-Type: text/plain']), body];
    assertErrorReply(await exchange(t, port, text), 415, 'unsupported_media_type');
  }
  const { status } = await shop.request('GET', '/v2/cheeses', { as: shop.reader });
  assert.equal(status, 200);
});

test('A body of 2 MB gets 404 for an unknown path, and 405 for a method that the path does not have', async (t) => {
  const { port } = await openListeningShop(t);
  const body = 'x'.repeat(2 * 1024 * 1024);
  const announced = `Content-Length: ${body.length}`;
  const nowhere = await exchange(t, port, [requestOf('POST /nowhere', [announced]), body]);
  assertErrorReply(nowhere, 404, 'not_found');
  for (const line of ['PATCH /v2/cheeses', 'POST /v2/cheeses/findByStatus']) {
    const noMethod = await exchange(t, port, [requestOf(line, [announced]), body]);
    assertErrorReply(noMethod, 405, 'method_not_allowed');
  }
});

test('The response to bytes that are not HTTP names the environment', async (t) => {
  const { port } = await openListeningShop(t);
  for (const bytes of ['NONSENSE\r\n\r\n', requestOf('GET /healthz', [`X-Long: ${'x'.repeat(20_000)}`])]) {
    const { status, headers } = await exchange(t, port, bytes);
    assert.ok([400, 431].includes(status));
    assert.equal(headers['x-environment'], 'local');
  }
});

test('A connection serves many requests, and stays open after one that fails', async (t) => {
  const shop = await openListeningShop(t);
  const { port } = shop;
  const keptOpen = (path: string) => `GET ${path} HTTP/1.1\r\nHost: shop\r\n\r\n`;
  const last = requestOf('GET /v2/cheeses', [`X-API-Key: ${shop.reader}`]);
  const reply = await exchange(t, port, [keptOpen('/nope'), keptOpen('/v2/cheeses'), keptOpen('/%zz'), last]);
  assert.equal(reply.status, 404);
  assert.deepEqual(reply.body.match(/HTTP\/1\.1 \d{3}/g), ['HTTP/1.1 401', 'HTTP/1.1 404', 'HTTP/1.1 200']);
});

test('The public pages are served over a real connection, with any credential or none', async (t) => {
  const { port } = await openListeningShop(t);
  for (const [path, type, content] of [
    ['/healthz', 'application/json', /^\{"status":"ok"\}$/],
    ['/readyz', 'application/json', /^\{"status":"ok"\}$/],
    ['/openapi.json', 'application/json', /^\{"openapi":"3\.1\./],
    ['/v2/openapi.json', 'application/json', /^\{"openapi":"3\.1\./],
    ['/docs', 'text/html', /^<!doctype html>[\s\S]*\/openapi\.json/i],
    ['/docs/', 'text/html', /^<!doctype html>/i],
  ] as const) {
    for (const headers of [[], ['X-API-Key: nonsense', 'Authorization: nonsense']]) {
      const reply = await exchange(t, port, requestOf(`GET ${path}`, headers));
      assert.equal(reply.status, 200, path);
      assert.ok(reply.headers['content-type']?.startsWith(type), path);
      assert.match(reply.body.trim(), content);
      assert.equal(reply.headers['x-powered-by'], undefined);
      assert.equal(reply.headers['x-environment'], 'local');
    }
  }
});

test('A repeated header is refused, whether the first or the second value is valid', async (t) => {
  const shop = await openListeningShop(t);
  const { port } = shop;
  const wrong = 'Authorization: Bearer nothing';
  const right = `Authorization: Bearer ${shop.admin}`;
  const key = `X-API-Key: ${shop.admin}`;
  for (const path of ['/v2/cheeses', '/v2/limits', '/v2/whoami', '/metrics']) {
    for (const credentials of [
      [right, wrong],
      [wrong, right],
      [right, right],
      [right, 'authorization: Basic eDp5'],
      [key, key],
      [key, 'x-api-key: nothing'],
      [key, right, right],
    ]) {
      const reply = await exchange(t, port, requestOf(`GET ${path}`, credentials));
      assertErrorReply(reply, 401, 'unauthorized');
      assert.match(reply.headers['www-authenticate'] ?? '', /error="invalid_token"/);
    }
  }
  const body = '{"name":"Repeated"}';
  const create = [right, `Content-Length: ${body.length}`];
  const post = (headers: readonly string[]) =>
    exchange(t, port, requestOf('POST /v2/cheeses', [...create, ...headers], body));
  for (const headers of [
    ['Content-Type: application/json', 'Content-Type: text/plain'],
    ['Content-Type: application/json', 'content-type: application/json'],
    ['Idempotency-Key: one', 'Idempotency-Key: two'],
    ['Idempotency-Key: "one"', 'Idempotency-Key: "one"'],
  ]) {
    assertErrorReply(await post(headers), 400, 'bad_request');
  }
  for (const path of ['/v2/cheeses', '/healthz', '/oauth/authorize']) {
    assertErrorReply(
      await exchange(t, port, requestOf(`GET ${path}`, [right, 'Host: other'])),
      400,
      'bad_request',
    );
  }
  assert.equal((await post(['Content-Type: application/json'])).status, 201, 'nothing was created before');
});

test('Several If-Match headers are one list of tags', async (t) => {
  const shop = await openListeningShop(t);
  const { json, headers } = await shop.request('POST', '/v2/cheeses', {
    as: shop.writer,
    body: { name: 'Listed' },
  });
  const change = (tags: readonly string[]) =>
    exchange(
      t,
      shop.port,
      requestOf(`POST /v2/cheeses/${json.id}?status=sold`, [
        `X-API-Key: ${shop.writer}`,
        ...tags.map((tag) => `If-Match: ${tag}`),
      ]),
    );
  assertErrorReply(await change(['"other"', '"another"']), 412, 'precondition_failed');
  assert.equal((await change(['"other"', headers.etag ?? ''])).status, 200);
});

test('Two Authorization headers are invalid_request at the OAuth endpoints', async (t) => {
  const { port } = await openListeningShop(t);
  const form = 'grant_type=client_credentials';
  for (const name of ['token', 'revoke', 'introspect']) {
    const headers = [
      'Authorization: Basic eDp5',
      'Authorization: Basic eDp6',
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${form.length}`,
    ];
    const reply = await exchange(t, port, requestOf(`POST /oauth/${name}`, headers, form));
    assert.equal(reply.status, 400);
    assert.match(reply.body, /"error":"invalid_request"/);
  }
});

test('A connection is closed within ten seconds when the rest of a refused body arrives slowly, and not when it arrives fast', async (t) => {
  const { port } = await openListeningShop(t);
  async function send(line: string, length: number, drip: boolean): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    cleanUp(t, () => socket.destroy());
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.write(`${line} HTTP/1.1\r\nHost: shop\r\nX-API-Key: none\r\nContent-Length: ${length}\r\n\r\n`);
    const startedAt = performance.now();
    if (drip) {
      while (!socket.destroyed && performance.now() - startedAt < 11_000) {
        socket.write('x');
        await sleep(200);
      }
      assert.ok(socket.destroyed, `${line} is open`);
    } else {
      await until(async () => text.includes('HTTP/1.1 401'), 'no response');
      socket.write('x'.repeat(length));
      socket.write('GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n');
      await until(async () => text.includes('HTTP/1.1 200'), 'no second response');
      await sleep(6000);
      assert.ok(!socket.destroyed);
    }
    return text;
  }
  const refused = /^HTTP\/1\.1 4\d\d /;
  for (const text of await Promise.all([
    send('POST /v2/cheeses', 10_000, true),
    send('POST /v2/cheeses/1/uploadImage', 10_000, true),
    send('POST /v2/cheeses/import', 10_000, true),
    send('POST /nowhere', 10_000, true),
    send('POST /oauth/forgot-password', 10_000, true),
    send('POST /v2/cheeses', 500_000, false),
  ])) {
    assert.match(text, refused);
  }
});
