/** The purger: every change is purged from a cache, also where the purger or the cache stops. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import type { Engine } from '../../src/database/sql.ts';
import { sql } from '../../src/database/sql.ts';
import { runPurger } from '../../src/edge/purger.ts';
import { createLog } from '../../src/log.ts';
import { assertRefused, curd, resultOf, start } from '../cli/run.ts';
import { cleanUp, onBothEngines, openShop, type Scope, type Shop, shared, until } from '../helper.ts';

/** A cache that notes the tags of each purge. */
async function openCache(t: Scope) {
  const purged: string[] = [];
  const requests: IncomingHttpHeaders[] = [];
  let status = 200;
  const server = createServer(({ method, headers }, response) => {
    assert.equal(method, 'PURGE');
    requests.push(headers);
    if (status === 200) {
      purged.push(...String(headers['xkey-purge']).split(' '));
    }
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const respondWith = (given: number) => {
    status = given;
  };
  return { url, purged, requests, respondWith };
}

type Cache = Awaited<ReturnType<typeof openCache>>;

/** Starts a purger in this process. Returns how to stop it. */
function purging({ app }: Shop, { url }: Cache, repeatMs = 50): () => Promise<void> {
  const stopping = new AbortController();
  const target = { url, method: 'PURGE', headers: {}, tagHeader: 'xkey-purge' };
  const dependencies = {
    ...app,
    log: createLog('silent'),
    events: app.events.service,
    cheeses: app.cheeses.service,
  };
  const running = runPurger(dependencies, target, stopping.signal, repeatMs);
  return async () => {
    stopping.abort();
    await running;
  };
}

async function send(shop: Shop, method: string, path: string, body?: object) {
  const headers = method === 'DELETE' ? { 'x-confirm-delete': 'true' } : {};
  const response = await shop.request(method, `/v2${path}`, {
    as: shop.writer,
    headers,
    ...(body && { body }),
  });
  assert.ok(response.status < 300, response.text);
  return response.json;
}

const times = (tags: readonly string[], tag: string) => tags.filter((one) => one === tag).length;

/** Waits until each tag was purged twice. */
const untilPurged = (cache: Cache, ...tags: string[]) =>
  until(async () => tags.every((tag) => times(cache.purged, tag) >= 2), `${tags} of ${cache.purged}`);

async function openWith(t: Scope, engine: Engine) {
  const shop = await openShop(t, { engine });
  return { shop, cache: await openCache(t) };
}

onBothEngines('The purger of a cache', (engine) => {
  const open = shared((t) => openWith(t, engine));

  test('The purger of an edge cache purges everything once, then the tags of each change, each twice', async (t) => {
    const { shop, cache } = open();
    const stop = purging(shop, cache);
    cleanUp(t, stop);
    await untilPurged(cache, 'shop');
    const { id, category } = await send(shop, 'POST', '/cheeses', {
      name: 'Brie',
      category: { name: 'Soft' },
    });
    await untilPurged(cache, 'catalogue', `cheese-${id}`, `category-${category.id}`);
    assert.equal(times(cache.purged, 'shop'), 2);

    cache.purged.length = 0;
    await send(shop, 'PATCH', `/cheeses/${id}`, { pricePerKg: 12 });
    await untilPurged(cache, 'catalogue', `cheese-${id}`, `category-${category.id}`);
    cache.purged.length = 0;
    // The old category and the new one.
    const moved = await send(shop, 'PATCH', `/cheeses/${id}`, { category: { name: 'Blue' } });
    await untilPurged(
      cache,
      'catalogue',
      `cheese-${id}`,
      `category-${category.id}`,
      `category-${moved.category.id}`,
    );
    cache.purged.length = 0;
    await send(shop, 'DELETE', `/cheeses/${id}`);
    await untilPurged(cache, 'catalogue', `cheese-${id}`, `category-${moved.category.id}`);
    assert.equal(times(cache.purged, `category-${category.id}`), 0);
  });

  test('The purger of an edge cache continues where it was stopped, and sends a refused purge again', async (t) => {
    const { shop, cache } = open();
    await purging(shop, cache)();
    const { id } = await send(shop, 'POST', '/cheeses', { name: 'Tomme' });
    cache.respondWith(503);
    const stop = purging(shop, cache);
    await until(async () => cache.requests.length > 2);
    // Killed before the cache has accepted it.
    await stop();
    assert.equal(times(cache.purged, `cheese-${id}`), 0);
    cleanUp(t, purging(shop, cache));
    const { id: other } = await send(shop, 'POST', '/cheeses', { name: 'Munster' });
    cache.respondWith(200);
    await untilPurged(cache, `cheese-${id}`, `cheese-${other}`);
  });

  test('The purger of an edge cache shows in the metrics and the list how far it is behind', async () => {
    const { shop, cache } = open();
    const stop = purging(shop, cache);
    const { id } = await send(shop, 'POST', '/cheeses', { name: 'Morbier' });
    await untilPurged(cache, `cheese-${id}`);
    const lag = async () =>
      Number(
        /curd_edge_purge_lag_seconds\{cache="http:[^"]*"\} (\S+)/.exec(await shop.app.metrics.render())?.[1],
      );
    await until(async () => (await lag()) === 0);
    await stop();
    await send(shop, 'PATCH', `/cheeses/${id}`, { pricePerKg: 1 });
    await shop.app.database.run(sql`update event set created_at = '2026-01-01T00:00:00.000Z'`);
    await until(async () => (await lag()) > 1000);
    const [listed] = await shop.app.edge.list();
    assert.equal(listed?.url, cache.url);
    assert.ok(await shop.app.edge.delete(cache.url));
    assert.deepEqual(await shop.app.edge.list(), []);
    assert.equal(await shop.app.edge.delete(cache.url), false);
  });

  test('The purger of an edge cache purges everything where the event log has another history, or not all of the changes', async () => {
    const { shop, cache } = open();
    const { database } = shop.app;
    for (const change of [
      sql`update edge_purger set epoch = 'zzzz'`,
      sql`update edge_purger set position = 'evt_zzzz_3'`,
      sql`update edge_purger set position = replace(position, '_', '_9')`,
    ]) {
      const stop = purging(shop, cache);
      await until(async () => (await shop.app.edge.list()).length === 1);
      await stop();
      assert.equal(await database.run(change), 1);
      cache.purged.length = 0;
      const again = purging(shop, cache);
      await untilPurged(cache, 'shop');
      await again();
    }
  });
});

suite('curd edge', () => {
  test('curd edge run purges after a kill what it had not purged', async (t) => {
    const { shop, cache } = await openWith(t, 'sqlite');
    const environment = { CURD_DATA_DIR: shop.config.dataDir, CURD_SECRET: shop.config.secret };
    const args = ['edge', 'run', '--purge-url', cache.url, '--header', 'X-Secret: open sesame'];
    const first = purging(shop, cache);
    await until(async () => (await shop.app.edge.list()).length === 1);
    await first();
    const inProcess = cache.requests.length;
    const ids: number[] = [];
    let isChanging = true;
    const changing = (async () => {
      while (isChanging) {
        ids.push((await send(shop, 'POST', '/cheeses', { name: `Cheese ${ids.length}` })).id);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    for (const kills of [0, 1]) {
      const known = cache.requests.length;
      const child = start(args, environment);
      cleanUp(t, () => child.kill('SIGKILL'));
      await until(async () => cache.requests.length > known + 2 + kills);
      child.kill('SIGKILL');
    }
    isChanging = false;
    const known = cache.requests.length;
    await changing;
    const child = start(args, environment);
    cleanUp(t, () => child.kill('SIGKILL'));
    await until(
      async () => cache.requests.length > known && ids.every((id) => cache.purged.includes(`cheese-${id}`)),
    );
    const ended = resultOf(child);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
    const own = cache.requests.slice(inProcess);
    assert.ok(own.length > 0 && own.every((headers) => headers['x-secret'] === 'open sesame'));
    assert.ok(cache.requests.every((headers) => String(headers['xkey-purge']).length <= 4096));
  });

  test('curd edge refuses what is not valid', async (t) => {
    const { shop } = await openWith(t, 'sqlite');
    const environment = { CURD_DATA_DIR: shop.config.dataDir, CURD_SECRET: shop.config.secret };
    const url = ['--purge-url', 'http://127.0.0.1:1/'];
    for (const [args, text] of [
      [['run', '--purge-url', '127.0.0.1:80'], /must be the URL of a cache, such as http/],
      [['run', '--purge-url', 'http://me:secret@cache/'], /Send a password with --header/],
      [['run', ...url, '--method', 'purge'], /capital letters/],
      [['run', ...url, '--header', 'X-Secret'], /a colon/],
      [['run', ...url, '--tag-header', 'a b'], /header/],
      [['delete', ...url], /was never purged. "npx curd edge list"/],
    ] as const) {
      assertRefused(await curd(environment, 'edge', ...args), text);
    }
    assert.match((await curd(environment, 'edge', 'run')).stderr, /--purge-url <url>' not specified/);
    assert.match((await curd(environment, 'edge', 'list')).stdout, /No cache was purged so far/);
  });
});
