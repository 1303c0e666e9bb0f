/**
 * Varnish with deploy/varnish.vcl in front of a shop, and the purger: what it returns after changes, after a stop of the
 * purger, and while the shop is down. Where varnishd or its module xkey is not installed, the tests are skipped.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLog } from '../../src/log.ts';
import {
  cleanUp,
  type ListeningShop,
  openListeningShop,
  type Scope,
  shared,
  temporaryFolder,
  until,
} from '../helper.ts';

const file = fileURLToPath(new URL('../../deploy/varnish.vcl', import.meta.url));
const cheeses = 20;

/** Debian installs varnishd into a folder that is not on every PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** Why the tests are skipped; undefined where Varnish compiles the configuration. */
function missingPart(): string | undefined {
  const { error, status, stderr } = spawnSync('varnishd', ['-C', '-f', file], { env, encoding: 'utf8' });
  if (error !== undefined) {
    return 'varnishd is not installed';
  }
  return status !== 0 && /VMOD/i.test(stderr) ? 'the module xkey of Varnish is not installed' : undefined;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startVarnish(t: Scope, shop: ListeningShop): Promise<string> {
  const folder = await temporaryFolder(t);
  const own = join(folder, 'curd.vcl');
  writeFileSync(own, readFileSync(file, 'utf8').replaceAll('"8080"', `"${shop.port}"`));
  const port = await freePort();
  const args = ['-F', '-j', 'none', '-n', join(folder, 'varnish'), '-a', `127.0.0.1:${port}`, '-f', own];
  const child = spawn('varnishd', [...args, '-s', 'malloc,32m'], { env, stdio: 'ignore' });
  cleanUp(t, async () => {
    child.kill('SIGTERM');
    await until(async () => child.exitCode !== null || child.signalCode !== null);
  });
  const url = `http://127.0.0.1:${port}`;
  await until(
    async () => (await fetch(`${url}/readyz`).catch(() => null))?.status === 200,
    'Varnish did not start',
  );
  return url;
}

async function openEdge(t: Scope) {
  const shop = await openListeningShop(t, { settings: { CURD_EDGE_CACHE: '1h' } });
  const key = await shop.createKey({ kind: 'publishable' });
  const ids: number[] = [];
  for (let number = 0; number < cheeses; number += 1) {
    const body = { name: `Cheese ${number}`, pricePerKg: 10, category: { name: `Kind ${number % 4}` } };
    ids.push((await shop.request('POST', '/v2/cheeses', { as: shop.writer, body })).json.id);
  }
  const cache = await startVarnish(t, shop);
  let stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const purger = {
    start() {
      stopping = new AbortController();
      const target = { url: `${cache}/`, method: 'PURGE', headers: {}, tagHeader: 'xkey-purge' };
      running = shop.app.edge.run(target, createLog('silent'), stopping.signal);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
  cleanUp(t, purger.stop);
  purger.start();
  const read = async (path: string, headers: Record<string, string> = { 'x-api-key': key }, from = cache) => {
    const response = await fetch(`${from}/v2${path}`, { headers });
    return { status: response.status, text: await response.text(), cache: response.headers.get('x-cache') };
  };
  const price = (id: number, pricePerKg: number) =>
    shop.request('PATCH', `/v2/cheeses/${id}`, { as: shop.writer, body: { pricePerKg } });
  /** Waits until the cache and the shop return the same for all pages. */
  const untilSame = async () => {
    const paths = [
      ...ids.map((id) => `/cheeses/${id}`),
      '/cheeses',
      '/cheeses?categoryId=1',
      '/cheeses?sort=pricePerKg',
    ];
    for (const path of paths) {
      await until(async () => {
        const [cached, direct] = [await read(path), await read(path, undefined, shop.url)];
        return cached.status === 200 && cached.text === direct.text;
      }, `${path} is stale`);
    }
  };
  // What the first start purges is purged a second time after five seconds.
  await until(async () => (await shop.app.edge.list()).length === 1);
  return { cache, shop, key, ids, purger, read, price, untilSame };
}

suite('Varnish in front of a shop', { skip: missingPart() ?? false }, () => {
  const open = shared(openEdge);

  test('Varnish in front of a shop returns cached pages until their cheese changes, and then the new ones', async (t) => {
    const { ids, read, price } = open();
    const [one, other] = ids as [number, number];
    for (const path of [
      `/cheeses/${one}`,
      `/cheeses/${other}`,
      '/cheeses',
      '/cheeses?categoryId=1',
      '/cheeses?categoryId=2',
    ]) {
      await read(path);
      assert.equal((await read(path)).cache, 'hit', path);
    }
    assert.equal((await price(one, 77)).status, 200);
    const changedAt = performance.now();
    await until(async () => JSON.parse((await read(`/cheeses/${one}`)).text).pricePerKg === 77);
    t.diagnostic(`the new price was in the cache after ${Math.round(performance.now() - changedAt)} ms`);
    await until(async () => (await read('/cheeses?q=cheese 0')).text.includes('77'));
    await until(async () => (await read('/cheeses?categoryId=1')).text.includes('77'));
    // Pages that do not depend on it stay.
    assert.equal((await read(`/cheeses/${other}`)).cache, 'hit');
    assert.equal((await read('/cheeses?categoryId=2')).cache, 'hit');
  });

  test('Varnish in front of a shop returns nothing stale after many changes, while pages are read', async () => {
    const { ids, read, price, untilSame } = open();
    let isChanging = true;
    const reading = (async () => {
      for (let at = 0; isChanging; at += 1) {
        await Promise.all([
          read(`/cheeses/${ids[at % cheeses]}`),
          read('/cheeses'),
          read('/cheeses?categoryId=1'),
        ]);
      }
    })();
    for (let change = 1; change <= 200; change += 1) {
      assert.equal((await price(ids[change % cheeses] as number, change)).status, 200);
    }
    isChanging = false;
    await reading;
    await untilSame();
  });

  test('Varnish in front of a shop returns nothing stale once a purger that was stopped has caught up', async () => {
    const { ids, read, price, purger, untilSame } = open();
    await untilSame();
    await purger.stop();
    for (const id of ids) {
      await price(id, 999);
    }
    const [first] = ids as [number];
    assert.doesNotMatch((await read(`/cheeses/${first}`)).text, /999/);
    purger.start();
    await untilSame();
    assert.match((await read(`/cheeses/${first}`)).text, /999/);
  });

  test('Varnish in front of a shop takes no purge that a proxy on its machine passes on for a client elsewhere', async () => {
    const { cache, ids, read } = open();
    const path = `/cheeses/${ids[2]}`;
    await read(path);
    const purge = (headers: Record<string, string>) =>
      fetch(cache, { method: 'PURGE', headers: { 'xkey-purge': 'shop', ...headers } });
    assert.equal((await purge({ 'x-forwarded-for': '203.0.113.7' })).status, 403);
    assert.equal((await read(path)).cache, 'hit');
    assert.equal((await purge({})).status, 200);
    assert.equal((await read(path)).cache, 'miss');
  });

  test('Varnish in front of a shop caches nothing for secret keys, sessions and unknown keys, and takes no purge without tags', async () => {
    const { shop, key, ids, read } = open();
    const path = `/cheeses/${ids[0]}`;
    await read(path);
    for (const [headers, status] of [
      [{ 'x-api-key': shop.reader }, 200],
      [{ 'x-api-key': shop.reader, authorization: `Bearer ${key}` }, 403],
      [{ 'x-api-key': `pk_test_${randomUUID()}` }, 401],
      [{}, 401],
    ] as const) {
      for (const _ of [1, 2]) {
        const response = await read(path, headers);
        assert.deepEqual([response.status, response.cache], [status, 'miss'], JSON.stringify(headers));
      }
    }
    for (const _ of [1, 2]) {
      assert.equal((await read(`${path}?key=${key}`, {})).status, 200);
    }
    assert.equal((await read(`${path}?key=${key}`, {})).cache, 'hit');
  });
});
