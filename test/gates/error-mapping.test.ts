/** Errors and HTTP statuses belong together one to one. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type ErrorCode, errorCatalogue } from '../../src/errors.ts';
import { codeOfStatus, toErrorStatus } from '../../src/http/responses/error-mapping.ts';
import { read } from './sources.ts';

suite('The mapping of errors', () => {
  /** Two reasons why a position in the event log is gone. The client does the same in both cases. */
  const sharedStatuses = [410];

  test('The mapping of errors gives each code a status of its own', () => {
    for (const code of Object.keys(errorCatalogue) as ErrorCode[]) {
      const status = toErrorStatus({ code });
      assert.ok(status >= 400 && status < 600, `${code}: ${status}`);
      if (sharedStatuses.includes(status)) {
        continue;
      }
      assert.equal(codeOfStatus(status), code, `another code has the status ${status} as well`);
    }
  });

  test('The mapping of errors has a code for each error status of openapi.json', () => {
    const { paths } = JSON.parse(read('openapi.json')) as { paths: object };
    const statuses = Object.values(paths)
      .flatMap((path) => Object.values(path as object))
      .flatMap((operation) => Object.keys(operation.responses ?? {}))
      .filter((status) => /^[45]/.test(status));
    assert.ok(statuses.length > 100);
    const unknown = new Set(statuses.filter((status) => codeOfStatus(Number(status)) === undefined));
    assert.deepEqual([...unknown], [], 'add a code to src/errors.ts and its status to error-mapping.ts');
  });
});
