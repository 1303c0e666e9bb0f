/** Regular backups, into a folder or with {date} in the file name, and the deletion of old ones. */
import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { findBackupTime } from '../../src/database/checks/state.ts';
import { temporaryFolder } from '../context.ts';
import { curd, curdJson, freshShop, inShop } from './run.ts';

const dated = /^curd-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar$/;

suite('curd backup', { concurrency: 2 }, () => {
  test('curd backup names a backup in a folder by the time, and --keep deletes the oldest of these names', async (t) => {
    const shop = await freshShop(t);
    await curdJson(shop, 'migrate');
    const folder = await temporaryFolder(t);
    const days = ['01', '02', '03'].map((day) => `curd-2020-01-${day}T00-00-00Z.tar`);
    const others = ['curd-monday.tar', 'curd-2020-01-01T00-00-00Z.tar.gz', 'shop-2020-01-01T00-00-00Z.tar'];
    for (const name of [...days, ...others]) {
      writeFileSync(join(folder, name), '');
    }
    const link = 'curd-2019-01-01T00-00-00Z.tar';
    symlinkSync(join(folder, 'curd-monday.tar'), join(folder, link));
    const [abandoned, running] = ['2020-01-01T00-00-00Z', '2020-01-02T00-00-00Z'].map(
      (date) => `curd-${date}.tar.unfinished`,
    ) as [string, string];
    for (const name of [abandoned, running]) {
      mkdirSync(join(folder, name));
    }
    utimesSync(join(folder, abandoned), 0, 0);

    const { file, removed, createdAt } = await curdJson(shop, 'backup', folder, '--keep', '2');
    const made = file.slice(folder.length + 1);
    assert.match(made, dated);
    assert.deepEqual(
      removed,
      days.slice(0, 2).map((name) => join(folder, name)),
    );
    assert.deepEqual(readdirSync(folder).sort(), [made, days[2], ...others, link, running].sort());
    const backupTime = () => inShop(shop, ({ database }) => findBackupTime(database));
    assert.equal(await backupTime(), createdAt);
    assert.equal((await curdJson(shop, 'restore', file, '--yes')).restored, file);
    assert.equal(await backupTime(), null, 'of the shop before the backup');
  });

  test('curd backup does not follow symbolic links planted at its temporary and its final name', async (t) => {
    const shop = await freshShop(t);
    await curdJson(shop, 'migrate');
    const [folder, victim] = [await temporaryFolder(t), await temporaryFolder(t)];
    writeFileSync(join(victim, 'kept'), 'untouched');
    const file = join(folder, 'a.tar');
    symlinkSync(victim, `${file}.unfinished`);
    symlinkSync(join(victim, 'made'), file);
    assert.equal((await curdJson(shop, 'backup', file)).file, file);
    assert.deepEqual(readdirSync(victim), ['kept']);
    assert.ok(lstatSync(file).isFile());
    assert.deepEqual(readdirSync(folder), ['a.tar']);
  });

  test('curd backup under a name with {date} says what it removed, and without --keep removes nothing', async (t) => {
    const shop = await freshShop(t);
    await curdJson(shop, 'migrate');
    const folder = await temporaryFolder(t);
    const old = join(folder, 'shop 2020-01-01T00-00-00Z (1).tar');
    writeFileSync(old, '');
    const pattern = join(folder, 'shop {date} (1).tar');
    const first = await curdJson(shop, 'backup', pattern);
    assert.match(first.file, /shop \d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ \(1\)\.tar$/);
    assert.deepEqual(first.removed, []);
    renameSync(first.file, first.file.replace(/\d{4}-/, '2021-'));
    const { code, stdout, stderr } = await curd(shop, 'backup', pattern, '--keep', '2');
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(stdout.includes(`Deleted ${old}.\n`), stdout);
    assert.equal(readdirSync(folder).length, 2);
  });
});
