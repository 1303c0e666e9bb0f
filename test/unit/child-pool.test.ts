/** The child pool: time limits, idle processes, and slots of a process. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, type TestContext, test } from 'node:test';
import type { PasswordTask } from '../../src/children/password-child.ts';
import {
  type ChildPool,
  type ChildSlot,
  createChildPool,
  QueueFull,
  TaskTimedOut,
} from '../../src/children/pool.ts';
import { until } from '../context.ts';
import { cleanUp } from '../helper.ts';

const quick: PasswordTask = {
  password: 'a',
  stored: null,
  cost: { memoryCost: 8, timeCost: 1, parallelism: 1 },
};
/** Takes about ten seconds. */
const slow: PasswordTask = { ...quick, cost: { memoryCost: 65_536, timeCost: 1000, parallelism: 1 } };

type Pool = ChildPool<PasswordTask, string | boolean, 'only'>;

function openPool(t: TestContext, limits: { idleMs?: number; taskTimeoutMs?: number } = {}): Pool {
  const pool: Pool = createChildPool({
    file: new URL('../../src/children/password-child.ts', import.meta.url),
    childrenMax: 1,
    slotsPerChild: 2,
    queues: { only: { concurrency: 2, waitingMax: 1 } },
    ...limits,
  });
  cleanUp(t, pool.close);
  return pool;
}

const linuxOnly = {
  skip: process.platform === 'linux' ? false : 'child processes are found in /proc, which only Linux has',
};

/** Ids of the running child processes. */
function children(): string[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
}

/** Runs one task in a slot. */
async function run(pool: Pool, task: PasswordTask): Promise<string | boolean> {
  using slot = await pool.acquire('only');
  return await slot.run(task);
}

suite('A child pool', () => {
  test('A child pool kills the process of a task that takes too long, and runs the next task in a new one', async (t) => {
    const pool = openPool(t, { taskTimeoutMs: 1000 });
    await assert.rejects(run(pool, slow), TaskTimedOut);
    assert.deepEqual(pool.stats(), { running: 0, waiting: 0 });
    assert.match(String(await run(pool, quick)), /^\$argon2id\$/);
  });

  test('A child pool ends idle processes and starts a new one for the next task', linuxOnly, async (t) => {
    const pool = openPool(t, { idleMs: 100 });
    const before = children();
    await run(pool, quick);
    const [child] = children().filter((pid) => !before.includes(pid));
    assert.ok(child !== undefined);
    await until(async () => !children().includes(child), 'the idle process still runs');
    assert.match(String(await run(pool, quick)), /^\$argon2id\$/);
  });

  test('A child pool gives out all slots, queues up to the limit of the queue, and refuses more', async (t) => {
    const pool = openPool(t);
    const slots = [await pool.acquire('only'), await pool.acquire('only')];
    const queued = pool.acquire('only');
    assert.deepEqual(pool.stats(), { running: 2, waiting: 1 });
    await assert.rejects(pool.acquire('only'), QueueFull);
    for (const slot of slots) {
      slot[Symbol.dispose]();
    }
    (await queued)[Symbol.dispose]();
    assert.deepEqual(pool.stats(), { running: 0, waiting: 0 });
    assert.throws(() => [...pool.acquireAll('only', 2), ...pool.acquireAll('only', 2)], QueueFull);
  });

  test('A child pool gives a slot to another queue after one task of a hundred', async (t) => {
    const pool = createChildPool<PasswordTask, string | boolean, 'batch' | 'other'>({
      file: new URL('../../src/children/password-child.ts', import.meta.url),
      childrenMax: 1,
      slotsPerChild: 1,
      queues: { batch: { concurrency: 1, waitingMax: 100 }, other: { concurrency: 1, waitingMax: 1 } },
    });
    cleanUp(t, pool.close);
    const order: string[] = [];
    const runIn = async (queue: string, waiting: Promise<ChildSlot<PasswordTask, string | boolean>>) => {
      using slot = await waiting;
      await slot.run(quick);
      order.push(queue);
    };
    await Promise.all([
      ...pool.acquireAll('batch', 100).map((waiting) => runIn('batch', waiting)),
      runIn('other', pool.acquire('other')),
    ]);
    assert.equal(order.length, 101);
    assert.equal(order.indexOf('other'), 1);
  });
});
