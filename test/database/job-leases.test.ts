/** Jobs under leases: lanes in turn, limits, and results that come too late. The kind is only for these tests. */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/clock.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { type Engine, sql } from '../../src/database/sql.ts';
import { watchLeases } from '../../src/jobs/lease-watch.ts';
import { type LeaseHandler, LeaseWorker } from '../../src/jobs/lease-worker.ts';
import { type LeasedAttempt, type LeasedJob, leasedJobs } from '../../src/jobs/leases.ts';
import { Loops } from '../../src/jobs/loops.ts';
import { createLog } from '../../src/log.ts';
import { onBothEngines, testClock, until } from '../context.ts';
import { freshConfig, open } from './notes.ts';

const kind = 'lease.test';
const loops = new Loops(testClock());
const leaseMs = 60_000;
const laneMax = 8;

async function openMigrated(t: TestContext, engine: Engine): Promise<Database> {
  const database = await open(t, await freshConfig(t, engine));
  await migrate(database);
  return database;
}

function add(database: Database, clock: Clock, lane: string, jobs: number): Promise<void> {
  const keys = Array.from({ length: jobs }, (_, index) => `${lane}:${String(index).padStart(3, '0')}`);
  return database.transaction((tx) => leasedJobs(tx).addMissing({ kind, lane }, keys, clock.now()));
}

function lease(database: Database, clock: Clock, lane: string, max = laneMax): Promise<LeasedJob[]> {
  return database.transaction((tx) =>
    leasedJobs(tx).lease({ kind, lane }, { max, runningMax: laneMax }, clock.now(), leaseMs),
  );
}

async function end(database: Database, job: LeasedJob): Promise<void> {
  await database.transaction((tx) => leasedJobs(tx).end(kind, job));
}

const workOf = (jobs: readonly LeasedJob[]): LeasedAttempt[] => jobs.map((job) => ({ job }));
const keysOf = (jobs: readonly LeasedJob[]) => jobs.map(({ key }) => key).sort();

onBothEngines('Jobs under leases', (engine) => {
  test('Jobs under leases are leased once, up to the limit of their lane, and again when the lease was ended', async (t) => {
    const clock = testClock();
    const database = await openMigrated(t, engine);
    await add(database, clock, 'a', 10);
    await add(database, clock, 'a', 10);
    const first = await lease(database, clock, 'a', 5);
    const second = await lease(database, clock, 'a');
    assert.deepEqual([first.length, second.length], [5, 3], 'eight of the lane run at once');
    assert.deepEqual(await lease(database, clock, 'a'), []);
    const [one, two] = first as [LeasedJob, LeasedJob];
    assert.equal(await database.transaction((tx) => leasedJobs(tx).end(kind, one)), true);
    assert.equal(
      await database.transaction((tx) => leasedJobs(tx).postpone(kind, two, clock.now() + 5000, 'no')),
      true,
    );
    assert.equal((await lease(database, clock, 'a')).length, 2, 'two of the lane have ended');
    clock.advance(leaseMs * 2);
    assert.deepEqual(await lease(database, clock, 'a'), [], 'a clock ends no lease');
    await leasedJobs(database).endAllLeases(kind, clock.now());
    const again = await lease(database, clock, 'a');
    assert.equal(again.length, 8);
    const late = first.find(({ key }) => again.some((job) => job.key === key && job.attempts === 2));
    assert.ok(late !== undefined);
    assert.equal(await database.transaction((tx) => leasedJobs(tx).end(kind, late)), false);
    assert.equal(
      await database.transaction((tx) => leasedJobs(tx).postpone(kind, late, clock.now(), 'late')),
      false,
      'the result of an earlier attempt counted',
    );
  });

  test('Jobs under leases are due by lane; postponed ones can be made due, and a lane can be emptied', async (t) => {
    const clock = testClock();
    const database = await openMigrated(t, engine);
    await add(database, clock, 'b', 2);
    await add(database, clock, 'a', 1);
    await add(database, clock, 'c', 1);
    const lanes = async () =>
      (await leasedJobs(database).listDueLanes(kind, clock.now())).map(({ lane }) => lane);
    assert.deepEqual(await lanes(), ['a', 'b', 'c']);
    const [job] = (await lease(database, clock, 'a')) as [LeasedJob];
    await database.transaction((tx) =>
      leasedJobs(tx).postpone(kind, job, clock.now() + 1000, 'x'.repeat(300)),
    );
    assert.deepEqual(await lanes(), ['b', 'c']);
    const stored = await database.get<{ last_error: string }>(
      sql`select last_error from background_job where key = ${job.key}`,
    );
    assert.equal(stored?.last_error.length, 200);
    await database.transaction((tx) =>
      leasedJobs(tx).makeLaneDue({ kind, lane: 'a' }, clock.now(), { earlyMax: 1, isForced: false }),
    );
    assert.deepEqual(await lanes(), ['a', 'b', 'c']);
    await database.transaction((tx) => leasedJobs(tx).deleteLane({ kind, lane: 'b' }, 100));
    assert.deepEqual(await lanes(), ['a', 'c']);
  });

  test('Jobs under leases in a lane with many due jobs do not delay the job of another lane', async (t) => {
    const clock = testClock();
    const database = await openMigrated(t, engine);
    await add(database, clock, 'busy', 200);
    const done: string[] = [];
    let running = 0;
    let runningMost = 0;
    const handler: LeaseHandler<LeasedAttempt, void> = {
      kind,
      laneMax,
      leaseMs,
      claim: async (lane, max) => workOf(await lease(database, clock, lane, max)),
      async run({ job }) {
        running += 1;
        runningMost = Math.max(runningMost, running);
        await sleep(1);
        running -= 1;
        done.push(job.key);
        if (done.length === 1) {
          await add(database, clock, 'other', 1);
        }
        if (job.key === 'busy:001') {
          throw new Error('a failure of the handler');
        }
      },
      store: ({ job }) => end(database, job),
    };
    const worker = new LeaseWorker({ database, clock, log: createLog('silent'), loops, handler });
    await worker.run();
    assert.equal(done.length, 201);
    assert.equal(runningMost <= laneMax + 1, true, `${runningMost} ran at once`);
    assert.ok(done.indexOf('other:000') < 40, 'the other lane had to wait');
    // The job whose handler failed is run again when its lease was ended.
    await leasedJobs(database).endAllLeases(kind, clock.now());
    await worker.run();
    assert.deepEqual(done.slice(201), ['busy:001']);
    await leasedJobs(database).endAllLeases(kind, clock.now());
    assert.deepEqual(keysOf(await lease(database, clock, 'busy')), ['busy:001']);
    await worker.stop();
  });

  test('Jobs under leases are claimed again when a job of their lane ended during a claim that found none', async (t) => {
    const clock = testClock();
    const database = await openMigrated(t, engine);
    await add(database, clock, 'lane', 2);
    const done: string[] = [];
    const { promise: secondClaim, resolve: startSecondClaim } = Promise.withResolvers<void>();
    const { promise: firstEnd, resolve: endFirst } = Promise.withResolvers<void>();
    let claims = 0;
    const handler: LeaseHandler<LeasedAttempt, void> = {
      kind,
      laneMax,
      leaseMs,
      async claim(lane) {
        claims += 1;
        if (claims !== 2) {
          return workOf(await lease(database, clock, lane, 1));
        }
        startSecondClaim();
        await firstEnd;
        await sleep(20);
        return [];
      },
      async run({ job }) {
        if (done.length === 0) {
          worker.wake('lane');
          await secondClaim;
        }
        done.push(job.key);
      },
      async store({ job }) {
        await end(database, job);
        endFirst();
      },
    };
    const worker = new LeaseWorker({ database, clock, log: createLog('silent'), loops, handler });
    await worker.run();
    assert.deepEqual(done, ['lane:000', 'lane:001']);
    await worker.stop();
  });

  test('Jobs under leases run 64 at a time in a process, from all lanes', async (t) => {
    const clock = testClock();
    const database = await openMigrated(t, engine);
    const lanes = Array.from({ length: 20 }, (_, index) => `lane ${index}`);
    for (const lane of lanes) {
      await add(database, clock, lane, laneMax);
    }
    const running: string[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let done = 0;
    const handler: LeaseHandler<LeasedAttempt, void> = {
      kind,
      laneMax,
      leaseMs,
      claim: async (lane, max) => workOf(await lease(database, clock, lane, max)),
      async run({ job }) {
        running.push(job.key);
        await released;
      },
      async store({ job }) {
        await end(database, job);
        done += 1;
      },
    };
    const worker = new LeaseWorker({ database, clock, log: createLog('silent'), loops, handler });
    const finished = worker.run();
    await until(async () => running.length === 64);
    assert.equal(new Set(running.map((key) => key.split(':')[0])).size, lanes.length);
    worker.wake('lane 0');
    release();
    await finished;
    assert.equal(done, lanes.length * laneMax);
    await worker.stop();
  });

  test('Jobs under leases do not wait for their lease where the response to a commit was lost', async (t) => {
    const clock = testClock();
    const database = await openMigrated(t, engine);
    await add(database, clock, 'a', 1);
    const lost = new Set(['claim', 'store']);
    /** Fails once, after the work. */
    const lose = <T>(what: string, value: T): T => {
      if (lost.delete(what)) {
        throw new Error('the connection was lost');
      }
      return value;
    };
    const done: string[] = [];
    const handler: LeaseHandler<LeasedAttempt, void> = {
      kind,
      laneMax,
      leaseMs,
      async claim(lane, max, onLease) {
        onLease(clock.now());
        return lose('claim', workOf(await lease(database, clock, lane, max)));
      },
      async run({ job: { key } }) {
        done.push(key);
      },
      async store({ job }) {
        const isStored = await database.transaction((tx) =>
          leasedJobs(tx).postpone(kind, job, clock.now() + 1000, 'no'),
        );
        done.push(`${job.key} ${isStored}`);
        lose('store', undefined);
      },
    };
    const worker = new LeaseWorker({ database, clock, log: createLog('silent'), loops, handler });
    await worker.run();
    assert.deepEqual(done, [], 'the claim was not lost');
    await worker.run();
    // Results are stored once more after a failure, for a standby that may lack them.
    assert.deepEqual(done.slice(0, 3), ['a:000', 'a:000 true', 'a:000 false']);
    assert.equal(done.filter((one) => one === 'a:000 true').length, 1);
    await worker.stop();
  });

  test('Jobs under leases are run by another worker when nothing renews their leases, and by no other while their worker lives', async (t) => {
    const clock = testClock();
    const database = await openMigrated(t, engine);
    await add(database, clock, 'dead', 2);
    const [first] = (await lease(database, clock, 'dead')) as [LeasedJob];
    await add(database, clock, 'slow', 1);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const done: string[] = [];
    const warnings: unknown[] = [];
    const log = { ...createLog('silent'), warn: (...parts: unknown[]) => warnings.push(parts[0]) };
    const workerNamed = (name: string) => {
      const handler: LeaseHandler<LeasedAttempt, void> = {
        kind,
        laneMax,
        leaseMs: 500,
        claim: async (lane, max) => workOf(await lease(database, clock, lane, max)),
        async run({ job: { key } }) {
          if (key === 'slow:000') {
            done.push(`${name} begins ${key}`);
            await released;
          }
        },
        async store({ job }) {
          const isStored = await database.transaction((tx) => leasedJobs(tx).end(kind, job));
          done.push(`${isStored ? '' : 'not '}${job.key}`);
        },
      };
      return new LeaseWorker({ database, clock, log, loops, handler });
    };
    const workers = [workerNamed('one'), workerNamed('two')];
    for (const worker of workers) {
      worker.start();
    }
    await until(async () => done.length === 1);
    clock.advance(86_400_000);
    await until(async () => done.length === 3);
    clock.advance(-86_400_000 * 2);
    await sleep(1500);
    assert.deepEqual(done.slice(1).sort(), ['dead:000', 'dead:001']);
    const ended = warnings.map((one) => (one as { jobs: number }).jobs);
    assert.equal(
      ended.reduce((sum, jobs) => sum + jobs, 0),
      2,
      'each lease was ended once',
    );
    assert.equal(await database.transaction((tx) => leasedJobs(tx).end(kind, first)), false);
    release();
    await Promise.all(workers.map((worker) => worker.stop()));
    assert.deepEqual(done.slice(3), ['slow:000']);
  });

  test('Jobs under leases run early in the numeric order of their keys, up to a limit of times', async (t) => {
    const clock = testClock();
    const database = await openMigrated(t, engine);
    const keys = ['9', '10', '100', '99'];
    await database.transaction((tx) => leasedJobs(tx).addMissing({ kind, lane: 'a' }, keys, clock.now()));
    const makeDue = (earlyMax: number, isForced = false) =>
      database.transaction((tx) =>
        leasedJobs(tx).makeLaneDue({ kind, lane: 'a' }, clock.now(), { earlyMax, isForced }),
      );
    const leaseInTurn = async () => {
      const jobs: LeasedJob[] = [];
      for (const _ of keys) {
        jobs.push(...(await lease(database, clock, 'a', 1)));
      }
      return jobs;
    };
    const postpone = (jobs: readonly LeasedJob[]) =>
      Promise.all(
        jobs.map((job) =>
          database.transaction((tx) => leasedJobs(tx).postpone(kind, job, clock.now() + 60_000, 'no')),
        ),
      );
    await postpone(await leaseInTurn());
    assert.equal(await makeDue(2), 4);
    assert.equal(await makeDue(2), 0, 'they are due already');
    const early = await leaseInTurn();
    assert.deepEqual(
      early.map(({ key, attempts, early_attempts }) => [key, attempts, early_attempts]),
      ['9', '10', '99', '100'].map((key) => [key, 2, 1]),
    );
    assert.equal(await makeDue(2), 0, 'they run');
    await postpone(early);
    assert.equal(await makeDue(2), 4);
    await postpone(await leaseInTurn());
    assert.equal(await makeDue(2), 0);
    assert.equal(await makeDue(2, true), 4);
    const forced = await leaseInTurn();
    assert.deepEqual(
      forced.map(({ attempts, early_attempts }) => [attempts, early_attempts]),
      keys.map(() => [4, 2]),
    );
  });
});

suite('A watch over leases', () => {
  const lease = { key: '1', lane: 'a', attempts: 1, leased_until: '2026-06-01T12:00:10.000Z' };

  test('A watch over leases finds those that stay the same, but not after a time without a look', (t) => {
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const find = watchLeases(10_000);
    const look = (afterMs: number, ...leases: (typeof lease)[]) => {
      now += afterMs;
      return find(leases).length;
    };
    assert.deepEqual([look(0, lease), look(4000, lease), look(4000, lease), look(1999, lease)], [0, 0, 0, 0]);
    assert.equal(look(1, lease), 1);
    assert.equal(look(2000, { ...lease, leased_until: '2026-06-01T12:00:20.000Z' }), 0, 'it was renewed');
    assert.equal(look(2000, lease), 0);
    assert.equal(look(5001, lease), 0, 'this process was stopped');
    assert.deepEqual([look(5000, lease), look(4999, lease), look(1, lease)], [0, 0, 1]);
    assert.equal(look(1, { ...lease, attempts: 2 }), 0);
    assert.equal(look(1), 0);
  });
});
