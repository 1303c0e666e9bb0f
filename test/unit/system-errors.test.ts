/** Messages for errors of the operating system. Real errors where a test can cause them, otherwise only a code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { listenErrorText, systemErrorText, toReason } from '../../src/system-errors.ts';

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: 'the function did not throw' });
}

test('The message of a failed file operation has the path, the reason and the remedy', () => {
  const missing = errorOf(() => readFileSync('/no/such/file'));
  assert.equal(
    systemErrorText(missing),
    '/no/such/file cannot be used: no such file or folder (ENOENT). Create the folder, or correct the path.',
  );
  assert.match(systemErrorText(errorOf(() => readFileSync('/dev/null/x'))), /not a folder \(ENOTDIR\)/);
  assert.match(
    systemErrorText(errorOf(() => readFileSync('/'))),
    /^it is a folder \(EISDIR\)\. Name a file\.$/,
  );
});

test('The message of any other system error is unchanged', () => {
  assert.equal(systemErrorText(new Error('Something else')), 'Something else');
  assert.equal(systemErrorText('text'), 'text');
  assert.equal(toReason(null), 'null');
});

test('The message of a server that cannot listen names the flag and the variable', () => {
  const text = (code: string) => listenErrorText(Object.assign(new Error(), { code }), 'shop.example', 80);
  assert.match(text('EADDRINUSE') ?? '', /Port 80 is in use.*--port or CURD_PORT/);
  assert.match(text('EACCES') ?? '', /Port 80 is reserved.*--port or CURD_PORT/);
  assert.match(text('EADDRNOTAVAIL') ?? '', /address shop\.example.*--host or CURD_HOST/);
  assert.match(text('ENOTFOUND') ?? '', /shop\.example.*--host or CURD_HOST/);
  assert.equal(text('EPIPE'), null);
});
