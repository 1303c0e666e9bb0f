/** Periods of series of statistics, and the dates, times and zones that name them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listBoundaries, momentRule, steps, zoneRule } from '../../src/statistics/periods.ts';

const dayMs = 86_400_000;

test('Periods of a series of sales are the hours, days, weeks and months of the clock on the wall in any zone', () => {
  const zones = [
    'UTC',
    'Europe/Zurich',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'America/St_Johns',
    'Africa/Cairo',
    'Pacific/Apia',
  ];
  const moment = fc.integer({ min: Date.UTC(2009, 0), max: Date.UTC(2031, 0) });
  fc.assert(
    fc.property(
      moment,
      fc.integer({ min: 1, max: 9 * dayMs }),
      fc.constantFrom(...zones),
      fc.constantFrom(...steps),
      (start, length, zone, step) => {
        const [from, to] = [new Date(start).toISOString(), new Date(start + length).toISOString()];
        const boundaries = listBoundaries({ from, to, zone }, step);
        const format = new Intl.DateTimeFormat('en-GB', {
          timeZone: zone,
          hourCycle: 'h23',
          weekday: 'short',
          hour: '2-digit',
          minute: '2-digit',
          second: '2-digit',
        });
        const wall = (time: string) => format.format(new Date(time)).replaceAll(/[, ]+/g, ' ');
        assert.ok(
          (boundaries[0] ?? '') <= from && from < (boundaries[1] ?? ''),
          'the first step contains from',
        );
        assert.ok(
          (boundaries.at(-2) ?? '') < to && to <= (boundaries.at(-1) ?? ''),
          'the last step contains the end',
        );
        const longest = {
          hour: 90 * 60_000,
          day: 25 * 3_600_000,
          week: 7 * dayMs + 3_600_000,
          month: 31 * dayMs + 3_600_000,
        }[step];
        for (const [index, time] of boundaries.entries()) {
          const next = boundaries[index + 1];
          assert.ok(
            next === undefined || (time < next && Date.parse(next) - Date.parse(time) <= longest),
            `${time} ${next}`,
          );
          if (step === 'month') {
            const date = new Intl.DateTimeFormat('en-GB', { timeZone: zone, day: 'numeric' });
            assert.equal(date.format(new Date(time)), '1');
          }
          if (step !== 'hour') {
            // Where midnight does not exist, the day begins at the first time that does.
            assert.match(wall(time), step === 'week' ? /^Mon 0[01]:/ : /0[01]:00:00$/);
          } else if (zone !== 'Australia/Lord_Howe') {
            assert.match(wall(time), /:00:00$/);
          }
        }
      },
    ),
    { numRuns: 150 },
  );
  assert.equal(
    listBoundaries({ from: '2026-03-29', to: '2026-03-30', zone: 'Europe/Zurich' }, 'hour').length,
    24,
  );
  assert.equal(
    listBoundaries({ from: '2026-10-25', to: '2026-10-26', zone: 'Europe/Zurich' }, 'hour').length,
    26,
  );
});

test('Dates, times and zones of a series of sales are checked', () => {
  const valid = [
    '2026-06-01',
    '2000-01-01',
    '2999-12-31',
    '2026-06-01T10:00:00Z',
    '2026-06-01t10:00:00.5+05:45',
  ];
  const wrong = [
    '',
    '2026',
    '2026-13-01',
    '3000-01-01',
    '-002026-01-01',
    '2026-06-01T10:00',
    '2026-06-01T10:00:00',
    '2026-06-01T10:00:00[UTC]',
  ];
  assert.deepEqual(
    valid.filter((text) => !momentRule.test(text)),
    [],
  );
  assert.deepEqual(wrong.filter(momentRule.test), []);
  assert.deepEqual(
    ['UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'].filter((text) => !zoneRule.test(text)),
    [],
  );
  assert.deepEqual(
    ['', '+05:45', 'Z', '2026-06-01T00:00[UTC]', 'Europe/Nowhere', 'UTC '].filter(zoneRule.test),
    [],
  );
});
