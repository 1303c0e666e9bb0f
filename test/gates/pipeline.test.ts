/** The order of the pipeline, which is the order in which a request is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pipeline } from '../../src/http/pipeline/pipeline.ts';

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
          'readClock',
          'authenticate',
          'rateLimit',
          'refuseForeignOrigin',
          'authorize',
          'simulate',
          'checkDryRun',
          'readTagPrefix',
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
