import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { purgeInSlices } from '../../src/database/purge.ts';
import { rawSql, sql, type Value } from '../../src/database/sql.ts';
import { Loops } from '../../src/jobs/loops.ts';
import type { Log } from '../../src/log.ts';
import { startMaintenance } from '../../src/operations/maintenance.ts';
import { onBothEngines, openShop, shared, testClock } from '../helper.ts';

const past = '2026-05-31T00:00:00.000Z';
const future = '2026-06-01T12:30:00.000Z';
/** More than two slices. */
const rows = { sqlite: 1001, postgres: 4001 };

test('Maintenance runs tasks that have work left again after the others, until it is stopped', async () => {
  const runs: string[] = [];
  let left = 3;
  const purge = async () => {
    runs.push('purge');
    left -= 1;
    return left > 0;
  };
  const report = async () => {
    runs.push('report');
    return left;
  };
  const log = { error: assert.fail } as unknown as Log;
  const maintenance = startMaintenance(log, new Loops(testClock()), [purge, report], () => {});
  await maintenance.run();
  assert.deepEqual(runs, ['purge', 'report', 'purge', 'purge']);
  left = 1_000_000;
  const running = maintenance.run();
  await maintenance.stop();
  await running;
  assert.equal(left, 999_999);
});

onBothEngines('A purge', (engine) => {
  const open = shared((t) => openShop(t, { engine, clock: testClock() }));

  test('A purge deletes expired rows in slices, and keeps the others', async (t) => {
    // In a shop of its own: the shared one may be older than a minute, and its counters were purged then.
    const { app } = await openShop(t, { engine, clock: testClock() });
    const { database } = app;
    const quota: [columns: string[], old: Value[], current: Value[]] =
      engine === 'sqlite'
        ? [
            ['uses', 'ends_at'],
            ['{}', past],
            ['{}', future],
          ]
        : [['hour_times'], [`{${Date.parse(past)}}`], [`{${Date.parse(future)}}`]];
    const tables: [table: string, key: string, columns: string[], old: Value[], current: Value[]][] = [
      [
        'oauth_object',
        'id',
        ['model', 'payload', 'expires_at'],
        ['Code', '{}', past],
        ['Code', '{}', future],
      ],
      ['login_failure', 'id', ['failures', 'ends_at'], [1, past], [1, future]],
      ['quota', 'subject', ...quota],
    ];
    for (const [table, key, columns, old, current] of tables) {
      const names = Array.from({ length: rows[engine] }, (_, index) => `row ${index}`);
      await database.insert(
        table,
        [key, ...columns],
        [
          ...names.map((name) => [name, ...old]),
          // In the last slice by the key, and in the first one.
          ['zzz', ...current],
          ['aaa', ...current],
        ],
      );
    }
    await app.maintenance.run();
    for (const [table, key] of tables) {
      const [name, from] = [rawSql(key), rawSql(table)];
      const left = await database.all<{ name: string }>(
        sql`select ${name} as name from ${from} where ${name} in ('zzz', 'aaa') or ${name} like 'row %' order by ${name}`,
      );
      assert.deepEqual(
        left.map(({ name }) => name),
        ['aaa', 'zzz'],
        table,
      );
    }
  });

  test('A purge lets other changes run between its slices', async () => {
    const { database } = open().app;
    const order: string[] = [];
    let slices = 0;
    const purge = purgeInSlices(
      database,
      async (tx) => {
        await tx.run(sql`update login_failure set failures = failures where id = 'aaa'`);
        order.push('slice');
        slices += 1;
        return slices < 3 ? 10 : 9;
      },
      10,
    );
    while (slices < 3) {
      await nextTurn();
      await database.run(sql`update login_failure set failures = failures where id = 'zzz'`);
      order.push('other');
    }
    await purge;
    assert.equal(slices, 3);
    const between = order.slice(order.indexOf('slice') + 1, order.lastIndexOf('slice'));
    assert.ok(between.includes('other'), order.join());
  });
});

test('A purge keeps the write-ahead log of SQLite short', async (t) => {
  const { app } = await openShop(t, { clock: testClock() });
  const { database: location } = app.config;
  const file = location.engine === 'sqlite' ? location.file : assert.fail();
  const payload = 'x'.repeat(4000);
  const names = Array.from({ length: 4000 }, (_, index) => `long ${index}`);
  await app.database.insert(
    'oauth_object',
    ['id', 'model', 'payload', 'expires_at'],
    names.map((name) => [name, 'Code', payload, past]),
  );
  const connection = new DatabaseSync(file);
  connection.exec('pragma wal_checkpoint(truncate)');
  connection.close();
  await app.maintenance.run();
  assert.ok(statSync(`${file}-wal`).size < 4 * 2 ** 20, `${statSync(`${file}-wal`).size} bytes`);
});
