/** The sliding window against a model: the list of all times. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { SlidingWindow } from '../../src/limits/sliding-window.ts';

const start = Date.parse('2026-06-01T12:00:00.000Z');

/** Steps of time: mostly short, now and then longer than any window here. */
const gap = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 8 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 300 }) },
);
/** Sometimes the clock is set back. */
const anyGap = fc.oneof(
  { weight: 9, arbitrary: gap },
  { weight: 1, arbitrary: fc.integer({ min: -200, max: -1 }) },
);

const shape = fc
  .record({
    slotMs: fc.integer({ min: 2, max: 12 }),
    slots: fc.integer({ min: 1, max: 20 }),
    limit: fc.integer({ min: 1, max: 12 }),
    phase: fc.integer({ min: 0, max: 1000 }),
  })
  .map((one) => ({ ...one, windowMs: one.slotMs * one.slots }));

suite('A sliding window', () => {
  test('A sliding window with slots of a millisecond counts exactly, also when the clock is set back', () => {
    const step = fc.record({ gap: anyGap, act: fc.constantFrom('add', 'add', 'refund', 'look') });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(step, { maxLength: 120 }), (windowMs, steps) => {
        const window = new SlidingWindow(windowMs, 1);
        assert.equal(window.count(start), 0);
        let now = start;
        let latest = start;
        let happened: { at: number; slot: number }[] = [];
        for (const { gap, act } of steps) {
          now += gap;
          if (latest - now >= windowMs) {
            // The clock was ahead by more than the window.
            happened = [];
            latest = now;
          }
          latest = Math.max(latest, now);
          if (act === 'add') {
            happened.push({ at: latest, slot: window.add(now) });
          } else if (act === 'refund' && happened.length > 0) {
            window.refund(happened.splice(happened.length >> 1, 1)[0]?.slot ?? 0);
          }
          happened = happened.filter(({ at }) => at > latest - windowMs);
          assert.equal(window.count(now), happened.length);
          const oldest = Math.min(...happened.map(({ at }) => at));
          assert.equal(window.msUntilFree(now), happened.length === 0 ? 0 : oldest + windowMs - now);
          const half = happened.length >> 1;
          const leaving = happened.map(({ at }) => at).toSorted((a, b) => a - b)[happened.length - half - 1];
          assert.equal(window.untilAtMost(half, now), leaving === undefined ? 0 : leaving + windowMs - now);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('A sliding window never permits more than the limit within any window', () => {
    fc.assert(
      fc.property(shape, fc.array(gap, { maxLength: 300 }), ({ windowMs, slotMs, limit, phase }, gaps) => {
        const window = new SlidingWindow(windowMs, slotMs);
        const passed: number[] = [];
        let now = start + phase;
        for (const gap of gaps) {
          now += gap;
          if (window.count(now) < limit) {
            window.add(now);
            passed.push(now);
          }
        }
        for (const [index, at] of passed.entries()) {
          const next = passed[index + limit] ?? Infinity;
          assert.ok(next - at >= windowMs, `${limit + 1} within ${next - at} ms of ${windowMs}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('A sliding window returns when the count will be lower: never too early, and at most a slot late', () => {
    fc.assert(
      fc.property(shape, fc.array(gap, { maxLength: 100 }), ({ windowMs, slotMs, limit, phase }, gaps) => {
        const window = new SlidingWindow(windowMs, slotMs);
        const passed: number[] = [];
        let now = start + phase;
        for (const gap of gaps) {
          now += gap;
          if (window.count(now) >= limit) {
            const free = now + window.msUntilFree(now);
            const oldest = passed.at(-limit) ?? 0;
            assert.ok(free >= oldest + windowMs, 'too early');
            assert.ok(free <= oldest + windowMs + slotMs, 'more than a slot late');
            assert.ok(window.count(free - 1) >= limit, 'it was free before');
            assert.ok(window.count(free) < limit, 'it is not free then');
            now = free;
          }
          window.add(now);
          passed.push(now);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('A sliding window permits at least 95 of 100 requests at an even rate', () => {
    const limits = fc.integer({ min: 20, max: 2000 });
    const shapes = fc.constantFrom([60_000, 1000] as const, [3_600_000, 60_000] as const);
    fc.assert(
      fc.property(shapes, limits, fc.nat(100_000), ([windowMs, slotMs], limit, phase) => {
        const window = new SlidingWindow(windowMs, slotMs);
        let passed = 0;
        for (let call = 0; call < 4 * limit; call += 1) {
          const now = start + phase + Math.floor((call * windowMs) / limit);
          if (window.count(now) < limit) {
            window.add(now);
            passed += 1;
          }
        }
        assert.ok(passed >= 4 * limit * 0.95, `${passed} of ${4 * limit}`);
      }),
      { numRuns: 50 },
    );
  });

  test('A sliding window with coarse slots refunds what still counts, and nothing older', () => {
    fc.assert(
      fc.property(shape, fc.array(gap, { minLength: 1, maxLength: 60 }), ({ windowMs, slotMs }, gaps) => {
        const window = new SlidingWindow(windowMs, slotMs);
        const slots: number[] = [];
        let now = start;
        for (const gap of gaps) {
          now += gap;
          const before = window.count(now);
          slots.push(window.add(now));
          assert.equal(window.count(now), before + 1);
          window.refund(slots.at(-1) ?? 0);
          assert.equal(window.count(now), before);
          window.add(now);
          const counting = slots.filter((slot) => slot * slotMs > now - (windowMs + slotMs) - (now % slotMs));
          const left = slots.find((slot) => !counting.includes(slot));
          if (left !== undefined) {
            window.refund(left);
          }
          assert.equal(window.count(now), counting.length);
        }
      }),
    );
  });

  test('A sliding window counts as many in one slot as any setting permits', () => {
    const window = new SlidingWindow(1000, 1);
    for (let call = 0; call < 60_000; call += 1) {
      window.add(start);
    }
    assert.equal(window.count(start + 999), 60_000);
    assert.equal(window.count(start + 1000), 0);
  });
});
