/** Messages of errors that depend on the request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError, forMethod, mayHaveBeenMade, unavailable } from '../../src/errors.ts';

test('An error after which a change may have been made names the Idempotency-Key for a POST only', () => {
  const cause = new Error('reset');
  const lost = unavailable(`The connection to the database was lost. ${mayHaveBeenMade}`, 1, cause);
  assert.equal(forMethod(lost, 'POST'), lost);
  for (const [methods, remedy] of [
    [['GET', 'HEAD'], 'Send the request again.'],
    [['PUT', 'PATCH', 'DELETE'], 'The change may have been made: check before you send the request again.'],
  ] as const) {
    for (const method of methods) {
      const { message, details, code, cause: kept } = forMethod(lost, method);
      assert.equal(message, `The connection to the database was lost. ${remedy}`);
      assert.deepEqual([code, details, kept], ['unavailable', { retryAfterMs: 1000 }, cause]);
    }
  }
  const other = new AppError('notFound');
  assert.equal(forMethod(other, 'GET'), other);
});
