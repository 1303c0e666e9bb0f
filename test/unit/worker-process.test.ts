/** Worker processes that are killed while they have tasks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkerProcess, WorkerExited } from '../../src/workers/process.ts';

test('Each task that is sent to a killed worker fails with WorkerExited', async () => {
  let ends = 0;
  const file = new URL('../../src/workers/password-worker.ts', import.meta.url);
  const worker = startWorkerProcess<object, string>(file, () => {
    ends += 1;
  });
  const cost = { memoryCost: 8, timeCost: 1, parallelism: 1 };
  assert.match(await worker.run({ password: 'a', stored: null, cost }), /^\$argon2id\$/);
  worker.kill();
  const until = performance.now() + 300;
  while (performance.now() < until) {
    // The process ends during this loop, and its exit event is not handled yet.
  }
  const tasks = [1, 2, 3].map(() => worker.run({ password: 'a', stored: null, cost }));
  for (const outcome of await Promise.allSettled(tasks)) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof WorkerExited);
  }
  await sleep(50);
  assert.equal(worker.isAlive(), false);
  assert.equal(ends, 1);
});
