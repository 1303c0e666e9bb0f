/** Exclusive transactions, which change whole tables without a time limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate } from '../../src/database/migrate.ts';
import { type Statement, sql } from '../../src/database/sql.ts';
import { onBothEngines } from '../helper.ts';
import { freshConfig, insertNote, open, openNotes, textsIn } from './notes.ts';

onBothEngines('An exclusive transaction', (engine) => {
  test('An exclusive transaction returns the result of its work, and rolls back work that fails', async (t) => {
    const database = await openNotes(t, engine);
    assert.equal(await database.exclusiveTransaction((tx) => tx.run(insertNote(1, 'kept'))), 1);
    const failing = database.exclusiveTransaction(async (tx) => {
      await tx.run(insertNote(2, 'lost'));
      throw new Error('half way');
    });
    await assert.rejects(failing, /^Error: half way$/);
    assert.deepEqual(await textsIn(database), ['kept']);
  });

  test('An exclusive transaction sees the changes of a concurrent one that began before it', async (t) => {
    const config = await freshConfig(t, engine);
    const [one, other] = [await open(t, config), await open(t, config)];
    const applied = await Promise.all([migrate(one), migrate(other)]);
    assert.deepEqual(applied.map((names) => names.length > 0).sort(), [false, true]);
  });
});

test('An exclusive transaction on PostgreSQL has no time limit of requests', async (t) => {
  const database = await openNotes(t, 'postgres');
  const bound = (): Statement => sql`select setting from pg_settings where name = 'statement_timeout'`;
  const { setting } = (await database.get<{ setting: string }>(bound())) ?? {};
  assert.equal(setting, '30000');
  assert.equal(
    (await database.exclusiveTransaction((tx) => tx.get<{ setting: string }>(bound())))?.setting,
    '0',
  );
});
