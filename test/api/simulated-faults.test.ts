/** The header Sandbox-Simulate: simulated statuses, lost connections and delays, over real connections. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import {
  assertError,
  type ListeningShop,
  onBothEngines,
  openListeningShop,
  shared,
  until,
} from '../helper.ts';
import { newCheese, orderOf } from '../shop-verbs.ts';

interface Bytes {
  /** Everything that the server sent. */
  readonly text: string;
  /** How the connection ended for the client. */
  readonly end: 'FIN' | 'ECONNRESET';
}

interface Sent {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Sends a request on a connection that it leaves open, and reads until the server ends it. */
function send(
  shop: ListeningShop,
  line: string,
  { as = shop.admin, headers = {}, body }: Sent = {},
): Promise<Bytes> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    Host: 'shop',
    'X-API-Key': as,
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': String(text.length) }),
    ...headers,
  };
  const lines = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`);
  return new Promise((resolve, reject) => {
    // Like a client that sends its whole body before it reads.
    const socket = connect({ port: shop.port, host: '127.0.0.1', allowHalfOpen: true });
    let received = '';
    socket.setTimeout(20_000, () => socket.destroy(new Error('no end in 20 s')));
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? resolve({ text: received, end: 'ECONNRESET' }) : reject(error),
    );
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve({ text: received, end: 'FIN' }));
    socket.write(`${[`${line} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${text}`);
  });
}

const simulate = (value: string, more: Readonly<Record<string, string>> = {}) => ({
  'Sandbox-Simulate': value,
  ...more,
});
const namesIn = async (shop: ListeningShop, q: string): Promise<number> =>
  (await shop.request('GET', `/v2/cheeses?q=${q}`, { as: shop.admin })).json.total;

onBothEngines('Sandbox-Simulate', (engine) => {
  const shop = shared((t) =>
    openListeningShop(t, {
      engine,
      settings: { CURD_PLANS: '{"enterprise":{"perHour":5000,"burst":60000}}' },
    }),
  );

  async function slowRequests(): Promise<number> {
    const { text } = await shop().request('GET', '/metrics', { as: shop().admin });
    return Number(/failure="slow"\} (\d+)/.exec(text)?.[1]);
  }
  const ordersOf = async (cheeseId: number) =>
    (await shop().request('GET', '/v2/store/orders', { as: shop().admin })).json.items.filter(
      ({ items }: { items: { cheeseId: number }[] }) => items[0]?.cheeseId === cheeseId,
    );

  test('Sandbox-Simulate: drop-after places an order and sends nothing; the same key returns it', async () => {
    const cheeseId = await newCheese(shop(), { name: 'Lost response', pricePerKg: undefined });
    const sent = {
      headers: simulate('drop-after', { 'Idempotency-Key': 'lost-1' }),
      body: orderOf([[cheeseId, 2]]),
    };
    assert.deepEqual(await send(shop(), 'POST /v2/store/order', sent), { text: '', end: 'FIN' });
    const [placed, ...others] = await ordersOf(cheeseId);
    assert.deepEqual(others, []);
    const again = await shop().request('POST', '/v2/store/order', {
      as: shop().admin,
      headers: { 'idempotency-key': 'lost-1' },
      body: orderOf([[cheeseId, 2]]),
    });
    assert.equal(again.status, 201, again.text);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.equal(again.json.id, placed.id);
    assert.equal((await ordersOf(cheeseId)).length, 1);
  });

  test('Sandbox-Simulate: drop-before closes the connection and places no order', async () => {
    const cheeseId = await newCheese(shop(), { name: 'Lost request', pricePerKg: undefined });
    const sent = { headers: simulate('Drop-Before'), body: orderOf([[cheeseId, 2]]) };
    assert.deepEqual(await send(shop(), 'POST /v2/store/order', sent), { text: '', end: 'FIN' });
    assert.deepEqual(await ordersOf(cheeseId), []);
  });

  test('Sandbox-Simulate: drop-before ends a connection with FIN while the client still sends its body', async () => {
    const bytes = await send(shop(), 'POST /v2/cheeses', {
      headers: simulate('drop-before', { 'Content-Length': '9000000', 'Content-Type': 'application/json' }),
      body: { name: 'x'.repeat(8_000_000) },
    });
    assert.deepEqual(bytes, { text: '', end: 'FIN' });
  });

  test('Sandbox-Simulate: reset does the request and resets the connection', async () => {
    const sent = { headers: simulate('reset'), body: { name: 'Resetfound' } };
    assert.deepEqual(await send(shop(), 'POST /v2/cheeses', sent), { text: '', end: 'ECONNRESET' });
    assert.equal(await namesIn(shop(), 'resetfound'), 1);
  });

  test('Sandbox-Simulate: drop-after also loses the response to a request that fails', async () => {
    const sent = { headers: simulate('drop-after'), body: { name: '' } };
    assert.deepEqual(await send(shop(), 'POST /v2/cheeses', sent), { text: '', end: 'FIN' });
    const stream = await send(shop(), 'GET /v2/events/stream', { headers: simulate('drop-after') });
    assert.deepEqual(stream, { text: '', end: 'FIN' });
  });

  test('Sandbox-Simulate: truncate sends the head and half of the body of a list', async () => {
    await newCheese(shop(), { name: 'Halved', pricePerKg: undefined });
    for (const line of ['GET /v2/cheeses', 'GET /v2/cheeses/999999999']) {
      const { text, end } = await send(shop(), line, {
        headers: simulate('truncate'),
      });
      assert.equal(end, 'FIN');
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      assert.equal(body.length, Math.floor(length / 2), text);
      assert.match(head, /^x-simulated: true$/im);
      assert.throws(() => JSON.parse(body));
    }
  });

  test('Statuses of Sandbox-Simulate have the usual body and headers, and change nothing', async () => {
    const before = await namesIn(shop(), 'unmade');
    const headersByStatus: Readonly<Record<number, readonly [string, RegExp]>> = {
      401: ['www-authenticate', /error="invalid_token"/],
      403: ['www-authenticate', /scope="write:cheeses"/],
      415: ['accept', /json/],
      429: ['retry-after', /^1$/],
      503: ['retry-after', /^1$/],
    };
    for (const [status, type] of [
      [401, 'unauthorized'],
      [403, 'forbidden'],
      [404, 'not_found'],
      [409, 'conflict'],
      [412, 'precondition_failed'],
      [413, 'payload_too_large'],
      [415, 'unsupported_media_type'],
      [422, 'validation_error'],
      [429, 'rate_limit_exceeded'],
      [500, 'internal_error'],
      [502, 'bad_gateway'],
      [503, 'unavailable'],
      [504, 'gateway_timeout'],
    ] as const) {
      const response = await shop().request('POST', '/v2/cheeses', {
        as: shop().writer,
        headers: simulate(String(status)),
        body: { name: 'Unmade' },
      });
      assertError(response, status, type);
      assert.equal(response.headers['x-simulated'], 'true');
      assert.match(response.headers['x-request-id'] ?? '', /./);
      assert.equal(response.json.errors?.length, status === 422 ? 1 : undefined);
      const [name, value] = headersByStatus[status] ?? ['x-simulated', /true/];
      assert.match(response.headers[name] ?? '', value, String(status));
    }
    assert.equal(await namesIn(shop(), 'unmade'), before);
    assert.deepEqual(shop().app.http.failures.list(), [], 'simulated failures are none of the server');
  });

  test('A request with Sandbox-Simulate counts once for the rate limit', async () => {
    const key = await shop().createKey({ scopes: ['read:cheeses'] });
    const remaining = async (headers = {}) =>
      Number(
        (await shop().request('GET', '/v2/cheeses', { as: key, headers })).headers['x-ratelimit-remaining'],
      );
    const first = await remaining();
    assert.equal(await remaining(simulate('429')), first - 1);
    assert.equal(await remaining(), first - 2);
  });

  test('Sandbox-Simulate: slow delays a request, alone and before a fault, and no other request', async () => {
    const begun = performance.now();
    let isOver = false;
    const slow = shop()
      .request('GET', '/v2/cheeses', { as: shop().reader, headers: simulate('slow=400ms') })
      .finally(() => {
        isOver = true;
      });
    assert.equal((await shop().request('GET', '/v2/cheeses', { as: shop().reader })).status, 200);
    assert.equal(isOver, false);
    const { status, headers } = await slow;
    assert.deepEqual([status, headers['x-simulated']], [200, 'true']);
    assert.ok(performance.now() - begun >= 395);
    const both = await shop().request('GET', '/v2/cheeses', {
      as: shop().reader,
      headers: simulate('slow=50ms,503'),
    });
    assertError(both, 503, 'unavailable');
  });

  test('A credential that is revoked during a delay by Sandbox-Simulate is refused', async () => {
    const { keys } = shop().app.auth;
    const account = await keys.createAccount(shop().app.contextOf('test'), `revoked-${engine}`);
    const { key, id } = await keys.create(shop().app.contextOf('test'), account.id, { scopes: ['admin'] });
    const before = await slowRequests();
    const waiting = shop().request('GET', '/v2/cheeses', { as: key, headers: simulate('slow=400ms') });
    await until(async () => (await slowRequests()) > before);
    await keys.revoke(shop().app.contextOf('test'), id);
    assertError(await waiting, 401, 'unauthorized');
  });

  test('Sandbox-Simulate with unknown words, two faults or longer delays gets 400', async () => {
    for (const value of [
      '',
      '418',
      '200',
      'drop',
      'slow',
      'slow=',
      'slow=0s',
      'slow=31s',
      'slow=2',
      'slow=1s, slow=1s',
      '503, 503',
      '503, drop-after',
      'drop-before, drop-after',
      'truncate, reset',
      '503,',
      `${'x'.repeat(5000)}`,
    ]) {
      const response = await shop().request('POST', '/v2/cheeses', {
        as: shop().writer,
        headers: simulate(value),
        body: { name: 'Refused word' },
      });
      assertError(response, 400, 'bad_request');
      assert.match(response.json.message, /^Sandbox-Simulate: .*Nothing was done\.$/);
      assert.ok(response.json.message.length < 600);
      assert.equal(response.headers['x-simulated'], undefined);
    }
    assert.equal(await namesIn(shop(), 'refused'), 0);
  });

  test('A request with Sandbox-Simulate, without a credential or the scope, gets the usual refusal first', async () => {
    const none = await shop().request('POST', '/v2/cheeses', {
      headers: simulate('503'),
      body: { name: 'A' },
    });
    assertError(none, 401, 'unauthorized');
    const scope = await shop().request('POST', '/v2/cheeses', {
      as: shop().reader,
      headers: simulate('503'),
      body: { name: 'A' },
    });
    assertError(scope, 403, 'forbidden');
    for (const { headers } of [none, scope]) {
      assert.equal(headers['x-simulated'], undefined);
    }
    const media = await shop().request('POST', '/v2/cheeses', {
      as: shop().writer,
      headers: simulate('503', { 'content-type': 'text/plain' }),
      raw: 'x',
    });
    assertError(media, 503, 'unavailable');
  });

  test('Requests with Sandbox-Simulate are marked in the request log, and counted', async () => {
    const id = `simulated-${engine}`;
    // The log keeps at most 20 requests of an account within a second.
    const as = await shop().createKey();
    await send(shop(), 'GET /v2/cheeses', {
      as,
      headers: simulate('slow=1ms,drop-before', { 'X-Request-Id': id }),
    });
    await shop().request('GET', '/v2/cheeses', { as, headers: simulate('slow=1ms') });
    await shop().app.requestLog.work.run();
    const { items } = (await shop().request('GET', '/v2/requests', { as })).json;
    const kept = items.map((one: Record<string, unknown>) => [one.id === id, one.status, one.simulated]);
    assert.deepEqual(kept, [
      [false, 200, true],
      [true, 503, true],
    ]);
    const metrics = (await shop().request('GET', '/metrics', { as: shop().admin })).text;
    assert.match(metrics, /^curd_simulated_total\{failure="drop-before"\} [1-9]/m);
    assert.match(metrics, /^curd_simulated_total\{failure="slow"\} [1-9]/m);
    assert.match(metrics, /^curd_simulated_total\{failure="503"\} [1-9]/m);
  });

  test('A hundred requests can be delayed by Sandbox-Simulate at once, and end when the client leaves', async () => {
    const open = () => {
      const socket = connect({ port: shop().port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.write(
        `GET /v2/cheeses HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop().reader}\r\nSandbox-Simulate: slow=30s\r\n\r\n`,
      );
      return socket;
    };
    const delayed = Array.from({ length: 99 }, open);
    const probe = () =>
      shop().request('GET', '/v2/cheeses', { as: shop().reader, headers: simulate('slow=1ms') });
    // A probe can take the place of a request that is then refused, so others follow.
    await until(async () => {
      delayed.push(open());
      return (await probe()).status === 503;
    });
    assertError(await probe(), 503, 'unavailable');
    assert.equal((await shop().request('GET', '/v2/cheeses', { as: shop().reader })).status, 200);
    for (const socket of delayed) {
      socket.destroy();
    }
    await until(async () => (await probe()).status === 200);
  });
});

suite('Sandbox-Simulate where it is ignored', () => {
  const words = [
    '503',
    'slow=30s',
    'drop-before',
    'drop-after',
    'truncate',
    'reset',
    'nonsense',
    '',
    '503, 503',
  ];
  /** What differs between two responses to equal requests, besides the header. */
  const withoutIds = ({ text }: Bytes) =>
    text
      .replace(/^(x-request-id|date|ratelimit|x-ratelimit-\w+): .*$/gim, '$1')
      .replaceAll(/"\w*At":"[^"]*"/g, '');

  async function assertIgnored(shop: ListeningShop): Promise<void> {
    for (const [line, body] of [
      ['GET /v2/cheeses', undefined],
      ['POST /v2/cheeses', { name: '' }],
      ['GET /v2/nothing', undefined],
      ['OPTIONS /v2/cheeses', undefined],
    ] as const) {
      const close = { Connection: 'close' };
      const plain = await send(shop, line, { headers: close, body });
      assert.match(plain.text, /^HTTP/);
      for (const word of words) {
        const raw = word === '' ? ' ' : word;
        const simulated = await send(shop, line, { headers: { ...close, ...simulate(raw) }, body });
        assert.equal(withoutIds(simulated), withoutIds(plain), `${line} ${word}`);
        assert.equal(simulated.end, 'FIN');
      }
    }
    assert.doesNotMatch(
      (await shop.request('GET', '/metrics', { as: shop.admin })).text,
      /curd_simulated_total\{.*\} [1-9]/,
    );
  }

  test('Sandbox-Simulate is ignored in production, which returns the same bytes with and without the header', async (t) => {
    const settings = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example' };
    await assertIgnored(await openListeningShop(t, { settings }));
  });

  test('CURD_SIMULATE=off ignores Sandbox-Simulate outside of production', async (t) => {
    await assertIgnored(await openListeningShop(t, { settings: { CURD_SIMULATE: 'off' } }));
  });

  test('Sandbox-Simulate is ignored without a credential by an operation that needs none', async (t) => {
    const shop = await openListeningShop(t);
    const healthy = await shop.request('GET', '/healthz', { headers: simulate('503') });
    assert.equal(healthy.status, 200);
    const login = await shop.request('GET', '/v2/limits', { headers: simulate('503') });
    assert.equal(login.status, 200);
  });

  test('A server that stops ends delays by Sandbox-Simulate at once', async (t) => {
    const shop = await openListeningShop(t);
    const slow = send(shop, 'GET /v2/cheeses', { headers: simulate('slow=30s') });
    await until(async () =>
      /failure="slow"\} 1/.test((await shop.request('GET', '/metrics', { as: shop.admin })).text),
    );
    const begun = performance.now();
    await shop.app.close();
    assert.match((await slow).text, /^HTTP\/1\.1 200/);
    assert.ok(performance.now() - begun < 20_000);
  });
});
