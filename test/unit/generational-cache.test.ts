/** The generational cache against a model that forgets nothing. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createGenerationalCache } from '../../src/limits/generational-cache.ts';
import { testClock } from '../context.ts';

const keptMs = 100;
const step = fc.record({
  gap: fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 60 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 500 }) },
  ),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
});

suite('A generational cache', () => {
  test('A generational cache has at most twice its size of entries, after a million names', () => {
    const recent = createGenerationalCache<number>(1000, keptMs, testClock());
    let most = 0;
    for (let name = 0; name < 1_000_000; name += 1) {
      recent.set(String(name), name);
      if (name % 50_000 === 999) {
        most = Math.max(most, [...recent.entries()].length);
      }
    }
    assert.ok([...recent.entries()].length <= 2000 && most <= 2000, String(most));
    assert.equal(recent.get('999999'), 999_999);
    assert.equal(recent.get('5'), undefined);
  });

  test('A generational cache keeps entries that were used within the time, and forgets others', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clock = testClock();
        const recent = createGenerationalCache<object>(100, keptMs, clock);
        const last = new Map<string, { at: number; value: object }>();
        for (const { gap, name } of steps) {
          clock.advance(gap);
          const now = clock.now();
          const known = last.get(name);
          const found = recent.get(name);
          if (known !== undefined && now - known.at < keptMs) {
            assert.equal(found, known.value, `${name} was used ${now - known.at} ms ago`);
          }
          const value = found ?? recent.set(name, {});
          last.set(name, { at: now, value });
          if (found === undefined) {
            const stale = [...recent.entries()].filter(
              ([one]) => now - (last.get(one)?.at ?? 0) >= 3 * keptMs,
            );
            assert.deepEqual(stale, [], 'these were not used for three times as long');
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('A generational cache keeps an entry until as many others as its size were used', () => {
    const namesMax = 10;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 200 }), (names) => {
        const recent = createGenerationalCache<object>(namesMax, keptMs, testClock());
        const values = new Map<number, object>();
        const order: number[] = [];
        for (const name of names) {
          const found = recent.get(String(name));
          const others = new Set(order.slice(order.lastIndexOf(name) + 1));
          if (values.has(name) && others.size < namesMax) {
            assert.equal(found, values.get(name));
          }
          values.set(name, found ?? recent.set(String(name), {}));
          order.push(name);
          assert.ok([...recent.entries()].length <= 2 * namesMax);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('A generational cache lists each entry once, with the newest value', () => {
    const clock = testClock();
    const recent = createGenerationalCache<number>(100, keptMs, clock);
    recent.set('a', 1);
    recent.set('b', 2);
    clock.advance(keptMs);
    recent.set('c', 3);
    recent.set('a', 4);
    const entries = [...recent.entries()].toSorted(([one], [other]) => one.localeCompare(other));
    assert.deepEqual(entries, [
      ['a', 4],
      ['b', 2],
      ['c', 3],
    ]);
  });
});
