/** A backup of a running shop, restored into an empty folder and over a later state of the shop. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { dollars } from '../../src/decimal.ts';
import { secret } from '../context.ts';
import { createLoad, type Load, type Memory } from '../faults/load.ts';
import { awsSettings, bucket, openBucket } from '../files/bucket.ts';
import { assertWhole, nameOf, namesIn, testImage, uploaded } from '../files/images.ts';
import { temporaryFolder } from '../helper.ts';
import { openFilledShop } from './filled-shop.ts';
import {
  createStock,
  curd,
  curdJson,
  type Environment,
  freshShop,
  inShop,
  type RunningServer,
  serve,
} from './run.ts';

const settings = {
  CURD_SECRET: secret,
  CURD_APPROVAL_DELAY: '100ms',
  CURD_LOG_LEVEL: 'warn',
};

const stock = {
  prices: [41.5, 0.01, 19.999, undefined],
  scopes: ['write:orders', 'write:cheeses'],
} as const;
type Stock = Awaited<ReturnType<typeof createStock>>;
/** Enough to place orders during the whole backup. */
const placers = 4;

/** Uploads an image and returns its URL. */
async function show({ url }: RunningServer, { key, cheeses }: Stock, seed: number): Promise<string[]> {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(await testImage(seed))]));
  const headers = { 'X-API-Key': key };
  const response = await fetch(`${url}/v2/cheeses/${cheeses[0]}/uploadImage`, {
    method: 'POST',
    headers,
    body,
  });
  const { imageUrl, thumbnailUrl } = (await response.json()) as { imageUrl: string; thumbnailUrl: string };
  assert.equal(response.status, 200);
  return [imageUrl, thumbnailUrl];
}

/** Responses received so far. */
function remembered({ orders, customers, cancelled }: Memory) {
  return { orders: [...orders.values()], customers: [...customers], cancelled: [...cancelled] };
}

/** Asserts that the database has everything that responses contained. @returns the last order id */
function requireAll(environment: Environment, known: ReturnType<typeof remembered>): Promise<number> {
  return inShop(environment, async ({ database }) => {
    const rows = await database.all<Record<string, string | number>>(
      sql`select id, status, items, total_cents, notes from orders`,
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { id, items, total, notes } of known.orders) {
      const row = byId.get(id);
      assert.ok(row !== undefined, `order ${id} had a response before the backup but is not in it`);
      const stored = {
        items: JSON.parse(String(row.items)),
        total: dollars(Number(row.total_cents)),
        notes: row.notes,
      };
      assert.deepEqual(stored, { items, total, notes });
    }
    for (const id of known.cancelled) {
      assert.equal(byId.get(id)?.status, 'cancelled');
    }
    const customers = await database.all<{ username: string }>(sql`select username from customer`);
    const usernames = new Set(customers.map(({ username }) => username));
    assert.deepEqual(
      known.customers.filter(([, { username }]) => !usernames.has(username)),
      [],
    );
    return Math.max(...rows.map(({ id }) => Number(id)));
  });
}

/** Asserts that a server on the restored shop accepts keys and passwords, serves images and continues the ids. */
async function requireOpen(
  server: RunningServer,
  { load, key }: { readonly load: Load; readonly key: string },
  known: ReturnType<typeof remembered>,
  images: readonly string[],
  lastOrder: number,
): Promise<void> {
  for (const address of images) {
    const response = await fetch(`${server.url}/images/${nameOf(address)}`);
    assert.equal(response.status, 200, address);
    assertWhole(address, new Uint8Array(await response.arrayBuffer()));
  }
  const [, credentials] = known.customers.at(-1) ?? [];
  const login = await fetch(`${server.url}/v2/customer/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  assert.equal(login.status, 200, await login.text());
  assert.equal(await server.statusFor(key, 'POST'), 201);
  const before = load.memory.attempts.get(known.orders[0]?.id ?? 0);
  assert.ok(before !== undefined);
  const { orders } = load.memory;
  const sizeBefore = orders.size;
  await load.send(server.url, before);
  assert.equal(orders.size, sizeBefore, 'a repeated order gets its stored response');
  const notes = `new-${Math.random()}`;
  await load.send(server.url, {
    ...before,
    idempotencyKey: notes,
    body: { ...before.body, notes },
  });
  const made = [...orders.values()].find((order) => order.notes === notes);
  assert.ok((made?.id ?? 0) > lastOrder + 10_000, 'ids continue later');
}

function assertPrivate(...files: string[]): void {
  for (const file of files) {
    assert.equal((statSync(file).mode & 0o777).toString(8), '600', file);
  }
}

async function assertWell(environment: Environment): Promise<void> {
  const { code, stdout, stderr } = await curd(environment, 'doctor');
  assert.deepEqual([code, stderr], [0, ''], stdout);
}

test('A backup of a busy shop', async (backup) => {
  const environment = await freshShop(backup, settings);
  const folder = environment.CURD_DATA_DIR ?? '';
  const stocks = await createStock(environment, stock);
  const load = createLoad(stocks.key, stocks.cheeses, placers);
  const shop = { load, key: stocks.key };
  const server = await serve(backup, environment);
  const images = [...(await show(server, stocks, 1)), ...(await show(server, stocks, 2))];
  const working = load.run(server.url);
  working.catch(() => {});
  while (load.memory.cancelled.size < 3 || load.memory.customers.size === 0) {
    await Promise.race([sleep(5), working]);
  }
  const file = join(await temporaryFolder(backup), 'monday.tar');
  // The files of a killed backup.
  await writeFile(`${file}.unfinished`, 'half a backup');
  const known = remembered(load.memory);
  const before = Date.now();
  const made = await curdJson(environment, 'backup', file);
  const later = remembered(load.memory);
  while (load.memory.orders.size < later.orders.length + 20) {
    await Promise.race([sleep(5), working]);
  }
  await server.stop('SIGKILL');
  await working;
  const last = remembered(load.memory);
  let lastOrder = 0;

  await backup.test(
    'A backup of a busy shop is one private file, complete or absent, and does not block requests',
    () => {
      assert.ok(later.orders.length > known.orders.length, 'the shop processed orders meanwhile');
      assert.deepEqual(Object.keys(made), ['file', 'bytes', 'createdAt', 'images', 'missing', 'removed']);
      assert.deepEqual(
        [made.file, made.bytes, made.missing, made.removed],
        [file, statSync(file).size, [], []],
      );
      assert.ok(Date.parse(made.createdAt) >= before && Date.parse(made.createdAt) <= Date.now());
      assertPrivate(file);
      assert.deepEqual(readdirSync(join(file, '..')), ['monday.tar']);
    },
  );

  await backup.test(
    'A backup of a busy shop that is restored into an empty folder has everything from responses before it',
    async (t) => {
      const empty = await freshShop(t, settings);
      const fresh = await curdJson(empty, 'restore', file, '--yes');
      assert.deepEqual(fresh, {
        restored: file,
        createdAt: made.createdAt,
        images: made.images,
        kept: null,
        disabledEndpoints: [],
        idGap: 10_000,
      });
      await assertWell(empty);
      lastOrder = await requireAll(empty, known);
      await requireOpen(await serve(t, empty), shop, known, images, lastOrder);
    },
  );

  await backup.test(
    'A backup of a busy shop is restored over a later state of the shop, which is kept beside it',
    async (t) => {
      // The files of a killed restore.
      await writeFile(join(folder, 'restoring-half'), 'half a restore');
      const { kept } = await curdJson(environment, 'restore', file, '--yes');
      assert.match(kept, /curd\.sqlite\.before-\d{4}-\d\d-\d\dT[\d-]+Z$/);
      assert.equal(await requireAll(environment, known), lastOrder);
      await assertWell(environment);
      await requireAll({ ...environment, CURD_DATABASE: `sqlite:${kept}` }, last);
      await requireOpen(await serve(t, environment), shop, known, images, lastOrder);
      assert.deepEqual(
        readdirSync(folder).filter((name) => /restoring-[^h]|unfinished/.test(name)),
        [],
      );
    },
  );
});

test('A backup of images in a bucket is restored into a folder and into another bucket', async (t) => {
  const { endpoint, folder: objects } = await openBucket(t);
  const aws = awsSettings(endpoint);
  const imageSettings = { CURD_IMAGES: `s3://${bucket}/one`, ...aws };
  const environment = await freshShop(t, { ...settings, ...imageSettings });
  const stocks = await createStock(environment, stock);
  const server = await serve(t, environment);
  const addresses = await show(server, stocks, 3);
  const file = join(await temporaryFolder(t), 'bucket.tar');
  const { images } = await curdJson(environment, 'backup', file);
  assert.equal(images, 2);
  const home = await freshShop(t, settings);
  const run = await curd(home, 'restore', file, '--yes');
  assert.match(
    run.stdout,
    new RegExp(`^The shop is restored as of \\S+Z, with ${images} images\\.\nNew ids begin 10000 later`),
  );
  const names = namesIn(join(home.CURD_DATA_DIR ?? '', 'images'));
  assert.equal(names.length, images);
  for (const address of addresses) {
    const path = join(home.CURD_DATA_DIR ?? '', 'images', nameOf(address).slice(0, 2), nameOf(address));
    assertWhole(address, readFileSync(path));
  }
  await assertWell(home);
  const other = await freshShop(t, { ...settings, ...imageSettings, CURD_IMAGES: `s3://${bucket}/two` });
  assert.equal((await curdJson(other, 'restore', file, '--yes')).images, images);
  assert.deepEqual(namesIn(`${objects}/two`), namesIn(`${objects}/one`));
  assert.ok(!existsSync(join(other.CURD_DATA_DIR ?? '', 'images')));
  await assertWell(other);
});

test('A shop that is restored over a later state is consistent and has the same file permissions', async (t) => {
  const { shop, environment, cheeses } = await openFilledShop(t, 'sqlite');
  const file = join(await temporaryFolder(t), 'a.tar');
  await curdJson(environment, 'backup', file);
  await uploaded(shop, cheeses[0], await testImage(778));
  await shop.app.close();
  const database = join(shop.config.dataDir, 'curd.sqlite');
  chmodSync(database, 0o600);
  const { kept } = await curdJson(environment, 'restore', file, '--yes');
  assertPrivate(database, kept);
  await assertWell(environment);
});

test('A restore that has created a secret says that the secret of the other machine is needed', async (t) => {
  const { environment } = await openFilledShop(t, 'sqlite');
  const file = join(await temporaryFolder(t), 'a.tar');
  await curdJson(environment, 'backup', file);
  const dataDir = await temporaryFolder(t);
  const created = await curd({ CURD_DATA_DIR: dataDir }, 'restore', file);
  assert.ok(
    created.stdout.includes(`The secret of this shop is in ${join(dataDir, 'secret')}.`),
    created.stdout,
  );
  const given = { CURD_DATA_DIR: await temporaryFolder(t), CURD_SECRET: secret };
  assert.doesNotMatch((await curd(given, 'restore', file)).stdout, /The secret of this shop/);
});
