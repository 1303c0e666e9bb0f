/** Texts and files that stored data, signatures and locks depend on. A change would make stored data of shops unreadable. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite, test } from 'node:test';
import { filesIn, read } from './sources.ts';

/** Each occurs exactly once in `src`, in this spelling. */
const constants = [
  // Labels from which keys are derived (HKDF).
  "'idempotent answers'",
  "'idempotency fingerprints'",
  "'session tokens'",
  "'authorization forms'",
  "'password reset forms'",
  "'authorization cookies'",
  // The key of cursor signatures.
  '`cursor $' + '{list} $' + '{secret}`',
  // The name of the advisory lock for placing orders.
  '`orders of $' + '{placedBy}`',
];

/** SHA-256 of released migrations, which shops have applied. Add a new migration instead of changing one. */
const released = {
  '0001-catalogue-and-keys.postgres.sql': 'fffbb5b8583aca3b999df9f9dd4b2a98d2cf00dc9d00d2ed39c5e5757c0a8db1',
  '0001-catalogue-and-keys.sqlite.sql': '86caea8ff29786fabc693cff47cecd6ae453da511251fe0b944214a78ea1830b',
  '0002-orders-and-customers.postgres.sql':
    '79677aeb61201172239b54c4d9b4f23ddd53ac9201515652adfcf27ec6b7f08f',
  '0002-orders-and-customers.sqlite.sql': '191308be9676ab5dcb94bd34213c78bc46458237454daf1cca2d0ff266e83bb9',
  '0003-oauth.postgres.sql': '36da8a01360575990955d5b264b925bc135ae86df0923e574ff744fce57fabba',
  '0003-oauth.sqlite.sql': '3b26526931f51e3135b9232260d92f31cded585a7c2f1ee3c45dc0ea90130c94',
  '0004-images.postgres.sql': '5643d71b6f656e82e4836274769b577839aa35bd2a73eec0f271099980381042',
  '0004-images.sqlite.sql': '11389411db1ba5487fe9bf2c3616a06bba7d3534adc112927936164167e122ec',
  '0005-quotas.postgres.sql': '8a45c6888df30833f92cac93fa10de0a583407adc95403e51b274ea6ba0865ae',
  '0005-quotas.sqlite.sql': '9de799e84463793ba1718fe28aca86b6b7da3f9ac4774445b1824afb5c2521d3',
};

suite('Stored values', () => {
  const sources = filesIn('src/**/*.ts').map(read).join('\n');

  for (const constant of constants) {
    test(`depend on the unchanged text ${constant}`, () => {
      assert.equal(sources.split(constant).length - 1, 1);
    });
  }

  for (const [file, digest] of Object.entries(released)) {
    test(`depend on the unchanged migration ${file}`, () => {
      assert.equal(
        createHash('sha256')
          .update(read(`migrations/${file}`))
          .digest('hex'),
        digest,
      );
    });
  }
});
