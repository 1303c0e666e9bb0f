/** "curd serve": what the first start creates and prints, later starts, and failed starts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { typeOfKey } from '../../src/auth/keys/format.ts';
import { sql } from '../../src/database/sql.ts';
import { secret, until } from '../context.ts';
import { awsSettings, openSilence } from '../files/bucket.ts';
import { assertWhole, type ImageUrls, nameOf, namesIn } from '../files/images.ts';
import { cleanUp } from '../helper.ts';
import {
  assertRefused,
  cheesesIn,
  curd,
  type Environment,
  freshShop,
  inShop,
  type RunningServer,
  resultOf,
  serve,
  start,
} from './run.ts';

const drawings = fileURLToPath(new URL('../../src/app/demo/images/', import.meta.url));

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

/** The numbers of accounts, image rows and image events. */
async function countsIn(environment: Environment): Promise<object> {
  const counts = await inShop(environment, ({ database }) =>
    database.get<object>(sql`
      select (select count(*) from account) as accounts, (select count(*) from image_file) as files,
        (select count(*) from cheese_image) as images, (select count(*) from event) as events`),
  );
  return { ...counts };
}

/** Asserts that a cheese has one image with a thumbnail, both served. Returns their names. */
async function requirePhoto(server: RunningServer, key: string, cheese: ListedCheese): Promise<string[]> {
  const { id, name, photoUrls } = cheese;
  const url = `${server.url}/v2/cheeses/${id}/images`;
  const response = await fetch(url, { headers: { 'X-API-Key': key } });
  const { items } = (await response.json()) as { items: (ImageUrls & { caption: string })[] };
  const [image] = items;
  assert.ok(image !== undefined && items.length === 1, name);
  assert.deepEqual(photoUrls, [image.imageUrl], name);
  assert.ok(image.imageUrl.startsWith(`${server.url}/images/`));
  assert.match(image.caption, /^Drawing of a .* cheese$/);
  const addresses = [image.imageUrl, image.thumbnailUrl];
  for (const address of addresses) {
    const shown = await fetch(address);
    assert.equal(shown.status, 200, address);
    assert.equal(shown.headers.get('content-type'), 'image/webp');
    assertWhole(address, new Uint8Array(await shown.arrayBuffer()));
  }
  return addresses.map(nameOf);
}

test('A first start', async (start) => {
  const shop = await freshShop(start);
  const folder = shop.CURD_DATA_DIR ?? '';
  const first = await serve(start, { ...shop, CURD_LOG_LEVEL: 'debug' });
  const key = first.firstKey ?? '';
  const cheeses = await catalogueOf(first, key);
  const images = new Set<string>();

  await start.test('A first start prints a URL, the reference and one key, which can read', async () => {
    assert.match(first.greeting, /^Curd is listening on http:\/\/127\.0\.0\.1:\d+ \(local\)\n/);
    assert.match(first.greeting, new RegExp(`${first.url}/docs`));
    assert.equal(typeOfKey(key), 'test');
    assert.equal(new Set(first.greeting.match(/\bsk_(?:live|test)_\w+/g)).size, 1);
    assert.equal(await first.statusFor(key), 200);
    assert.equal(await first.statusFor(key, 'POST'), 403);
    const reference = await fetch(`${first.url}/docs`);
    assert.equal(reference.status, 200);
    assert.match(await reference.text(), /openapi\.json/);
  });

  await start.test('A first start prints a link to the console, which signs in once', async () => {
    const [, link] =
      /^Console: http:\/\/127\.0\.0\.1:\d+\/console#link=([\w-]{43})$/m.exec(first.greeting) ?? [];
    const signIn = () =>
      fetch(`${first.url}/v2/console/sign-in`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ link }),
      });
    assert.equal((await signIn()).status, 201);
    const again = await signIn();
    assert.equal(again.status, 401);
    assert.match(await again.text(), /was used before.*npx curd console/);
  });

  await start.test(
    'A first start creates a catalogue with an image and a thumbnail of every cheese',
    async () => {
      assert.ok(cheeses.length >= 20);
      for (const cheese of cheeses) {
        for (const name of await requirePhoto(first, key, cheese)) {
          images.add(name);
        }
      }
    },
  );

  await start.test('A first start writes only into the data folder, and no key into the log', async () => {
    const files = readdirSync(folder).filter((name) => !name.startsWith('curd.sqlite'));
    assert.deepEqual(files.toSorted(), ['images', 'secret']);
    assert.equal(statSync(join(folder, 'secret')).mode & 0o077, 0, 'the secret is for its owner only');
    const { code, stderr } = await first.stop();
    assert.equal(code, 0);
    assert.match(stderr, /"route":"\/v2\/cheeses"/);
    assert.ok(!stderr.includes(key));
  });

  await start.test(
    'A first start is followed by starts that print no key, accept the first key, and add nothing',
    async (t) => {
      const counts = await countsIn(shop);
      const second = await serve(t, { ...shop, CURD_CONSOLE: 'off' });
      assert.equal(second.firstKey, null);
      assert.doesNotMatch(second.greeting, /console/i);
      assert.match(second.greeting, /\/docs/);
      assert.deepEqual(await catalogueOf(second, key), cheeses);
      assert.deepEqual(await second.stop('SIGINT'), { code: 0, stderr: '' });
      assert.deepEqual(await countsIn(shop), counts);
      assert.deepEqual(namesIn(join(folder, 'images')), [...images].toSorted());
      assert.deepEqual(namesIn(join(folder, 'incoming')), []);
    },
  );
});

suite('curd serve', { concurrency: 2 }, () => {
  test('curd serve reports in one sentence that its port is used, and prints a key when it can start', async (t) => {
    const other = createServer().listen(0, '127.0.0.1');
    cleanUp(t, () => other.close());
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const shop = await freshShop(t);
    const refused = await curd({ ...shop, CURD_PORT: port }, 'serve');
    assertRefused(refused, new RegExp(`\\b${port}\\b`), /--port|CURD_PORT/);
    const server = await serve(t, shop);
    assert.ok(server.firstKey !== null, 'the failed start created no key that was not printed');
    assert.equal(await server.statusFor(server.firstKey), 200);
    const cheeses = await catalogueOf(server, server.firstKey);
    assert.ok(cheeses.length >= 20);
    assert.ok(
      cheeses.every(({ photoUrls }) => photoUrls.length === 1),
      'the failed start left cheeses without images',
    );
  });

  test('curd serve adds no image to a demo cheese that was changed', async (t) => {
    const shop = await freshShop(t);
    await (await serve(t, shop)).stop();
    const [first] = await cheesesIn(shop);
    await inShop(shop, ({ cheeses: { service: cheeses }, contextOf }) =>
      cheeses.changePhotos(contextOf('test'), first?.id ?? 0, () => []),
    );
    await (await serve(t, shop)).stop();
    const [again] = await cheesesIn(shop);
    assert.deepEqual(again?.photoUrls, []);
  });

  test('curd serve ends with status 0 when a signal arrives while it writes the demo, and the next start completes it', async (t) => {
    const shop = await freshShop(t);
    const child = start(['serve', '--port', '0'], { ...shop, CURD_LOG_LEVEL: 'warn' });
    const run = resultOf(child);
    const file = join(shop.CURD_DATA_DIR ?? '', 'curd.sqlite');
    await until(async () => hasCheeses(file), 'the catalogue was not filled');
    child.kill('SIGTERM');
    const { code, stderr } = await run;
    assert.deepEqual([code, stderr], [0, '']);
    const server = await serve(t, shop);
    const cheeses = await cheesesIn(shop);
    assert.ok(cheeses.length >= 20);
    assert.ok(cheeses.every(({ photoUrls }) => photoUrls.length === 1));
    await server.stop();
  });

  test('curd serve reports in one sentence that its host is not an address of this machine', async (t) => {
    // TEST-NET-1 (RFC 5737), and a name that is reserved as unknown (RFC 6761).
    const refused = await curd(await freshShop(t), 'serve', '--port', '0', '--host', '192.0.2.1');
    assertRefused(refused, /IP address 192\.0\.2\.1\. Choose one that it has with --host or CURD_HOST/);
  });

  test('curd serve starts in production with its settings, and creates no key, account or demo', async (t) => {
    const shop = await freshShop(t, {
      CURD_ENVIRONMENT: 'production',
      CURD_SECRET: secret,
      CURD_PUBLIC_URL: 'https://cheese.example',
      CURD_PUBLIK_URL: 'https://cheese.example',
    });
    const server = await serve(t, shop);
    assert.match(server.greeting, /\(production\)\n/);
    assert.match(server.greeting, /There is no account yet\.[\s\S]*accounts create <name>[\s\S]*keys create/);
    assert.match(server.greeting, /https:\/\/cheese\.example\/docs/);
    assert.equal(server.firstKey, null);
    const health = await fetch(`${server.url}/healthz`);
    assert.equal(health.headers.get('x-environment'), 'production');
    const { code, stderr } = await server.stop();
    assert.match(
      stderr,
      /^\{"level":"warn",.*"msg":"CURD_PUBLIK_URL is not a setting of Curd\. Did you mean CURD_PUBLIC_URL\?"\}\n$/,
    );
    assert.equal(code, 0);
    assert.deepEqual(await countsIn(shop), { accounts: 0, files: 0, images: 0, events: 0 });
    assert.deepEqual(namesIn(join(shop.CURD_DATA_DIR ?? '', 'images')), []);
  });

  test('curd serve warns that it does not read DATABASE_URL', async (t) => {
    const shop = await freshShop(t, { DATABASE_URL: 'postgres://127.0.0.1/shop', CURD_LOG_LEVEL: 'warn' });
    const server = await serve(t, shop);
    const { stderr } = await server.stop();
    assert.match(stderr, /^\{"level":"warn",.*DATABASE_URL is set, .* Set CURD_DATABASE to use PostgreSQL\./);
  });

  test('curd serve starts without images when they cannot be stored, and logs a warning', async (t) => {
    const shop = await freshShop(t);
    writeFileSync(join(shop.CURD_DATA_DIR ?? '', 'images'), 'in the way');
    const server = await serve(t, shop);
    const cheeses = await catalogueOf(server, server.firstKey ?? '');
    assert.ok(cheeses.length >= 20);
    assert.ok(cheeses.every(({ photoUrls }) => photoUrls.length === 0));
    const { code, stderr } = await server.stop();
    assert.equal(code, 0);
    const [line = '', ...others] = stderr.trimEnd().split('\n');
    assert.deepEqual(others, []);
    const { level, msg } = JSON.parse(line);
    assert.deepEqual([level, msg], ['warn', 'the demo images could not be stored']);
  });

  test('curd serve starts when the bucket does not respond', { timeout: 60_000 }, async (t) => {
    const endpoint = await openSilence(t);
    const shop = await freshShop(t, { ...awsSettings(endpoint), CURD_IMAGES: 's3://pictures' });
    // Two attempts wait three seconds each for the socket. The limit of a whole request is a minute.
    const slow = new Promise<null>((resolve) => setTimeout(() => resolve(null), 25_000).unref());
    const server = await Promise.race([serve(t, shop), slow]);
    assert.ok(server !== null, 'it did not start within 25 seconds');
  });
});

/** Whether the database exists and its catalogue was filled. */
function hasCheeses(file: string): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    return database.prepare('select 1 from cheese').get() !== undefined;
  } catch {
    return false;
  } finally {
    database?.close();
  }
}

test('The images of the demo are less than 100 kB', () => {
  const sizes = namesIn(drawings).map((name) => statSync(join(drawings, name)).size);
  assert.ok(sizes.length > 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total < 100_000, `${total} bytes`);
});
