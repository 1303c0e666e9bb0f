/** Damaged backups are not restored and existing files are not overwritten: one sentence, and nothing is changed. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { create, extract } from 'tar';
import { secret } from '../context.ts';
import { createDatabase, temporaryFolder } from '../helper.ts';
import { openFilledShop } from './filled-shop.ts';
import {
  accountWithKey,
  assertEachRefused,
  assertRefused,
  curd,
  curdJson,
  type Environment,
  inShop,
  type Refusal,
  runInProcess,
  serve,
} from './run.ts';

/** The content of every file in a folder. */
function contentsOf(folder: string): Record<string, string> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = all.filter((one) => !one.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(files.sort().map((path) => [path, hash('sha256', readFileSync(path))]));
}

const environmentAt = (data: string): Environment => ({
  CURD_DATA_DIR: data,
  CURD_SECRET: secret,
  CURD_LOG_LEVEL: 'warn',
});

/** The data folder of another shop, which is closed. */
async function otherShop(t: TestContext): Promise<string> {
  const folder = join(await temporaryFolder(t), 'data');
  await inShop(environmentAt(folder), ({ auth: { keys }, contextOf }) =>
    keys.createAccount(contextOf('test'), 'other'),
  );
  await mkdir(join(folder, 'images', 'ab'), { recursive: true });
  await writeFile(join(folder, 'images', 'ab', 'abc.png'), 'an image');
  return folder;
}

interface Backup {
  readonly file: string;
  readonly bytes: Buffer;
  /** A folder with its unpacked content. */
  readonly content: string;
  readonly image: string;
}

async function aBackup(t: TestContext): Promise<Backup> {
  const { environment } = await openFilledShop(t, 'sqlite');
  const file = join(await temporaryFolder(t), 'good.tar');
  await curdJson(environment, 'backup', file);
  const content = await temporaryFolder(t);
  await extract({ file, cwd: content });
  const images = readdirSync(join(content, 'images'), { recursive: true }).map(String);
  const image = join('images', images.find((name) => name.endsWith('.png')) ?? '');
  return { file, bytes: await readFile(file), content, image };
}

const entries = ['curd.sqlite', 'images', 'manifest.json'];

/** A backup with changed content. Its manifest matches the database, unless `change` writes another manifest. */
async function remade(
  t: TestContext,
  { content }: Backup,
  change: (folder: string) => unknown,
  names: readonly string[] = entries,
): Promise<string> {
  const folder = join(await temporaryFolder(t), 'content');
  await cp(content, folder, { recursive: true });
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
  await change(folder);
  const digest = hash('sha256', await readFile(join(folder, 'curd.sqlite')));
  const isMine = (await readFile(join(folder, 'manifest.json'), 'utf8')) === JSON.stringify(manifest);
  if (isMine && digest !== manifest.database) {
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, database: digest }));
  }
  const file = `${folder}.tar`;
  await create({ file, cwd: folder, preservePaths: true }, [...names]);
  return file;
}

function changed(sql: string) {
  return (folder: string) => {
    const database = new DatabaseSync(join(folder, 'curd.sqlite'));
    database.exec(`pragma journal_mode = delete; pragma foreign_keys = off; ${sql}`);
    database.close();
  };
}

/** A change in the WAL file only, which no checksum covers. */
function logged(sql: string) {
  return async (folder: string) => {
    const work = join(folder, 'work.sqlite');
    await cp(join(folder, 'curd.sqlite'), work);
    const database = new DatabaseSync(work);
    database.exec(`pragma journal_mode = wal; pragma wal_autocheckpoint = 0; ${sql}`);
    await cp(`${work}-wal`, join(folder, 'curd.sqlite-wal'));
    database.close();
  };
}

async function written(t: TestContext, bytes: Uint8Array | string): Promise<string> {
  const file = join(await temporaryFolder(t), 'a.tar');
  await writeFile(file, bytes);
  return file;
}

/** The bytes with one bit changed at `place`. */
function flipped(bytes: Buffer, place: number): Buffer {
  assert.ok(place > 0 && place < bytes.length);
  const copy = Buffer.from(bytes);
  copy[place] = (copy[place] ?? 0) ^ 1;
  return copy;
}

/** The position of an entry: its block begins with the name. */
function entryOf(bytes: Buffer, name: string): number {
  let place = bytes.indexOf(name);
  while (place % 512 !== 0) {
    place = bytes.indexOf(name, place + 1);
  }
  return place;
}

type Making = (t: TestContext, backup: Backup) => string | Promise<string>;

/** Damaged backups by what is wrong with them, with the expected message. */
const damaged: Record<string, [RegExp, Making]> = {
  'that is not there': [/no backup at .*nowhere\.tar/, () => '/tmp/nowhere.tar'],
  'of nothing': [/is damaged/, (t) => written(t, '')],
  'that is a text': [/is damaged/, (t) => written(t, 'Dear shop,\n'.repeat(1000))],
  'that is a folder': [/is a folder\. Name a backup in it/, (t) => temporaryFolder(t)],
  'cut off in the database': [
    /is damaged.*Nothing was changed/,
    (t, { bytes }) => written(t, bytes.subarray(0, 60_000)),
  ],
  'cut off between two entries': [
    /it is incomplete/,
    (t, { bytes }) => written(t, bytes.subarray(0, entryOf(bytes, 'images/'))),
  ],
  'cut off in its last entry': [
    /is damaged/,
    (t, { bytes }) => written(t, bytes.subarray(0, bytes.lastIndexOf('{"curd"') + 20)),
  ],
  'with one other bit in the database': [
    /the checksum of the database is wrong/,
    (t, { bytes }) => written(t, flipped(bytes, bytes.indexOf('SQLite format 3') + 50_000)),
  ],
  'with one other bit in an image': [
    /the checksum of the image [0-9a-f-]+\.png is wrong/,
    async (t, { bytes, content, image }) =>
      written(t, flipped(bytes, bytes.indexOf(await readFile(join(content, image))) + 40)),
  ],
  'with one other bit in the name of an image': [
    /is damaged/,
    (t, { bytes, image }) => written(t, flipped(bytes, bytes.indexOf(image) + 20)),
  ],
  'with one other bit in what it says of the database': [
    /the checksum of the database is wrong/,
    (t, { bytes }) => written(t, flipped(bytes, bytes.lastIndexOf('"database":"') + 20)),
  ],
  'with one other bit in the number of images of the manifest': [
    /should contain \d+ images/,
    (t, { bytes }) => written(t, flipped(bytes, bytes.lastIndexOf('"images":') + 9)),
  ],
  'with one other bit in its date': [
    /the checksum of its manifest is wrong/,
    (t, { bytes }) => written(t, flipped(bytes, bytes.lastIndexOf('"createdAt":"') + 14)),
  ],
  'without one of its images': [
    /should contain 2 images, but contains 1/,
    (t, backup) => remade(t, backup, (folder) => rm(join(folder, backup.image))),
  ],
  'without a manifest': [/incomplete/, (t, backup) => remade(t, backup, () => {}, entries.slice(0, 2))],
  'whose manifest is of another kind': [
    /is damaged/,
    (t, backup) => remade(t, backup, (folder) => writeFile(join(folder, 'manifest.json'), '[]')),
  ],
  'of another program': [
    /incomplete/,
    (t, backup) => remade(t, backup, () => {}, [backup.image, 'manifest.json']),
  ],
  'with a damaged database': [
    /the database has errors \(/,
    (t, backup) => remade(t, backup, changed('delete from account')),
  ],
  'of a newer version': [
    /migration 9999 .* run "npx curd restore" of the newer version/,
    (t, backup) => remade(t, backup, changed("insert into migration (number, name) values (9999, 'future')")),
  ],
  'with a log beside its database, which would change it': [
    /it contains curd\.sqlite-wal, which does not belong to a backup/,
    (t, backup) =>
      remade(t, backup, logged("update account set name = 'mallory ' || id"), [
        ...entries,
        'curd.sqlite-wal',
      ]),
  ],
  'that leads out of the folder': [
    /is damaged/,
    (t, backup) =>
      remade(t, backup, (folder) => writeFile(join(folder, '..', 'evil'), 'evil'), [...entries, '../evil']),
  ],
  'that leads to the root': [
    /is damaged/,
    async (t, backup) => {
      const evil = join(await temporaryFolder(t), 'evil');
      await writeFile(evil, 'evil');
      return remade(t, backup, () => {}, [...entries, evil]);
    },
  ],
};

test('A backup', async (suite) => {
  const backup = await aBackup(suite);
  const { file, bytes } = backup;

  await suite.test('A backup that is damaged is refused, and nothing is changed', async (t) => {
    const data = await otherShop(t);
    const restore = (from: string) => () => {
      const known = contentsOf(join(data, '..'));
      return runInProcess(environmentAt(data), 'restore', [from]).finally(() =>
        assert.deepEqual(contentsOf(join(data, '..')), known),
      );
    };
    const refusals: Refusal[] = [];
    for (const [name, [says, make]] of Object.entries(damaged)) {
      refusals.push([name, restore(await make(t, backup)), says]);
    }
    await assertEachRefused(t, refusals);
  });

  await suite.test('A damaged backup is refused by a process too', async (t) => {
    const data = await otherShop(t);
    const known = contentsOf(data);
    for (const name of ['cut off in the database', 'with one other bit in an image']) {
      const [says, make] = damaged[name] ?? [];
      const from = await make?.(t, backup);
      assertRefused(await curd(environmentAt(data), 'restore', from ?? ''), says ?? /never/);
    }
    assert.deepEqual(contentsOf(data), known);
  });

  await suite.test(
    'A backup is refused over an existing file, without a shop, and on PostgreSQL',
    async (t) => {
      const data = await otherShop(t);
      const known = contentsOf(data);
      const here = environmentAt(data);
      const nowhere = { ...here, CURD_DATABASE: `sqlite:${data}/nothing.sqlite` };
      const elsewhere = { ...here, CURD_DATABASE: await createDatabase(t) };
      const fresh = join(data, '..', 'fresh.tar');
      const make = (environment: Environment, to: string, keep?: string) => () =>
        runInProcess(environment, 'backup', [to], { keep });
      await assertEachRefused(t, [
        ['over a file', make(here, file), /good\.tar already exists\. Name another/],
        ['with a date in a folder', make(here, join(data, '{date}', 'a.tar')), /\{date\} in a folder name/],
        ['that keeps none', make(here, data, '0'), /--keep is "0": set it to a whole number from 1/],
        [
          'that keeps some of one name',
          make(here, fresh, '3'),
          /fresh\.tar is neither a folder that exists nor a name with \{date\}/,
        ],
        ['of nothing', make(nowhere, fresh), /no database at .*nothing\.sqlite/],
        ['of PostgreSQL', make(elsewhere, fresh), /PostgreSQL is backed up with pg_basebackup/],
        [
          'into no folder',
          make(here, join(data, 'no', 'such', 'folder.tar')),
          /no folder .*such\. Create it first/,
        ],
        [
          'for PostgreSQL',
          () => runInProcess(elsewhere, 'restore', [file]),
          /restored on SQLite\. Leave CURD_DATABASE out/,
        ],
      ]);
      assertRefused(await curd(here, 'backup', file), /good\.tar already exists/);
      assert.deepEqual(contentsOf(data), known);
      assert.ok(!existsSync(fresh));
      assert.deepEqual(readdirSync(join(file, '..')), ['good.tar']);
    },
  );

  await suite.test('A backup is not restored while a server runs, and the server continues', async (t) => {
    const data = await otherShop(t);
    const environment = environmentAt(data);
    const { key } = await accountWithKey(environment, ['write:cheeses']);
    const server = await serve(t, environment);
    assertRefused(await curd(environment, 'restore', file), /has .*curd\.sqlite open\. Stop it first/);
    assert.deepEqual([await server.statusFor(key, 'POST'), await server.statusFor(key)], [201, 200]);
    assert.equal((await server.stop()).stderr, '');
    assert.deepEqual(
      readdirSync(data).filter((one) => /before|restoring/.test(one)),
      [],
    );
  });

  await suite.test('A backup that was compressed with gzip is restored', async (t) => {
    const data = await otherShop(t);
    const zipped = await written(t, gzipSync(bytes));
    assert.equal((await curdJson(environmentAt(data), 'restore', zipped)).images, 2);
  });

  await suite.test(
    'A backup with a link in it is refused, and the target of the link is unchanged',
    async (t) => {
      const outside = await temporaryFolder(t);
      await cp(backup.content, outside, { recursive: true });
      const known = contentsOf(outside);
      const data = await otherShop(t);
      const before = contentsOf(data);
      const refusals: Refusal[] = [];
      for (const name of entries) {
        const from = await remade(t, backup, async (folder) => {
          await rm(join(folder, name), { recursive: true });
          await symlink(join(outside, name), join(folder, name));
        });
        refusals.push([
          `for ${name}`,
          () => runInProcess(environmentAt(data), 'restore', [from]),
          /is damaged/,
        ]);
      }
      await assertEachRefused(t, refusals);
      assert.deepEqual(contentsOf(data), before);
      assert.deepEqual(contentsOf(outside), known);
    },
  );
});
