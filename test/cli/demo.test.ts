/** What a first start has to show. */
import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/config.ts';
import { sql } from '../../src/database/sql.ts';
import { openServices } from '../../src/services.ts';
import { awsSettings, openSilence } from '../files/bucket.ts';
import { type Addresses, assertWhole, nameOf, namesIn } from '../files/photos.ts';
import { type Environment, freshShop, type RunningServer, serve } from './run.ts';

const drawings = fileURLToPath(new URL('../../src/cheeses/demo-pictures/', import.meta.url));

const keyIn = (text: string) => /\bsk_(?:live|test)_\w+/.exec(text)?.[0] ?? '';

interface ListedCheese {
  readonly id: number;
  readonly name: string;
  readonly photoUrls: readonly string[];
}

async function catalogueOf({ url }: RunningServer, key: string): Promise<ListedCheese[]> {
  const response = await fetch(`${url}/v2/cheeses?limit=100`, { headers: { 'X-API-Key': key } });
  assert.equal(response.status, 200);
  return ((await response.json()) as { items: ListedCheese[] }).items;
}

/** How many rows and events there are about pictures. */
async function countsIn(environment: Environment): Promise<unknown> {
  const { database, close } = await openServices(loadConfig(environment));
  const counts = await database.get(sql`
    select (select count(*) from image_file) as files, (select count(*) from cheese_image) as images,
      (select count(*) from event) as events`);
  await close();
  return { ...(counts as object) };
}

suite('The demo', { concurrency: 2 }, () => {
  test('has drawings of less than 100 kB', () => {
    const sizes = namesIn(drawings).map((name) => statSync(join(drawings, name)).size);
    assert.ok(sizes.length > 0);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total < 100_000, `${total} bytes`);
  });

  test('has a photo of every cheese, with a thumbnail, and a second start adds none', async (t) => {
    const shop = await freshShop(t);
    const first = await serve(t, shop);
    const key = keyIn(first.greeting);
    const cheeses = await catalogueOf(first, key);
    assert.ok(cheeses.length >= 20);
    const bytes = new Map<string, number>();
    for (const { id, name, photoUrls } of cheeses) {
      assert.equal(photoUrls.length, 1, name);
      const url = `${first.url}/v2/cheeses/${id}/images`;
      const response = await fetch(url, { headers: { 'X-API-Key': key } });
      const { items } = (await response.json()) as { items: (Addresses & { caption: string })[] };
      const [image] = items;
      assert.ok(image !== undefined && items.length === 1, name);
      assert.equal(image.imageUrl, photoUrls[0]);
      assert.ok(image.imageUrl.startsWith(`${first.url}/images/`));
      assert.match(image.caption, /^Drawing of a .* cheese$/);
      for (const address of [image.imageUrl, image.thumbnailUrl]) {
        const picture = await fetch(address);
        assert.equal(picture.status, 200, address);
        assert.equal(picture.headers.get('content-type'), 'image/webp');
        const body = new Uint8Array(await picture.arrayBuffer());
        assertWhole(address, body);
        bytes.set(nameOf(address), body.length);
      }
    }
    await first.stop('SIGKILL');
    const counts = await countsIn(shop);
    const second = await serve(t, shop);
    assert.deepEqual(await catalogueOf(second, key), cheeses);
    await second.stop('SIGKILL');
    assert.deepEqual(await countsIn(shop), counts);
    const stored = namesIn(join(shop.CURD_DATA_DIR ?? '', 'images'));
    assert.deepEqual(stored, [...bytes.keys()].toSorted());
    assert.deepEqual(namesIn(join(shop.CURD_DATA_DIR ?? '', 'incoming')), []);
  });

  test('has nothing in production', async (t) => {
    const shop = await freshShop(t, {
      CURD_ENVIRONMENT: 'production',
      CURD_SECRET: 'a secret that is only good for tests',
      CURD_PUBLIC_URL: 'https://cheese.example',
    });
    const server = await serve(t, shop);
    await server.stop('SIGKILL');
    assert.deepEqual(await countsIn(shop), { files: 0, images: 0, events: 0 });
    assert.deepEqual(namesIn(join(shop.CURD_DATA_DIR ?? '', 'images')), []);
  });

  test('goes without pictures where they cannot be stored, and says so in the log', async (t) => {
    const shop = await freshShop(t);
    writeFileSync(join(shop.CURD_DATA_DIR ?? '', 'images'), 'in the way');
    const server = await serve(t, shop);
    const key = keyIn(server.greeting);
    const cheeses = await catalogueOf(server, key);
    assert.ok(cheeses.length >= 20);
    assert.ok(cheeses.every(({ photoUrls }) => photoUrls.length === 0));
    const { code, stderr } = await server.stop();
    assert.equal(code, 0);
    const [line = '', ...others] = stderr.trimEnd().split('\n');
    assert.deepEqual(others, []);
    const { level, msg } = JSON.parse(line);
    assert.deepEqual([level, msg], [40, 'the demo pictures could not be stored']);
  });

  test('keeps no start waiting for a bucket that says nothing', { timeout: 30_000 }, async (t) => {
    const endpoint = await openSilence(t);
    const shop = await freshShop(t, { ...awsSettings(endpoint), CURD_IMAGES: 's3://pictures' });
    const slow = new Promise<null>((resolve) => setTimeout(() => resolve(null), 8000).unref());
    const server = await Promise.race([serve(t, shop), slow]);
    assert.ok(server !== null, 'it did not start within eight seconds');
  });
});
