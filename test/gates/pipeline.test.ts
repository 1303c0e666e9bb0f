/** The order of the pipeline, which is the order in which a request is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Step } from '../../src/http/pipeline/execute.ts';
import { pipeline } from '../../src/http/pipeline/pipeline.ts';

test('The steps of the pipeline that a production server does not have are these', () => {
  const steps: readonly Step<never>[] = Object.values(pipeline).flat();
  const forTests = steps.filter(({ isForTests }) => isForTests);
  assert.deepEqual(
    forTests.map(({ name }) => name),
    ['readTestState', 'simulate', 'applyTagPrefix'],
  );
});

test('The steps of the pipeline are these, in this order', () => {
  const names = Object.fromEntries(
    Object.entries(pipeline).map(([phase, steps]) => [phase, steps.map(({ name }) => name)]),
  );
  assert.deepEqual(
    Object.entries(names),
    [
      [
        'beforeBody',
        [
          'refuseOverload',
          'waitForParser',
          'readTestState',
          'authenticate',
          'rateLimit',
          'refuseForeignOrigin',
          'authorize',
          'simulate',
          'checkDryRun',
          'applyTagPrefix',
          'requireMediaType',
          'requireOpenConnection',
          'limitBodyTime',
        ],
      ],
      ['afterBody', ['reportDeprecated', 'recheckCredential']],
      ['execute', ['readParameters', 'readHeaders', 'readIdempotencyKey', 'readBody', 'handle']],
      ['send', ['send']],
    ],
    'the order of the steps is the order of refusals: change this list only where that is meant',
  );
});
