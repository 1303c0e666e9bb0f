/** How long a stock lasts, as the console says it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { countAveragedDays, type Sales, showSupply } from '../../console/src/screens/stock/supply.ts';

const salesOf = (days: number, orders: number, kilograms: number): Sales => ({
  days,
  byCheese: new Map([[1, { orders, kilograms }]]),
});

suite('The supply of a cheese', () => {
  test('The supply of a cheese is of the days of the shop, at least one and at most 28', () => {
    const now = Date.parse('2026-06-10T09:00:00Z');
    const windows = [
      null,
      '2026-06-11',
      '2026-06-10',
      '2026-06-09',
      '2026-05-14',
      '2026-05-13',
      '2020-01-01',
    ];
    assert.deepEqual(
      windows.map((since) => countAveragedDays(since, now)),
      [1, 1, 1, 2, 28, 28, 28],
    );
  });

  test('The supply of a cheese is not claimed below three orders', () => {
    for (const [available, sales, text] of [
      [35, undefined, '-'],
      [35, null, '-'],
      [35, { days: 28, byCheese: new Map() }, 'no sales'],
      [35, salesOf(28, 2, 20), 'few sales'],
      // A shop one hour old: 322 days at the pace of 28 days.
      [46, salesOf(1, 3, 4), '11 days'],
      [46, salesOf(28, 3, 4), '322 days'],
      [46, salesOf(28, 3, 3), 'over a year'],
      [5, salesOf(1, 3, 4), '1 day'],
      [0, salesOf(1, 3, 4), '0 days'],
      [-8, salesOf(1, 3, 4), '0 days'],
    ] as const) {
      assert.equal(showSupply(available, 1, sales), text);
    }
  });
});
