/** Child processes that are killed while they have tasks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildExited, startChild } from '../../src/children/child.ts';

test('Each task that is sent to a killed child process fails with ChildExited', async () => {
  let ends = 0;
  const file = new URL('../../src/children/password-child.ts', import.meta.url);
  const child = startChild<object, string>(file, () => {
    ends += 1;
  });
  const cost = { memoryCost: 8, timeCost: 1, parallelism: 1 };
  assert.match(await child.run({ password: 'a', stored: null, cost }), /^\$argon2id\$/);
  child.kill();
  const until = performance.now() + 300;
  while (performance.now() < until) {
    // The process ends during this loop, and its exit event is not handled yet.
  }
  const tasks = [1, 2, 3].map(() => child.run({ password: 'a', stored: null, cost }));
  for (const outcome of await Promise.allSettled(tasks)) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof ChildExited);
  }
  await sleep(50);
  assert.equal(child.isAlive(), false);
  assert.equal(ends, 1);
});
