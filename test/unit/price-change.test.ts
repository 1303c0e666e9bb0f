/** Prices of bulk changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  changeByAmount,
  changeByPercent,
  type Rounding,
  roundings,
} from '../../src/cheeses/bulk/price-change.ts';

test('A price that is changed by percent or amount is rounded half up', () => {
  const cases: [price: number, percent: number, rounding: Rounding, expected: number][] = [
    [32.5, 5, '0.01', 34.13],
    [32.5, 5, '0.05', 34.15],
    [32.5, 5, '0.10', 34.1],
    [32.5, 5, '0.95', 33.95],
    [1.005, 0, '0.01', 1.01],
    [20, -10, '0.95', 17.95],
    [20.45, 0, '0.95', 20.95],
    [20.44, 0, '0.95', 19.95],
    [0.01, 0, '0.05', 0.05],
    [0.2, 0, '0.95', 0.95],
    [100, -99, '0.01', 1],
    [0, 50, '0.95', 0],
    [1_000_000, 1000, '0.01', 11_000_000],
  ];
  for (const [price, percent, rounding, expected] of cases) {
    assert.equal(changeByPercent(price, percent, rounding), expected, `${price} ${percent} % ${rounding}`);
  }
  assert.equal(changeByAmount(19.99, 0.1, '0.05'), 20.1);
  assert.equal(changeByAmount(0.1, 0.2, '0.01'), 0.3);
  assert.equal(changeByAmount(5, -7.5, '0.05'), -2.5);
});

test('A rounded price ends as it was asked for, and is the nearest one', () => {
  const cents = fc.integer({ min: 1, max: 100_000_000 });
  fc.assert(
    fc.property(
      cents,
      fc.integer({ min: -9900, max: 100_000 }),
      fc.constantFrom(...roundings),
      (price, percent, rounding) => {
        const result = changeByPercent(price / 100, percent / 100, rounding);
        const rounded = Math.round(result * 100);
        assert.ok(Math.abs(result * 100 - rounded) < 1e-5 && rounded > 0);
        const [step, end] = { '0.01': [1, 0], '0.05': [5, 0], '0.10': [10, 0], '0.95': [100, 95] }[
          rounding
        ] as [number, number];
        assert.equal(rounded % step, end % step);
        const exact = (price * (10_000 + percent)) / 10_000;
        const lowest = end === 0 ? step : end;
        assert.ok(Math.abs(rounded - exact) <= step / 2 + 1e-6 || rounded === lowest, `${rounded} ${exact}`);
      },
    ),
  );
});
