import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { typeOfKey } from '../../src/auth/keys/format.ts';
import { assertRefused, curd, curdJson, freshShop, serve } from './run.ts';

const keyIn = (text: string) => /\bsk_(?:live|test)_\w+/.exec(text)?.[0];

suite('curd serve', { concurrency: 2 }, () => {
  test('greets with a key and a catalogue at the first start, and without a key at the second', async (t) => {
    const shop = await freshShop(t);
    const first = await serve(t, shop);
    assert.match(first.greeting, /^Curd is listening on http:\/\/127\.0\.0\.1:\d+ \(local\)\n/);
    assert.match(first.greeting, new RegExp(`${first.url}/docs`));
    const key = keyIn(first.greeting) ?? '';
    assert.equal(typeOfKey(key), 'test');
    assert.equal(new Set(first.greeting.match(/\bsk_(?:live|test)_\w+/g)).size, 1);
    assert.equal(await first.statusFor(key), 200);
    assert.equal(await first.statusFor(key, 'POST'), 403, 'the first key reads');

    const list = await fetch(`${first.url}/v2/cheeses?limit=3`, { headers: { 'X-API-Key': key } });
    const page = (await list.json()) as { items: unknown[]; total: number };
    assert.equal(page.items.length, 3);
    assert.ok(page.total >= 20);
    const reference = await fetch(`${first.url}/docs`);
    assert.equal(reference.status, 200);
    assert.match(await reference.text(), /openapi\.json/);

    assert.deepEqual(await first.stop(), { code: 0, stderr: '' });
    const second = await serve(t, shop);
    assert.equal(keyIn(second.greeting), undefined);
    assert.match(second.greeting, /\/docs/);
    assert.equal(await second.statusFor(key), 200, 'the key of the first start goes on working');
    const again = await fetch(`${second.url}/v2/cheeses`, { headers: { 'X-API-Key': key } });
    assert.equal(((await again.json()) as { total: number }).total, page.total);
    assert.equal((await second.stop('SIGINT')).code, 0);
  });

  test('writes into the data folder alone, and no key into the log', async (t) => {
    const shop = await freshShop(t);
    const folder = shop.CURD_DATA_DIR ?? '';
    const server = await serve(t, { ...shop, CURD_LOG_LEVEL: 'debug' });
    const files = readdirSync(folder).filter((name) => !name.startsWith('curd.sqlite'));
    assert.deepEqual(files.toSorted(), ['images', 'secret']);
    assert.equal(statSync(join(folder, 'secret')).mode & 0o077, 0, 'the secret is for its owner only');
    const key = keyIn(server.greeting) ?? '';
    assert.equal(await server.statusFor(key), 200);
    const { code, stderr } = await server.stop();
    assert.equal(code, 0);
    assert.match(stderr, /"route":"\/v2\/cheeses"/);
    assert.ok(!stderr.includes(key));
  });

  test('says in one sentence that its port is taken, and still greets with a key once it can start', async (t) => {
    const { port } = new URL((await serve(t, await freshShop(t))).url);
    const shop = await freshShop(t);
    const refused = await curd({ ...shop, CURD_PORT: port }, 'serve');
    assertRefused(refused, new RegExp(`\\b${port}\\b`), /--port|CURD_PORT/);
    const server = await serve(t, shop);
    const key = keyIn(server.greeting);
    assert.ok(key !== undefined, 'a key was made by the start that failed, and nobody has seen it');
    assert.equal(await server.statusFor(key), 200);
  });

  test('starts in production with its settings, prints no key and makes no account', async (t) => {
    const shop = await freshShop(t, {
      CURD_ENVIRONMENT: 'production',
      CURD_SECRET: 'a secret that is only good for tests',
      CURD_PUBLIC_URL: 'https://cheese.example',
    });
    const server = await serve(t, shop);
    assert.match(server.greeting, /\(production\)\n/);
    assert.match(server.greeting, /https:\/\/cheese\.example\/docs/);
    assert.equal(keyIn(server.greeting), undefined);
    assert.deepEqual(await curdJson(shop, 'accounts', 'list'), []);
    const health = await fetch(`${server.url}/healthz`);
    assert.equal(health.headers.get('x-environment'), 'production');
    assert.deepEqual(await server.stop(), { code: 0, stderr: '' });
  });
});
