/** Texts and files that stored data, signatures and locks depend on. A change would make stored data of shops unreadable. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { filesIn, read } from './sources.ts';

/** Each occurs exactly once in `src`, in this spelling. */
const constants = [
  // Labels from which keys are derived (HKDF).
  "'idempotent responses'",
  "'idempotency fingerprints'",
  "'session tokens'",
  "'authorization forms'",
  "'password reset forms'",
  "'authorization cookies'",
  // The key of cursor signatures.
  '`cursor $' + '{list} $' + '{secret}`',
  // The name of the advisory lock for placing orders.
  "advisoryLock('orders of', placedBy)",
  '`$' + '{lock} $' + '{of}`',
];

suite('Stored values', () => {
  const sources = filesIn('src/**/*.ts').map(read).join('\n');

  for (const constant of constants) {
    test(`Stored values depend on the unchanged text ${constant}`, () => {
      assert.equal(sources.split(constant).length - 1, 1);
    });
  }
});
