/** The worker with background jobs of a kind only for tests: batches, failures and parked jobs. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Clock, timestamp } from '../../src/clock.ts';
import type { Database, Sql } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { Loops } from '../../src/jobs/loops.ts';
import { jobQueue } from '../../src/jobs/queue.ts';
import { type JobHandler, JobWorker } from '../../src/jobs/worker.ts';
import { createLog } from '../../src/log.ts';
import { onBothEngines, testClock } from '../context.ts';
import { freshConfig, open } from './notes.ts';

const kind = 'note.test';

/**
 * A worker whose jobs write a row each. Jobs named `bad` fail. A batch leaves jobs named `left...`, and lets `alone` run
 * alone.
 */
async function openWorker(t: TestContext, engine: Engine, clock: Clock) {
  const database = await open(t, await freshConfig(t, engine));
  await migrate(database);
  await database.exclusiveTransaction((_tx, run) => run('create table done (key text not null)'));
  const batches: string[] = [];
  const ranAlone: string[] = [];
  async function work(tx: Sql, key: string) {
    await tx.run(sql`insert into done (key) values (${key})`);
    if (key === 'bad') {
      throw new Error('a reason '.repeat(100));
    }
  }
  const handler: JobHandler = {
    kind,
    attemptsMax: 2,
    async run(tx, { key }) {
      if (await jobQueue(tx).claim(kind, key, timestamp(clock.now()))) {
        ranAlone.push(key);
        await work(tx, key);
      }
    },
    async runBatch(tx, jobs) {
      batches.push(jobs.map(({ key }) => key).join(' '));
      const some = jobs.filter(({ key }) => key !== 'alone' && !key.startsWith('left'));
      for (const { key } of some) {
        await jobQueue(tx).delete(kind, key);
        await work(tx, key);
      }
      return jobs.filter(({ key }) => key === 'alone');
    },
  };
  const worker = new JobWorker({
    database,
    clock,
    log: createLog('silent'),
    loops: new Loops(clock),
    handlers: [handler],
  });
  return { database, worker, batches, ranAlone };
}

async function addAll(database: Database, clock: Clock, keys: readonly string[]): Promise<void> {
  await database.transaction(async (tx) => {
    for (const [index, key] of keys.entries()) {
      await jobQueue(tx).add(kind, key, timestamp(clock.now() + index));
    }
    await jobQueue(tx).add('another.kind', 'untouched', timestamp(clock.now()));
  });
}

async function keysIn(database: Database, table: 'done' | 'background_job'): Promise<string[]> {
  const statement =
    table === 'done' ? sql`select key from done` : sql`select key from background_job where kind = ${kind}`;
  return (await database.all<{ key: string }>(statement)).map(({ key }) => key).sort();
}

onBothEngines('Background jobs', (engine) => {
  test('Background jobs run in one transaction when they are due, and not before', async (t) => {
    const clock = testClock();
    const { database, worker, batches, ranAlone } = await openWorker(t, engine, clock);
    await addAll(database, clock, ['a', 'b', 'c', 'alone', 'e']);
    await database.transaction((tx) => jobQueue(tx).delete(kind, 'b'));
    clock.advance(3);
    await worker.run();
    assert.deepEqual(await keysIn(database, 'done'), ['a', 'alone', 'c']);
    assert.deepEqual(await keysIn(database, 'background_job'), ['e']);
    assert.deepEqual([batches, ranAlone], [['a c alone'], ['alone']]);
    clock.advance(1);
    await worker.run();
    assert.deepEqual(await keysIn(database, 'done'), ['a', 'alone', 'c', 'e']);
    const others = await database.all(sql`select key from background_job`);
    assert.equal(others.length, 1, 'a job of another kind was run');
  });

  test('Background jobs run alone when their batch failed, and the one that fails is parked with its error', async (t) => {
    const clock = testClock();
    const { database, worker, batches } = await openWorker(t, engine, clock);
    await addAll(database, clock, ['a', 'bad', 'c']);
    clock.advance(10);
    await worker.run();
    assert.deepEqual(await keysIn(database, 'done'), ['a', 'c']);
    const stored = () =>
      database.get<{ attempts: number; last_error: string; due_at: string; parked_at: string | null }>(
        sql`select attempts, last_error, due_at, parked_at from background_job where key = 'bad'`,
      );
    const failed = await stored();
    assert.deepEqual([failed?.attempts, failed?.parked_at], [1, null]);
    assert.equal(failed?.due_at, timestamp(clock.now() + 1000));
    assert.equal(failed?.last_error, 'a reason '.repeat(100).slice(0, 200));
    clock.advance(1000);
    await worker.run();
    assert.deepEqual([(await stored())?.attempts, (await stored())?.parked_at], [2, timestamp(clock.now())]);
    assert.deepEqual(batches, ['a bad c'], 'a job that had failed was in another batch');
    clock.advance(60_000);
    await worker.run();
    assert.equal((await stored())?.attempts, 2, 'a parked job was run');
  });

  test('Background jobs run behind any number of jobs that batches leave', async (t) => {
    const clock = testClock();
    const { database, worker, batches } = await openWorker(t, engine, clock);
    const left = Array.from({ length: 150 }, (_, index) => `left ${String(index).padStart(3, '0')}`);
    await database.transaction(async (tx) => {
      await jobQueue(tx).schedule(kind, left, timestamp(clock.now()));
      await jobQueue(tx).add(kind, 'last', timestamp(clock.now()));
    });
    await worker.run();
    assert.deepEqual(await keysIn(database, 'done'), ['last']);
    assert.deepEqual(await keysIn(database, 'background_job'), left);
    assert.equal(batches.length, 3, 'jobs came again in one run');
  });
});
