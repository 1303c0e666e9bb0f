/** Background work that fails again and again, for example while its database is down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Loops } from '../../src/jobs/loops.ts';
import { RepeatedWork } from '../../src/jobs/repeated-work.ts';
import { testClock } from '../context.ts';

test('Background work reports a failure once, another one at once, and the same one again after a success', async () => {
  const results = ['down', 'down', 'down', 'full', 'full', null, 'full'];
  const reported: string[] = [];
  const loops = new Loops(testClock());
  const work = new RepeatedWork({
    loops,
    name: 'test',
    everyMs: 60_000,
    run: async () => {
      const reason = results.shift() ?? null;
      if (reason !== null) {
        throw new Error(reason);
      }
    },
    onError: (error) => reported.push((error as Error).message),
  });
  while (results.length > 0) {
    await work.run();
  }
  await work.stop();
  assert.deepEqual(reported, ['down', 'full', 'full']);
});
