/** What the cache keeps, and the bound of its memory. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createCache } from '../../src/database/cache.ts';

suite('A cache', () => {
  test('A cache keeps what fits: values, and the fact that there is none', () => {
    const cache = createCache<{ body: string } | undefined>(100_000);
    const row = { body: 'x' };
    cache.set('one', row);
    cache.set('none', undefined);
    assert.equal(cache.get('one'), row);
    assert.deepEqual([cache.has('none'), cache.get('none')], [true, undefined]);
    assert.deepEqual([cache.has('other'), cache.get('other')], [false, undefined]);
    cache.clear();
    assert.deepEqual([cache.has('one'), cache.has('none')], [false, false]);
  });

  test('A cache drops a value that would fill much of it, and the older one under the same key', () => {
    const cache = createCache<string>(100_000);
    cache.set('one', 'small');
    cache.set('one', 'x'.repeat(10_000));
    assert.equal(cache.has('one'), false);
  });

  test('A cache never exceeds its bound of bytes, also when keys are reused', () => {
    const bytesMax = 40_000;
    const entries = fc.array(fc.tuple(fc.nat(30), fc.nat(1500)), { maxLength: 200 });
    fc.assert(
      fc.property(entries, (list) => {
        const cache = createCache<{ body: string }>(bytesMax);
        const keys = new Set<string>();
        for (const [key, length] of list) {
          const name = `key-${key}`;
          cache.set(name, { body: 'x'.repeat(length) });
          keys.add(name);
          const kept = [...keys].reduce((sum, one) => sum + 2 * (cache.get(one)?.body.length ?? 0), 0);
          assert.ok(kept <= bytesMax, `${kept} bytes`);
          assert.ok(cache.has(name) || length > 1000, 'the newest is kept');
        }
      }),
    );
  });

  test('A cache is not emptied by one key that is written repeatedly', () => {
    const cache = createCache<string>(100_000);
    cache.set('other', 'kept');
    for (let one = 0; one < 10_000; one += 1) {
      cache.set('one', `value ${one}`);
    }
    assert.equal(cache.get('other'), 'kept');
  });
});
