/** Errors of the operating system in words: real ones where they can be made, and a code alone where not. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { listenErrorText, reasonOf, systemErrorText } from '../../src/system-errors.ts';

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({ message: 'it did not fail' });
}

test('A failed file operation is told with its path, the reason and a remedy', () => {
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

test('Any other error keeps its message', () => {
  assert.equal(systemErrorText(new Error('Something else')), 'Something else');
  assert.equal(systemErrorText('text'), 'text');
  assert.equal(reasonOf(null), 'null');
});

test('A server that cannot listen names the flag and the variable to change', () => {
  const text = (code: string) => listenErrorText(Object.assign(new Error(), { code }), 'shop.example', 80);
  assert.match(text('EADDRINUSE') ?? '', /Port 80 is in use.*--port or CURD_PORT/);
  assert.match(text('EACCES') ?? '', /Port 80 is reserved.*--port or CURD_PORT/);
  assert.match(text('EADDRNOTAVAIL') ?? '', /address shop\.example.*--host or CURD_HOST/);
  assert.match(text('ENOTFOUND') ?? '', /shop\.example.*--host or CURD_HOST/);
  assert.equal(text('EPIPE'), null);
});
