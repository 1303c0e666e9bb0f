/** Secrets of webhook endpoints: format, encryption, and which of them sign. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createEndpointSecrets, type StoredSecret } from '../../src/webhooks/secrets.ts';
import { secret, testClock } from '../context.ts';

const clock = testClock();
const secrets = createEndpointSecrets(clock, secret);
const bytesOf = (text: string) => Buffer.from(text.replace('whsec_', ''), 'base64');

suite('Secrets of webhook endpoints', () => {
  test('Secrets of webhook endpoints have the format of Standard Webhooks, and are unique', () => {
    const texts = new Set<string>();
    for (let count = 0; count < 100; count += 1) {
      const { text, stored } = secrets.create(1);
      assert.match(text, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.equal(stored.last4, text.slice(-5, -1));
      assert.ok(!JSON.stringify(stored).includes(text.slice(6, 40)));
      texts.add(text);
    }
    assert.equal(texts.size, 100);
  });

  test('Secrets of webhook endpoints sign with their bytes, for their endpoint and CURD_SECRET alone', () => {
    const { text, stored } = secrets.create(7);
    assert.deepEqual(secrets.signingKeys(7, [stored], clock.now()), [bytesOf(text)]);
    assert.equal(secrets.isReadable(7, stored), true);
    const others = createEndpointSecrets(clock, `${secret}, changed`);
    for (const [id, one] of [
      [8, secrets],
      [7, others],
    ] as const) {
      assert.equal(one.isReadable(id, stored), false);
      assert.equal(one.signingKeys(id, [stored], clock.now()), null);
    }
  });

  test('Secrets of webhook endpoints cannot be read when a stored byte is changed or missing', () => {
    const { stored } = secrets.create(7);
    const bytes = Buffer.from(stored.sealed, 'base64');
    const withSealed = (sealed: Buffer): StoredSecret => ({ ...stored, sealed: sealed.toString('base64') });
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (index, change) => {
        const changed = Buffer.from(bytes);
        changed[index] = (changed[index] ?? 0) ^ change;
        assert.equal(secrets.isReadable(7, withSealed(changed)), false);
        assert.equal(secrets.isReadable(7, withSealed(bytes.subarray(0, index))), false);
      }),
    );
  });

  test('Secrets of webhook endpoints both sign until the overlap ends', () => {
    const [newer, older] = [secrets.create(7), secrets.create(7)];
    const endsAt = new Date(clock.now() + 1000).toISOString();
    const stored = [newer.stored, { ...older.stored, endsAt }];
    const keys = (now: number) => secrets.signingKeys(7, stored, now);
    assert.deepEqual(keys(clock.now() + 999), [bytesOf(newer.text), bytesOf(older.text)]);
    assert.deepEqual(keys(clock.now() + 1000), [bytesOf(newer.text)]);
  });
});
