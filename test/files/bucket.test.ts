/** Images in a bucket. s3rver, a server with the S3 protocol, runs in a separate process. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { thumbnailOf } from '../../client/src/index.ts';
import { loadConfig, type RawSettings } from '../../src/settings/config.ts';
import { ConfigError } from '../../src/settings/parsers.ts';
import { assertRefused, curd, freshShop, serve } from '../cli/run.ts';
import { assertError, cleanUp, openShop, type Scope, type Shop, shared, testClock } from '../helper.ts';
import { deleteCheese, newCheese } from '../shop-verbs.ts';
import { awsSettings, bucket, openBucket, openSilence, openSlowDeletion } from './bucket.ts';
import {
  assertShown,
  assertWhole,
  imagesOf,
  nameOf,
  namesIn,
  openFiles,
  shown,
  testImage,
  upload,
  uploaded,
} from './images.ts';

const quickly = 8000;

/** Sets environment variables and restores them for the next test. */
function setEnvironment(t: Scope, values: Record<string, string>): void {
  const before = { ...process.env };
  Object.assign(process.env, values);
  cleanUp(t, () => {
    for (const name of Object.keys(values)) {
      delete process.env[name];
    }
    Object.assign(process.env, before);
  });
}

let prefixes = 0;

/** A prefix in the bucket that no other test uses. */
function newPrefix(): string {
  prefixes += 1;
  return `some/prefix-${prefixes}`;
}

async function shopAt(t: Scope, endpoint: string, settings: RawSettings = {}): Promise<Shop> {
  setEnvironment(t, awsSettings(endpoint));
  const place = { CURD_IMAGES: `s3://${bucket}/${newPrefix()}` };
  return openShop(t, { clock: testClock(), settings: { ...place, ...settings } });
}

/** The folder with the objects of a shop. */
function folderOf({ config: { images } }: Shop, folder: string): string {
  assert.equal(images.kind, 'bucket');
  return `${folder}/${images.prefix}`;
}

/** Names of the objects in a folder. s3rver writes one file for each object and one for its metadata. */
function objectsIn(folder: string): string[] {
  return namesIn(folder).flatMap((name) => /^(.*)\._S3rver_object$/.exec(name)?.[1] ?? []);
}

async function assertUnavailable(shop: Shop, cheese: number, bytes: Uint8Array): Promise<void> {
  const start = performance.now();
  const response = await Promise.race([upload(shop, cheese, bytes), sleep(quickly, null)]);
  assert.ok(response !== null, 'there was no answer');
  assertError(response, 503, 'unavailable');
  assert.ok(Number(response.headers['retry-after']) > 0);
  assert.ok(performance.now() - start < quickly);
  assert.deepEqual(await imagesOf(shop, cheese), []);
}

suite('Images in a bucket', () => {
  const ours = shared(openBucket);

  test('Images in a bucket are stored under the prefix with their media type and an immutable Cache-Control', async (t) => {
    const { endpoint, folder } = ours();
    const shop = await shopAt(t, endpoint);
    const urls = await uploaded(shop, await newCheese(shop), await testImage(1, 400, 'jpeg'));
    const names = [urls.imageUrl, urls.thumbnailUrl].map(nameOf);
    const place = folderOf(shop, folder);
    assert.deepEqual(objectsIn(place), names.toSorted());
    assert.deepEqual(
      readdirSync(folder).filter((name) => !name.startsWith('.')),
      ['some'],
    );
    for (const [index, type] of ['image/jpeg', 'image/webp'].entries()) {
      const path = `${place}${names[index]}._S3rver_metadata.json`;
      const metadata = JSON.parse(readFileSync(path, 'utf8'));
      assert.equal(metadata['content-type'], type);
      assert.equal(metadata['cache-control'], 'public, max-age=31536000, immutable');
    }
  });

  test('Images in a bucket are returned by the server, whole and as ranges', async (t) => {
    const { endpoint } = ours();
    const shop = await shopAt(t, endpoint);
    const { imageUrl } = await uploaded(shop, await newCheese(shop), await testImage(2, 400));
    const whole = await shown(shop, imageUrl);
    assert.equal(whole.status, 200);
    assertWhole(imageUrl, whole.bytes);
    assert.equal(whole.headers['content-type'], 'image/png');
    assert.equal(Number(whole.headers['content-length']), whole.bytes.length);

    const head = await shown(shop, imageUrl, {}, 'HEAD');
    assert.deepEqual([head.status, head.bytes.length], [200, 0]);
    assert.equal(Number(head.headers['content-length']), whole.bytes.length);
    const part = await shown(shop, imageUrl, { range: 'bytes=5-9' });
    assert.deepEqual([part.status, part.bytes], [206, whole.bytes.subarray(5, 10)]);
    const end = await shown(shop, imageUrl, { range: 'bytes=-3' });
    assert.deepEqual([end.status, end.bytes], [206, whole.bytes.subarray(-3)]);
    assert.equal((await shown(shop, imageUrl, { range: 'bytes=999999-' })).status, 416);
    const etag = String(whole.headers.etag);
    assert.equal((await shown(shop, imageUrl, { 'if-none-match': etag })).status, 304);
    assert.equal((await shown(shop, `${'0'.repeat(64)}.png`)).status, 404);
  });

  test('Images in a bucket have URLs below CURD_IMAGES_URL, and the server redirects there', async (t) => {
    const { endpoint } = ours();
    const base = 'https://cdn.example.com/cheese';
    const shop = await shopAt(t, endpoint, { CURD_IMAGES_URL: `${base}/` });
    const cheese = await newCheese(shop);
    const { imageUrl, thumbnailUrl } = await uploaded(shop, cheese, await testImage(3));
    assert.match(imageUrl, /^https:\/\/cdn\.example\.com\/cheese\/[0-9a-f]{64}-[0-9a-f]{64}\.png$/);
    assert.ok(thumbnailUrl.startsWith(`${base}/`));
    assert.equal(thumbnailOf(imageUrl), thumbnailUrl);
    const { json } = await shop.request('GET', `/v2/cheeses/${cheese}`, { as: shop.reader });
    assert.deepEqual(json.photoUrls, [imageUrl]);
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await shown(shop, imageUrl, {}, method);
      assert.deepEqual([status, headers.location], [302, imageUrl]);
    }
    assert.equal((await deleteCheese(shop, cheese)).status, 204);
    assert.equal((await shown(shop, imageUrl)).status, 404);
  });

  test('Images in a bucket are deleted by maintenance after their cheese is deleted', async (t) => {
    const { endpoint, folder } = ours();
    const shop = await shopAt(t, endpoint);
    const cheese = await newCheese(shop);
    const { imageUrl } = await uploaded(shop, cheese, await testImage(4));
    assert.equal((await deleteCheese(shop, cheese)).status, 204);
    assert.equal((await shown(shop, imageUrl)).status, 404);
    (shop.clock as ReturnType<typeof testClock>).advance(10 * 60_000 + 1);
    await shop.app.images.service.deleteUnused();
    assert.deepEqual(objectsIn(folderOf(shop, folder)), []);
    await uploaded(shop, await newCheese(shop), await testImage(4));
    await assertShown(shop, imageUrl);
  });

  test('Images in a bucket survive a slow deletion when another instance was faster', async (t) => {
    const slow = await openSlowDeletion(t, ours().endpoint);
    const shop = await shopAt(t, slow.endpoint);
    const clock = shop.clock as ReturnType<typeof testClock>;
    const cheese = await newCheese(shop);
    const { imageUrl, thumbnailUrl } = await uploaded(shop, cheese, await testImage(11));
    assert.equal((await deleteCheese(shop, cheese)).status, 204);
    clock.advance(10 * 60_000 + 1);
    const deleting = shop.app.images.service.deleteUnused();
    const letGo = await slow.held;
    clock.advance(10 * 60_000 + 1);
    const other = await shop.another();
    await other.app.images.service.deleteUnused();
    const again = await upload(other, await newCheese(other), await testImage(11));
    letGo();
    await deleting;
    if (again.status === 200) {
      await assertShown(shop, imageUrl);
      await assertShown(shop, thumbnailUrl);
    } else {
      assertError(again, 503, 'unavailable');
    }
  });

  test('Images in a bucket are refused with 503 while the bucket is unreachable, and accepted afterwards', async (t) => {
    const own = await openBucket(t);
    const shop = await shopAt(t, own.endpoint);
    const cheese = await newCheese(shop);
    await own.stop();
    await assertUnavailable(shop, cheese, await testImage(5));
    await own.start();
    const { imageUrl } = await uploaded(shop, cheese, await testImage(5));
    await assertShown(shop, imageUrl);
    await own.stop();
    const { status, headers } = await shown(shop, imageUrl);
    assert.equal(status, 503);
    assert.ok(Number(headers['retry-after']) > 0);
    if (process.platform === 'linux') {
      assert.deepEqual(openFiles(shop.config.incomingDir), [], 'files of refused uploads are still open');
    }
  });

  test('Images in a bucket are refused with 503 when the bucket accepts connections but does not respond', async (t) => {
    const shop = await shopAt(t, await openSilence(t));
    await assertUnavailable(shop, await newCheese(shop), await testImage(6));
  });

  test('Images in a bucket are refused with 503 when the bucket does not exist', async (t) => {
    const { endpoint } = ours();
    const shop = await shopAt(t, endpoint, { CURD_IMAGES: 's3://not-there' });
    await assertUnavailable(shop, await newCheese(shop), await testImage(7));
  });

  test('Images in a bucket are refused with 503 for wrong credentials, which are not logged; the demo has no images', async (t) => {
    const { endpoint, folder } = ours();
    const secret = 'hidden-from-all-logs';
    const prefix = newPrefix();
    const environment = await freshShop(t, {
      ...awsSettings(endpoint, 'NOBODY', secret),
      CURD_IMAGES: `s3://${bucket}/${prefix}`,
    });
    const server = await serve(t, environment);
    const { stderr } = await server.stop();
    // The AWS client logs a warning.
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    assert.deepEqual(objectsIn(`${folder}/${prefix}`), []);
    assert.ok(!stderr.includes(secret));
    const causes = lines.map((line) => JSON.parse(line)).filter(({ err }) => err !== undefined);
    assert.match(JSON.stringify(causes), /InvalidAccessKeyId/);

    setEnvironment(t, awsSettings(endpoint, 'NOBODY', secret));
    const shop = await openShop(t, { settings: { CURD_IMAGES: `s3://${bucket}/${prefix}` } });
    await assertUnavailable(shop, await newCheese(shop), await testImage(8));
  });
});

suite('CURD_IMAGES and CURD_IMAGES_URL', () => {
  test('With CURD_IMAGES as a folder, image URLs are below CURD_IMAGES_URL, and /images still returns images', async (t) => {
    const shop = await openShop(t, { settings: { CURD_IMAGES_URL: 'https://cdn.example.com' } });
    const { imageUrl } = await uploaded(shop, await newCheese(shop), await testImage(9));
    assert.match(imageUrl, /^https:\/\/cdn\.example\.com\/[0-9a-f]{64}-[0-9a-f]{64}\.png$/);
    await assertShown(shop, imageUrl);
  });

  test('CURD_IMAGES and CURD_IMAGES_URL accept any folder', async (t) => {
    const { CURD_DATA_DIR = '' } = await freshShop(t);
    const shop = await openShop(t, { settings: { CURD_IMAGES: `file:${CURD_DATA_DIR}/a/b` } });
    await uploaded(shop, await newCheese(shop), await testImage(10));
    assert.equal(namesIn(`${CURD_DATA_DIR}/a/b`).length, 2);
  });

  test('CURD_IMAGES and CURD_IMAGES_URL refuse the start with one sentence when they are invalid', async (t) => {
    const shop = await freshShop(t);
    for (const place of [
      'images',
      'file:',
      's3:',
      's3://',
      's3://UPPER',
      's3://a',
      's3://my-bucket/a b',
      '',
    ]) {
      const settings = { ...shop, CURD_IMAGES: place };
      if (place === '') {
        assert.equal(loadConfig({ ...shop }).images.kind, 'folder');
      } else {
        const isRefused = (error: unknown) =>
          error instanceof ConfigError && /CURD_IMAGES.*file:<folder>.*s3:/.test(error.message);
        assert.throws(() => loadConfig(settings), isRefused, place);
      }
    }
    for (const url of [
      'cdn.example.com',
      'ftp://cdn.example.com',
      'https://cdn.example.com/?a',
      'https://',
    ]) {
      const isRefused = (error: unknown) =>
        error instanceof ConfigError && /CURD_IMAGES_URL.*https/.test(error.message);
      assert.throws(() => loadConfig({ ...shop, CURD_IMAGES_URL: url }), isRefused, url);
    }
    const runs = await Promise.all([
      curd({ ...shop, CURD_IMAGES: 's3://' }, 'serve'),
      curd({ ...shop, CURD_IMAGES_URL: 'cdn' }, 'serve'),
    ]);
    for (const run of runs) {
      assertRefused(run, /CURD_IMAGES/);
    }
  });

  test('CURD_IMAGES and CURD_IMAGES_URL accept prefixes with and without a slash at the end', async (t) => {
    const shop = await freshShop(t);
    for (const [place, expected] of [
      ['s3://my-bucket', ''],
      ['s3://my-bucket/', ''],
      ['s3://my-bucket/a', 'a/'],
      ['s3://my-bucket/a/b/', 'a/b/'],
    ] as const) {
      const images = { kind: 'bucket', bucket: 'my-bucket', prefix: expected };
      assert.deepEqual(loadConfig({ ...shop, CURD_IMAGES: place }).images, images);
    }
  });
});
