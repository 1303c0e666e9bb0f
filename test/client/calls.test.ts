/** What an operation accepts and reports besides its body: dry runs, hooks, metadata, and views for customers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  type Attempt,
  Curd,
  isCurdError,
  metadataOf,
  type Query,
  type Retry,
  type Warning,
} from '../../client/src/index.ts';
import { version } from '../../client/src/version.ts';
import { bern, shared } from '../context.ts';
import { read } from '../gates/sources.ts';
import { openListeningShop } from '../helper.ts';
import { openProxy } from './proxy.ts';

const shop = shared((t) => openListeningShop(t));

const open = (options: object = {}) => new Curd({ baseUrl: shop().url, apiKey: shop().admin, ...options });

let names = 0;
const addCheese = (curd: Curd) => {
  names += 1;
  return curd.cheeses.create({ name: `Tilsiter ${names}`, pricePerKg: 12.5 });
};

suite('A dry run of the client', () => {
  test('A dry run of the client returns what the operation would return, or its effects, and changes nothing', async () => {
    const curd = open();
    const cheese = await addCheese(curd);
    const body = { items: [{ cheeseId: cheese.id, quantity: 4 }], shippingAddress: bern };
    const { total: before } = await curd.orders.list();
    const quote = await curd.orders.quote(body);
    assert.deepEqual([quote.total, quote.problems], [50, []]);
    const placed = await curd.orders.place(body, { dryRun: true });
    assert.equal(placed.total, 50);
    assert.equal((await curd.orders.list()).total, before);
    const effects = await curd.cheeses.delete(cheese.id, { dryRun: 'effects' });
    assert.equal(effects.status, 204);
    assert.deepEqual(
      effects.effects.map(({ type }) => type),
      ['cheese.deleted'],
    );
    assert.equal((await curd.cheeses.get(cheese.id)).name, cheese.name);
    const real = await curd.orders.place(body, { dryRun: false });
    assert.ok(real.id > 0);
  });

  test('A dry run of the client rejects when a proxy made it a real request, and says that the change was made', async (t) => {
    const proxy = await openProxy(t, shop().url, (_, { headers }) => {
      delete headers['dry-run'];
      return undefined;
    });
    const curd = open({ baseUrl: proxy.url });
    await assert.rejects(curd.cheeses.create({ name: 'Not dry' }, { dryRun: true }), {
      message: /^POST \/v2\/cheeses was not a dry run: .*Undo the change\.$/,
    });
  });
});

suite('A result of the client', () => {
  test('A result of the client has the metadata of its response, which does not change its JSON', async () => {
    const curd = open();
    const idempotencyKey = `once-${names}`;
    const input = { name: 'Metadata', pricePerKg: 3 };
    const first = await curd.cheeses.create(input, { idempotencyKey });
    const again = await curd.cheeses.create(input, { idempotencyKey });
    assert.equal(again.id, first.id);
    const metadata = metadataOf(again);
    assert.match(metadata?.requestId ?? '', /^[\w-]{20,}$/);
    assert.deepEqual([metadata?.status, metadata?.isReplay, metadata?.attempts], [201, true, 1]);
    assert.equal(metadataOf(first)?.isReplay, false);
    assert.ok((metadata?.rateLimit.burst?.remaining ?? 0) > 0);
    assert.deepEqual(Object.keys(again), Object.keys(first));
    const page = await curd.cheeses.list({ limit: 1 });
    assert.equal(metadataOf(page)?.status, 200);
    assert.equal(metadataOf({}), undefined);
  });

  test('A result of the client has its exact type for a list with facets and for changes', async () => {
    const curd = open();
    const { facets } = await curd.cheeses.list({ limit: 1, facets: ['status'] });
    assert.ok((facets.status?.values.length ?? 0) > 0);
    const filters: Query<'listCheeses'> = { limit: 1, facets: ['status'] };
    const page = await curd.cheeses.list(filters);
    assert.deepEqual(page.facets?.status?.values, facets.status?.values);
    for await (const change of curd.cheeses.listChanges()) {
      assert.equal(
        typeof (change.deleted ? change.id : change.cheese.name),
        change.deleted ? 'number' : 'string',
      );
    }
  });
});

suite('Hooks of the client', () => {
  test('Hooks of the client see each attempt and repetition, and may change headers', async (t) => {
    const proxy = await openProxy(t, shop().url, (number) =>
      number === 1 ? { refuse: { status: 503, headers: { 'Retry-After': '0' } } } : undefined,
    );
    const seen: unknown[] = [];
    const curd = open({
      baseUrl: proxy.url,
      beforeAttempt: ({ number, headers }: Attempt) => {
        seen.push(['before', number, headers['user-agent']]);
        headers['x-request-id'] = `hook-${number}`;
      },
      afterAttempt: ({ number }: Attempt, { response }: { response?: Response }) =>
        seen.push(['after', number, response?.status]),
      onRetry: ({ number }: Attempt, { response, delayMs }: Retry) =>
        seen.push(['retry', number, response?.status, delayMs]),
    });
    const page = await curd.cheeses.list({ limit: 1 });
    const agent = `curd-client/${version}`;
    assert.deepEqual(seen, [
      ['before', 1, agent],
      ['after', 1, 503],
      ['retry', 1, 503, 0],
      ['before', 2, agent],
      ['after', 2, 200],
    ]);
    assert.deepEqual([metadataOf(page)?.attempts, metadataOf(page)?.requestId], [2, 'hook-2']);
  });

  test('Hooks of the client receive the members of a body that the server ignored, also with an error', async () => {
    const seen: unknown[] = [];
    const curd = open({
      onWarning: ({ method }: Attempt, { ignored }: Warning) => seen.push([method, ignored]),
    });
    const body = { name: 'Mimolette', 'colour, é': 'orange', tags: [{ name: 'cow', spots: 3 }] };
    await curd.cheeses.create(body);
    const warned = ['POST', ['colour, é', 'tags[0].spots']];
    assert.deepEqual(seen, [warned]);
    await assert.rejects(curd.cheeses.create(body), { status: 409 });
    assert.deepEqual(seen, [warned, warned]);
    await curd.cheeses.create({ name: 'Mimolette, old' });
    assert.equal(seen.length, 2);
  });

  test('Hooks of the client include a fetch of the caller, and errors that it throws are failed connections', async () => {
    const urls: string[] = [];
    const recording: typeof fetch = (url, init) => {
      urls.push(String(url));
      return fetch(url, init);
    };
    await open({ fetch: recording }).inventory.get();
    assert.deepEqual(urls, [`${shop().url}/v2/store/inventory`]);
    const failing = open({ fetch: () => Promise.reject(new Error('no route')), maxRetries: 0 });
    await assert.rejects(failing.inventory.get(), { name: 'ConnectionFailed', message: /no route/ });
  });

  test('Hooks of the client that throw reject the operation, which is not sent again', async () => {
    let calls = 0;
    const beforeAttempt = () => {
      calls += 1;
      throw new RangeError('a hook');
    };
    await assert.rejects(open({ beforeAttempt }).inventory.get(), RangeError);
    assert.equal(calls, 1);
  });

  test('Hooks of the client report the version of the package', () => {
    assert.equal(version, JSON.parse(read('client/package.json')).version);
  });
});

test('After failed retries, the error has the idempotency key, and the same key places the order once', async (t) => {
  const proxy = await openProxy(t, shop().url, () => ({ loseResponse: true }));
  const curd = open();
  const cheese = await addCheese(curd);
  const body = { items: [{ cheeseId: cheese.id, quantity: 1 }], shippingAddress: bern };
  const { total: before } = await curd.orders.list();
  const error = await open({ baseUrl: proxy.url, maxRetries: 1 })
    .orders.place(body)
    .then(
      () => assert.fail('it was placed'),
      (reason: unknown) => reason,
    );
  assert.ok(isCurdError(error, 'connection_failed'));
  const { idempotencyKey } = error;
  assert.match(idempotencyKey ?? '', /^[\da-f]{32}$/);
  const order = await curd.orders.place(body, { idempotencyKey });
  assert.equal(metadataOf(order)?.isReplay, true);
  assert.equal((await curd.orders.list()).total, before + 1);
});

test('curd.as(session) acts for the customer, with the limits and the queue of its client', async (t) => {
  const proxy = await openProxy(t, shop().url);
  const curd = open({ baseUrl: proxy.url, maxConcurrency: 2 });
  const login = { username: 'bea', password: 'a cheese a day' };
  await curd.customers.register({ ...login, email: 'bea@example.com' });
  const { token } = await curd.customers.login(login);
  const bea = curd.as(token);
  assert.equal((await bea.credential.explain()).customer, 'bea');
  assert.equal((await curd.credential.explain()).customer, null);
  assert.deepEqual(curd.rateLimit, bea.rateLimit);
  const views = Array.from({ length: 10 }, () => curd.as(token));
  await Promise.all(views.map((view) => view.credential.explain()));
  assert.ok(proxy.maxAtOnce() <= 2);
  assert.throws(() => bea.as(token), TypeError);
  assert.throws(() => new Curd({ baseUrl: shop().url, session: token }).as(token), TypeError);
});
