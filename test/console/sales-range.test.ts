/** The range of days that Sales shows, and the one before it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  addDays,
  chosenIn,
  listPresets,
  rangeBefore,
  showChange,
  steps,
  toRange,
} from '../../console/src/screens/sales/range.ts';

const today = '2026-06-10';
const rangeIn = (query: string) => toRange(chosenIn(new URLSearchParams(query), today));

suite('The range of sales', () => {
  test('The range of sales is read from the URL, and is the last 30 days without valid days', () => {
    for (const [query, from, to, step] of [
      ['', '2026-05-12', '2026-06-11', 'day'],
      ['from=x&to=2026-02-30&step=year', '2026-05-12', '2026-06-11', 'day'],
      ['from=2026-06-01&to=2026-06-01', '2026-06-01', '2026-06-02', 'day'],
      ['from=2026-06-03&to=2026-06-08&step=week', '2026-06-01', '2026-06-15', 'week'],
      ['from=2026-01-31&to=2026-12-01&step=month', '2026-01-01', '2027-01-01', 'month'],
      // More than 400 days are shown by week, and more than 400 weeks by month.
      ['from=2025-05-07&to=2026-06-10', '2025-05-07', '2026-06-11', 'day'],
      ['from=2025-05-06&to=2026-06-10', '2025-05-05', '2026-06-15', 'week'],
      ['from=2018-01-01&to=2026-06-10&step=week', '2018-01-01', '2026-07-01', 'month'],
    ] as const) {
      assert.deepEqual(rangeIn(query), { from, to, step }, query);
    }
    assert.equal(rangeIn('from=2026-06-02&to=2026-06-01'), null);
  });

  test('The range of sales is compared with as many months, or as many days', () => {
    for (const [from, to, before] of [
      ['2026-06-01', '2026-07-01', '2026-05-01'],
      ['2026-03-01', '2026-06-01', '2025-12-01'],
      ['2026-01-01', '2027-01-01', '2025-01-01'],
      ['2026-06-01', '2026-06-08', '2026-05-25'],
      ['2026-06-02', '2026-07-02', '2026-05-03'],
    ] as const) {
      assert.deepEqual(rangeBefore({ from, to, step: 'day' }), { from: before, to: from, step: 'day' });
    }
  });

  test('The range of sales contains the chosen days in at most 400 whole steps', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -3000, max: 3000 }),
        fc.integer({ min: 0, max: 3600 }),
        fc.constantFrom(...steps),
        (start, days, step) => {
          const from = addDays(today, start);
          const range = toRange({ from, last: addDays(from, days), step });
          assert.ok(range !== null && range.from <= from && range.to > addDays(from, days));
          const length = (Date.parse(range.to) - Date.parse(range.from)) / 86_400_000;
          const longest = { day: 1, week: 7, month: 28 }[range.step];
          assert.ok(length / longest <= 400 && length % (range.step === 'week' ? 7 : 1) === 0);
          assert.ok(rangeBefore(range).to === range.from && rangeBefore(range).from < range.from);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('The range of sales is one of some usual ones', () => {
    assert.deepEqual(
      listPresets('2026-01-10').map(({ from, last }) => `${from} ${last}`),
      [
        '2026-01-04 2026-01-10',
        '2025-12-12 2026-01-10',
        '2025-10-13 2026-01-10',
        '2026-01-01 2026-01-10',
        '2025-12-01 2025-12-31',
        '2026-01-01 2026-01-10',
      ],
    );
  });
});

test('A change of sales is in percent, or new', () => {
  assert.deepEqual(
    [showChange(112, 100), showChange(50, 100), showChange(3, 3), showChange(1, 0), showChange(0, 0)],
    ['+12 %', '-50 %', '0 %', 'new', ''],
  );
});
