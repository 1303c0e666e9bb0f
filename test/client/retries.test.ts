/** The client repeats requests: never twice in effect, and never longer than the caller accepts. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { suite, test } from 'node:test';
import {
  Conflict,
  ConnectionFailed,
  Curd,
  type CurdError,
  etagOf,
  isCurdError,
  NotFound,
  PreconditionFailed,
  Unauthorized,
} from '../../client/src/index.ts';
import { bern, shared, testClock, until } from '../context.ts';
import { openListeningShop } from '../helper.ts';
import { openProxy } from './proxy.ts';

const shop = shared((t) => openListeningShop(t));

/** The error of a promise that must reject. */
async function errorOf(promise: PromiseLike<unknown>): Promise<CurdError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(isCurdError(error), String(error));
    return error;
  }
  assert.fail('it did not reject');
}

let names = 0;
async function addCheese(curd: Curd) {
  names += 1;
  return curd.cheeses.create({ name: `Brie ${names}`, pricePerKg: 20 });
}

suite('The client', { concurrency: true }, () => {
  test('The client places 200 orders exactly once through a proxy that loses the response of every third POST', async (t) => {
    const keys = new Set<unknown>();
    // A repetition arrives: else some of 200 requests at once would lose four responses in a row.
    const lose = (_: number, { method, headers }: IncomingMessage) => {
      const isFirst = method === 'POST' && !keys.has(headers['idempotency-key']);
      keys.add(headers['idempotency-key']);
      return { loseResponse: isFirst && keys.size % 3 === 0 };
    };
    const own = await openListeningShop(t);
    const proxy = await openProxy(t, own.url, lose);
    const curd = new Curd({ baseUrl: proxy.url, apiKey: own.admin });
    const cheese = await addCheese(new Curd({ baseUrl: own.url, apiKey: own.admin }));
    const { total: before } = await curd.orders.list();
    const placed = await Promise.all(
      Array.from({ length: 200 }, () =>
        curd.orders.place({ items: [{ cheeseId: cheese.id, quantity: 1 }], shippingAddress: bern }),
      ),
    );
    assert.equal(new Set(placed.map(({ id }) => id)).size, 200);
    assert.equal((await curd.orders.list()).total, before + 200);
    assert.ok(proxy.requests.length > 250, 'responses were lost');
    assert.ok(proxy.maxAtOnce() <= 32, `${proxy.maxAtOnce()} requests at once`);
  });

  test('The client waits as long as Retry-After says', async (t) => {
    const refuse = { status: 503, headers: { 'Retry-After': '2' } };
    const proxy = await openProxy(t, shop().url, (number) => (number === 1 ? { refuse } : undefined));
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop().reader });
    const start = performance.now();
    await curd.inventory.get();
    assert.ok(performance.now() - start >= 1990, String(performance.now() - start));
    assert.equal(proxy.requests.length, 2);
  });

  test('The client reports a Retry-After above maxWaitMs at once', async (t) => {
    const body = JSON.stringify({ code: 503, type: 'unavailable', message: 'The disk is full.' });
    const headers = { 'Retry-After': '600', 'X-Request-Id': 'r1', 'Content-Type': 'application/json' };
    const proxy = await openProxy(t, shop().url, () => ({ refuse: { status: 503, headers, body } }));
    const error = await errorOf(new Curd({ baseUrl: proxy.url }).inventory.get());
    assert.equal(proxy.requests.length, 1);
    assert.equal(error.name, 'Unavailable');
    assert.equal(error.message, 'The disk is full.');
    const { status, type, requestId, retryAfterSeconds, attempts, method, path, errors } = error;
    assert.deepEqual(
      { status, type, requestId, retryAfterSeconds, attempts, method, path, errors },
      {
        status: 503,
        type: 'unavailable',
        requestId: 'r1',
        retryAfterSeconds: 600,
        attempts: 1,
        method: 'GET',
        path: '/v2/store/inventory',
        errors: [],
      },
    );
  });

  for (const status of [408, 429, 500, 502, 503, 504, 409]) {
    test(`The client repeats a ${status} three times, and the error says 4 attempts`, async (t) => {
      const proxy = await openProxy(t, shop().url, () => ({
        refuse: { status, headers: { 'Retry-After': '0' } },
      }));
      const error = await errorOf(new Curd({ baseUrl: proxy.url }).cheeses.delete(1));
      assert.deepEqual([error.status, error.attempts, proxy.requests.length], [status, 4, 4]);
    });
  }

  test('The client reports other statuses at once, and a 409 without Retry-After', async (t) => {
    for (const status of [400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 501]) {
      const proxy = await openProxy(t, shop().url, () => ({ refuse: { status } }));
      const error = await errorOf(new Curd({ baseUrl: proxy.url }).inventory.get());
      assert.deepEqual([error.status, error.attempts, proxy.requests.length], [status, 1, 1]);
    }
  });

  test('The client with the limits of the plan free keeps 12 requests in a row below the rate limit', async (t) => {
    const clock = testClock();
    const own = await openListeningShop(t, {
      clock,
      settings: { CURD_PLANS: '{"enterprise":{"perHour":100,"burst":10}}' },
    });
    const proxy = await openProxy(t, own.url);
    const curd = new Curd({ baseUrl: proxy.url, apiKey: await own.createKey() });
    const refused = until(async () => proxy.statuses.includes(429)).then(() => clock.advance(1000));
    for (let number = 0; number < 12; number += 1) {
      await curd.inventory.get();
    }
    await refused;
    assert.deepEqual(proxy.statuses, [...Array(10).fill(200), 429, 200, 200]);
    const { hour, burst } = curd.rateLimit;
    assert.ok(hour !== undefined && hour.remaining <= 88 && hour.resetSeconds > 0);
    assert.ok(burst !== undefined && burst.remaining < 10);
  });

  test('The client resolves a DELETE whose response was lost, and rejects one of a cheese that never existed', async (t) => {
    const proxy = await openProxy(t, shop().url, (number) => ({ loseResponse: number === 1 }));
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop().writer });
    const cheese = await addCheese(new Curd({ baseUrl: shop().url, apiKey: shop().writer }));
    assert.equal(await curd.cheeses.delete(cheese.id), undefined);
    assert.equal(proxy.requests.length, 2);
    const error = await errorOf(curd.cheeses.delete(cheese.id));
    assert.ok(error instanceof NotFound && error.attempts === 1);
  });

  test('The client resolves a logout whose response was lost', async (t) => {
    const direct = new Curd({ baseUrl: shop().url });
    await direct.customers.register({
      username: 'lea',
      email: 'lea@example.com',
      password: 'a cheese a day',
    });
    for (const verb of ['logout', 'logoutSafely'] as const) {
      const proxy = await openProxy(t, shop().url, (number) => ({ loseResponse: number === 1 }));
      const { token } = await direct.customers.login({ username: 'lea', password: 'a cheese a day' });
      const curd = new Curd({ baseUrl: proxy.url, session: token });
      await curd.customers[verb]();
      const error = await errorOf(curd.customers[verb]());
      assert.ok(error instanceof Unauthorized, 'a session that had ended before the first attempt');
    }
  });

  test('The client says by attempts that a change with ifMatch may have succeeded', async (t) => {
    const direct = new Curd({ baseUrl: shop().url, apiKey: shop().writer });
    const cheese = await addCheese(direct);
    const ifMatch = etagOf(cheese);
    assert.match(ifMatch ?? '', /^"/);
    const proxy = await openProxy(t, shop().url, (number) => ({ loseResponse: number === 1 }));
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop().writer });
    const error = await errorOf(curd.cheeses.replace({ ...cheese, pricePerKg: 21 }, { ifMatch }));
    assert.ok(error instanceof PreconditionFailed);
    assert.equal(error.attempts, 2);
  });

  test('The client sends one idempotency key for all attempts, or that of the caller', async (t) => {
    const keys: (string | undefined)[] = [];
    const refuse = { status: 503, headers: { 'Retry-After': '0' } };
    const proxy = await openProxy(t, shop().url, (_, { headers }) => {
      keys.push(headers['idempotency-key'] as string | undefined);
      return { refuse };
    });
    const curd = new Curd({ baseUrl: proxy.url, maxRetries: 1 });
    await errorOf(curd.customers.logoutSafely());
    await errorOf(curd.customers.logoutSafely({ idempotencyKey: 'mine' }));
    await errorOf(curd.inventory.get());
    assert.match(keys[0] ?? '', /^[\da-f]{32}$/);
    assert.deepEqual(keys, [keys[0], keys[0], 'mine', 'mine', undefined, undefined]);
  });

  test('The client reports a server that cannot be reached', async () => {
    const curd = new Curd({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', maxRetries: 1 });
    const error = await errorOf(curd.inventory.get());
    assert.ok(error instanceof ConnectionFailed);
    assert.deepEqual([error.status, error.type, error.attempts], [0, 'connection_failed', 2]);
    assert.match(error.message, /^No response from http:\/\/127\.0\.0\.1:9 after 2 attempts: /);
    assert.ok(error.cause instanceof Error);
    assert.doesNotMatch(error.message, /idempotencyKey/);
    const unsent = await errorOf(curd.customers.logoutSafely({ idempotencyKey: 'mine' }));
    assert.match(
      unsent.message,
      /may have been carried out\. Send the same request again with the idempotencyKey/,
    );
  });

  test('The client ends an attempt after timeoutMs, and repeats it', async (t) => {
    const proxy = await openProxy(t, shop().url, (number) => ({ delayMs: number === 1 ? 60_000 : 0 }));
    const curd = new Curd({ baseUrl: proxy.url, apiKey: shop().reader });
    await curd.inventory.get({ timeoutMs: 2000 });
    assert.equal(proxy.requests.length, 2);
  });

  test('The client rejects with the reason of the signal, while it sends, waits and queues', async (t) => {
    const refuse = { status: 503, headers: { 'Retry-After': '15' } };
    const proxy = await openProxy(t, shop().url, (number) =>
      number === 1 ? { delayMs: 60_000 } : { refuse },
    );
    const curd = new Curd({ baseUrl: proxy.url, maxConcurrency: 1 });
    const controllers = Array.from({ length: 3 }, () => new AbortController());
    const rejected = controllers.map(({ signal }) =>
      assert.rejects(curd.inventory.get({ signal }), { name: 'AbortError' }),
    );
    await until(async () => proxy.requests.length === 1);
    controllers[1]?.abort();
    await rejected[1];
    assert.equal(proxy.requests.length, 1, 'it was still in the queue');
    controllers[0]?.abort();
    await rejected[0];
    await until(async () => proxy.requests.length === 2);
    controllers[2]?.abort();
    await rejected[2];
    await assert.rejects(curd.inventory.get({ signal: AbortSignal.abort() }), { name: 'AbortError' });
    assert.equal(proxy.requests.length, 2);
  });

  test('The client asks for a new token once after a 401 with invalid_token', async (t) => {
    const sent: (string | undefined)[] = [];
    const proxy = await openProxy(t, shop().url, (_, { headers }) => {
      sent.push(headers.authorization);
      return undefined;
    });
    const tokens = ['unknown', shop().reader, 'unknown', 'unknown too'];
    const curd = new Curd({ baseUrl: proxy.url, token: async () => tokens[sent.length] ?? '' });
    await curd.inventory.get();
    const error = await errorOf(curd.inventory.get());
    assert.ok(error instanceof Unauthorized);
    assert.deepEqual(
      sent,
      tokens.map((token) => `Bearer ${token}`),
    );
  });

  test('The client keeps several copies of its package apart from other errors', () => {
    assert.equal(isCurdError(new Error('conflict')), false);
    assert.equal(isCurdError(null), false);
    const error = new Conflict('m', { type: 'conflict' } as CurdError);
    assert.ok(isCurdError(error, 'conflict') && !isCurdError(error, 'not_found'));
    assert.ok(isCurdError({ type: 'conflict', [Symbol.for('@curd/client.error')]: true }, 'conflict'));
  });
});
