/** Changes of every kind at the same time, through two instances on one PostgreSQL: none waits for another in a circle. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { createDatabase } from '../helper.ts';
import { openInstances } from './instances.ts';
import { violationsOf } from './locks.ts';
import { createWorks, pick } from './mixed-work.ts';
import { readTransactions } from './statements.ts';

/** How many requests are sent. */
const requests = Number(process.env.CURD_TEST_MIXED ?? 120);
const clients = 12;

test('Requests of every kind lock in one order, and never deadlock', { timeout: 900_000 }, async (t) => {
  /** Each with the statements of a transaction. */
  const violations = new Map<string, string>();
  const url = await readTransactions(t, await createDatabase(t, 'template_curd'), (statements) => {
    for (const violation of violationsOf(statements)) {
      const texts = statements.map(({ text }) => text.trim().replaceAll(/\s+/g, ' '));
      violations.set(violation, texts.join('\n'));
    }
  });
  const shops = await openInstances(t, 2, { settings: { CURD_DATABASE: url, CURD_APPROVAL_DELAY: '1s' } });
  const { works, all } = await createWorks(shops);
  const counts = new Map<number, number>();
  const waiting = [
    ...works,
    ...Array.from({ length: Math.max(0, requests - works.length) }, () => pick(all)),
  ];
  async function client(): Promise<void> {
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      const response = await work();
      const { status = 0, text = '', headers = {} } = response ?? {};
      counts.set(status, (counts.get(status) ?? 0) + 1);
      // A dry run does not wait long for a real change, a server runs one import at a time, and on a busy machine a
      // change waits too long for others.
      const mayGiveUp =
        status === 503 &&
        (headers['dry-run'] !== undefined || /Another import|Other changes are in progress/.test(text));
      assert.ok(status < 500 || mayGiveUp, text);
    }
  }
  await Promise.all(Array.from({ length: clients }, client));
  t.diagnostic(JSON.stringify([...counts]));
  // A connection reports what it counted within a second.
  await sleep(1100);
  const { database } = shops.all[0].app;
  await database.get(sql`select pg_stat_force_next_flush() is null as done`);
  const row = await database.get<{ deadlocks: number }>(
    sql`select deadlocks from pg_stat_database where datname = current_database()`,
  );
  assert.equal(row?.deadlocks, 0);
  assert.deepEqual([...violations.keys()], [], [...violations].flat().join('\n'));
});
