/** Backups and restores that are killed at any moment: the shop is the old or the new one, and each backup is complete. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { extract } from 'tar';
import { systemClock } from '../../src/clock.ts';
import { integrityErrors } from '../../src/database/sqlite/database-file.ts';
import { openFiles } from '../../src/files/open.ts';
import { checkImages } from '../../src/images/consistency-check.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { testImage, upload } from '../files/images.ts';
import { openShop, temporaryFolder } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { environmentOf } from './filled-shop.ts';
import { assertRefused, curd, curdJson, type Environment, inShop, resultOf, start } from './run.ts';

const imageCount = 40;

/** When a restore into a folder is killed: during unpacking, during the check, while images are copied, and at the end. */
const restoringMoments: readonly ((folder: string) => boolean)[] = [
  (folder) => existsSync(join(folder, restoringIn(folder), 'curd.sqlite')),
  (folder) => existsSync(join(folder, restoringIn(folder), 'curd.sqlite-wal')),
  (folder) => existsSync(join(folder, 'images')),
  (folder) => readdirSync(folder).some((name) => name.startsWith('curd.sqlite.before-')),
];

function restoringIn(folder: string): string {
  return readdirSync(folder).find((name) => name.startsWith('restoring-')) ?? 'nothing';
}

/** Runs a command and kills it `afterMs` after `begun` is true. */
async function killed(
  environment: Environment,
  args: readonly string[],
  begun: () => boolean,
  afterMs: number,
): Promise<void> {
  const child = start(args, environment);
  const closed = once(child, 'close');
  while (!begun() && child.exitCode === null) {
    await sleep(1);
  }
  if (afterMs > 0) {
    await sleep(afterMs);
  }
  child.kill('SIGKILL');
  await closed;
}

/** A closed shop with images. */
async function makeShop(t: TestContext): Promise<Environment> {
  const shop = await openShop(t);
  const cheese = await newCheese(shop);
  const bytes = await Promise.all(Array.from({ length: imageCount }, (_, seed) => testImage(seed)));
  // One credential may send 16 images at the same time.
  for (let from = 0; from < bytes.length; from += 16) {
    const responses = await Promise.all(bytes.slice(from, from + 16).map((one) => upload(shop, cheese, one)));
    assert.ok(responses.every(({ status }) => status === 200));
  }
  const {
    auth: { keys },
    contextOf,
  } = shop.app;
  await keys.createAccount(contextOf('test'), 'new');
  await shop.app.close();
  return environmentOf(shop);
}

/** A copy of the shop in another folder. */
async function copyOf(t: TestContext, shop: Environment): Promise<Environment> {
  const folder = join(await temporaryFolder(t), 'data');
  await cp(shop.CURD_DATA_DIR ?? '', folder, { recursive: true });
  return { ...shop, CURD_DATA_DIR: folder };
}

/** Asserts that the database and images are complete, and returns which shop it is. */
async function whichIsAt(environment: Environment): Promise<string> {
  const config = loadConfig(environment);
  assert.ok(config.database.engine === 'sqlite');
  assert.deepEqual(integrityErrors(config.database.file), []);
  return inShop(environment, async ({ database, auth: { keys } }) => {
    const found = await checkImages(database, await openFiles(config, systemClock), systemClock.now());
    // Images of an interrupted restore do not belong to a row.
    assert.deepEqual(
      found.filter(({ fault }) => !/belong to no image/.test(fault)),
      [],
    );
    const names = (await keys.listAccounts()).map(({ name }) => name);
    return names.includes('new') ? 'new' : String(names);
  });
}

async function oldShop(t: TestContext): Promise<Environment> {
  const environment = { CURD_DATA_DIR: await temporaryFolder(t), CURD_SECRET: 'x'.repeat(32) };
  await inShop(environment, ({ auth: { keys }, contextOf }) => keys.createAccount(contextOf('test'), 'old'));
  return environment;
}

test('A backup', async (suite) => {
  const shop = await makeShop(suite);
  const whole = join(await temporaryFolder(suite), 'whole.tar');
  const { images } = await curdJson(shop, 'backup', whole);
  assert.ok(images > imageCount);

  await suite.test(
    'A backup that is killed leaves no file or a complete one, and the next backup succeeds',
    async (t) => {
      const folder = await temporaryFolder(t);
      const file = join(folder, 'a.tar');
      const unfinished = `${file}.unfinished`;
      // At the beginning, with a part of the images, while the tar is written, and at the end.
      const moments = [
        () => existsSync(unfinished),
        () => existsSync(join(unfinished, 'images')),
        () => existsSync(join(unfinished, 'manifest.json')),
        // A file with the final name is complete.
        () => existsSync(file),
      ];
      let interrupted = 0;
      for (const [kill, begun] of moments.entries()) {
        await killed(shop, ['backup', file], begun, kill === moments.length - 1 ? 0 : Math.random() * 4);
        if (existsSync(file)) {
          break;
        }
        interrupted += 1;
      }
      t.diagnostic(`${interrupted} interrupted backups`);
      if (!existsSync(file)) {
        assert.equal((await curdJson(shop, 'backup', file)).images, images);
        assert.deepEqual(readdirSync(folder), ['a.tar']);
      }
      const home = await oldShop(t);
      await curdJson(home, 'restore', file, '--yes');
      assert.equal(await whichIsAt(home), 'new');
      const content = await temporaryFolder(t);
      await extract({ file, cwd: content, strict: true });
      assert.deepEqual(readdirSync(content).sort(), ['curd.sqlite', 'images', 'manifest.json']);
    },
  );

  await suite.test(
    'A backup whose restore is killed leaves the old shop or the new one, and the next restore succeeds',
    async (t) => {
      const old = await oldShop(t);
      let environment = old;
      const met: string[] = [];
      for (const [kill, begunIn] of restoringMoments.entries()) {
        environment = await copyOf(t, old);
        const folder = environment.CURD_DATA_DIR ?? '';
        const begun = () => begunIn(folder);
        await killed(environment, ['restore', whole], begun, kill === 0 ? 0 : Math.random() * 30);
        met.push(await whichIsAt(environment));
      }
      t.diagnostic(`after each kill: ${met}`);
      assert.ok(met.every((which) => which === 'old' || which === 'new'));
      // With the files that the last restore left.
      const folder = environment.CURD_DATA_DIR ?? '';
      await mkdir(join(folder, 'restoring-half', 'images'), { recursive: true });
      const again = await curdJson(environment, 'restore', whole, '--yes');
      assert.equal(await whichIsAt(environment), 'new');
      const doctor = await curd(environment, 'doctor');
      assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
      const home = await temporaryFolder(t);
      await cp(again.kept, join(home, 'curd.sqlite'));
      await cp(join(folder, 'images'), join(home, 'images'), { recursive: true });
      assert.equal(await whichIsAt({ ...environment, CURD_DATA_DIR: home }), met.at(-1));
    },
  );

  await suite.test(
    'A backup is not restored when the shop is opened meanwhile, and the shop stays unchanged',
    async (t) => {
      const home = await oldShop(t);
      const restoring = start(['restore', whole], home);
      const run = resultOf(restoring);
      while (!existsSync(join(home.CURD_DATA_DIR ?? '', 'images'))) {
        await sleep(1);
      }
      restoring.kill('SIGSTOP');
      await inShop(home, async ({ cheeses: { service: cheeses }, contextOf }) => {
        restoring.kill('SIGCONT');
        const { id } = await cheeses.create(contextOf('test'), { name: 'Answered' });
        assertRefused(await run, /has .*curd\.sqlite open\. Stop it first/);
        assert.equal((await cheeses.find(id)).id, id);
      });
      assert.equal(await whichIsAt(home), 'old');
    },
  );
});
