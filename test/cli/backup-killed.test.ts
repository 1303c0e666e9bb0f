/** Backups and restorations that are killed at any moment: the shop is the old or the new one, and no backup is half. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { extract } from 'tar';
import { inspectImages } from '../../src/cheeses/image-inspection.ts';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config.ts';
import { faultsOf } from '../../src/database/sqlite-file.ts';
import { openFiles } from '../../src/files/files.ts';
import { openServices } from '../../src/services.ts';
import { newCheese, picture, upload } from '../files/photos.ts';
import { openShop, temporaryFolder } from '../helper.ts';
import { environmentOf } from './life.ts';
import { assertRefused, curd, curdJson, type Environment, ended, start } from './run.ts';

const kills = 4;
const pictures = 40;

/** Runs a command, and kills it so many milliseconds after `begun` first says so. */
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

async function shopWithPictures(t: TestContext): Promise<Environment> {
  const shop = await openShop(t);
  const cheese = await newCheese(shop);
  const bytes = await Promise.all(Array.from({ length: pictures }, (_, seed) => picture(seed)));
  const answers = await Promise.all(bytes.map((one) => upload(shop, cheese, one)));
  assert.ok(answers.every(({ status }) => status === 200));
  const { keys, contextOf } = shop.app.services;
  await keys.createAccount(contextOf('test'), 'new');
  return environmentOf(shop);
}

/** A shop is whole, as its database and the pictures of it go, and says which one it is. */
async function whichIsAt(environment: Environment): Promise<string> {
  const config = loadConfig(environment);
  assert.ok(config.database.engine === 'sqlite');
  assert.deepEqual(faultsOf(config.database.file), []);
  const { database, keys, close } = await openServices(config);
  const found = await inspectImages(database, await openFiles(config, systemClock), systemClock.now());
  // Those of a backup that came half way belong to nobody yet.
  assert.deepEqual(
    found.filter(({ fault }) => !/belong to no picture/.test(fault)),
    [],
  );
  const names = (await keys.listAccounts()).map(({ name }) => name);
  await close();
  return names.includes('new') ? 'new' : String(names);
}

async function oldShop(t: TestContext): Promise<Environment> {
  const environment = { CURD_DATA_DIR: await temporaryFolder(t), CURD_SECRET: 'x'.repeat(32) };
  const { keys, contextOf, close } = await openServices(loadConfig(environment));
  await keys.createAccount(contextOf('test'), 'old');
  await close();
  return environment;
}

suite('A command that is killed', { concurrency: 2 }, () => {
  test('while it backs a shop up leaves no backup, or a whole one, and is no hindrance to the next', async (t) => {
    const environment = await shopWithPictures(t);
    const folder = await temporaryFolder(t);
    const file = join(folder, 'a.tar');
    const unfinished = `${file}.unfinished`;
    // At its beginning, with a part of the pictures, while the tar is written, and at its end.
    const moments = [
      () => existsSync(unfinished),
      () => existsSync(join(unfinished, 'images')),
      () => existsSync(join(unfinished, 'manifest.json')),
      // Under its name it is whole.
      () => existsSync(file),
    ];
    let cutShort = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const begun = moments[kill % moments.length] ?? (() => true);
      await killed(environment, ['backup', file], begun, kill === moments.length - 1 ? 0 : Math.random() * 4);
      cutShort += existsSync(file) ? 0 : 1;
      if (existsSync(file)) {
        break;
      }
    }
    t.diagnostic(`${cutShort} backups cut short`);
    if (!existsSync(file)) {
      assert.ok((await curdJson(environment, 'backup', file)).images > pictures);
      assert.deepEqual(readdirSync(folder), ['a.tar']);
    }
    const home = await oldShop(t);
    await curdJson(home, 'restore', file);
    assert.equal(await whichIsAt(home), 'new');
    const content = await temporaryFolder(t);
    await extract({ file, cwd: content, strict: true });
    assert.deepEqual(readdirSync(content).sort(), ['curd.sqlite', 'images', 'manifest.json']);
  });

  test('while it restores a shop leaves the old one or the new one, and is no hindrance to the next', async (t) => {
    const file = join(await temporaryFolder(t), 'a.tar');
    await curdJson(await shopWithPictures(t), 'backup', file);
    const old = await oldShop(t);
    let environment = old;
    const met: string[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const folder = join(await temporaryFolder(t), 'data');
      await cp(old.CURD_DATA_DIR ?? '', folder, { recursive: true });
      environment = { ...old, CURD_DATA_DIR: folder };
      const restoring = () => readdirSync(folder).find((name) => name.startsWith('restoring-')) ?? 'nothing';
      const moments = [
        () => existsSync(join(folder, restoring(), 'curd.sqlite')),
        () => existsSync(join(folder, restoring(), 'curd.sqlite-wal')),
        () => existsSync(join(folder, 'images')),
        () => readdirSync(folder).some((name) => name.startsWith('curd.sqlite.before-')),
      ];
      const begun = moments[kill % moments.length] ?? (() => true);
      await killed(environment, ['restore', file], begun, kill === 0 ? 0 : Math.random() * 30);
      met.push(await whichIsAt(environment));
    }
    t.diagnostic(`after each kill: ${met}`);
    assert.ok(met.every((which) => which === 'old' || which === 'new'));
    // Over what the last one left.
    const folder = environment.CURD_DATA_DIR ?? '';
    await mkdir(join(folder, 'restoring-half', 'images'), { recursive: true });
    const again = await curdJson(environment, 'restore', file);
    assert.equal(await whichIsAt(environment), 'new');
    const doctor = await curd(environment, 'doctor');
    assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
    const home = await temporaryFolder(t);
    await cp(again.kept, join(home, 'curd.sqlite'));
    await cp(join(folder, 'images'), join(home, 'images'), { recursive: true });
    assert.equal(await whichIsAt({ ...environment, CURD_DATA_DIR: home }), met.at(-1));
  });

  test('nor is a server hurt that starts while a backup is being restored', async (t) => {
    const file = join(await temporaryFolder(t), 'a.tar');
    await curdJson(await shopWithPictures(t), 'backup', file);
    const home = await oldShop(t);
    const restoring = start(['restore', file], home);
    const run = ended(restoring);
    while (!existsSync(join(home.CURD_DATA_DIR ?? '', 'images'))) {
      await sleep(1);
    }
    restoring.kill('SIGSTOP');
    const { cheeses, contextOf, close } = await openServices(loadConfig(home));
    restoring.kill('SIGCONT');
    const { id } = await cheeses.create(contextOf('test'), { name: 'Answered' });
    assertRefused(await run, /has .*curd\.sqlite open: stop it first/);
    assert.equal((await cheeses.find(id)).id, id);
    await close();
    assert.equal(await whichIsAt(home), 'old');
  });
});
