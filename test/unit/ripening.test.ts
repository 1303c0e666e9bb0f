/** parseRipening: ages in prose, as months. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parseRipening } from '../../src/catalogue-import/cells.ts';

suite('parseRipening', () => {
  test('parseRipening parses ages as cheese directories write them', () => {
    const table: [text: string, months: number | null][] = [
      ['9 Months', 9],
      ['1 Month', 1],
      ['3 month', 3],
      ['4 months', 4],
      ['1 Year', 12],
      ['2 Years', 24],
      ['8 years', 96],
      ['Less than 1 Month', 0],
      ['Less than 1 Year', 11],
      ['More than 5 Years', 60],
      ['Unripened', 0],
      ['unripened', 0],
      ['Un-ripened', 0],
      ['Unriped', 0],
      ['None', 0],
      ['None.', 0],
      ['Fresh', 0],
      ['3 to 6 months', 3],
      ['12 to 15 months', 12],
      ['1 to 2 year', 12],
      ['2 to 5 years', 24],
      ['2-4 months', 2],
      ['3 - 4 months', 3],
      ['6 or 7 weeks', 1],
      ['2 weeks', 0],
      ['10 days', 0],
      ['15 to 21 days', 0],
      ['30 to 45 days', 1],
      ['45 days', 1],
      ['60 days', 2],
      ['90 days', 3],
      ['120 days', 4],
      ['30 days in brine.', 1],
      ['10 day minimum', 0],
      ['10 days minimum', 0],
      ['Minimum 10 days', 0],
      ['minimum 2 months', 2],
      ['1.5 years', 18],
      ['  6 months  ', 6],
      ['6months', 6],
      ['1,5 years', 18],
      ['2,5 to 3 months', 2],
    ];
    for (const [text, months] of table) {
      assert.equal(parseRipening(text), months, text);
    }
  });

  test('parseRipening returns null for a text that is no age', () => {
    for (const text of [
      '',
      ' ',
      'Naturally brine-ripened',
      'Not required to ripen.',
      'months',
      'about a year',
      'a long time',
      '12.5',
      '-3',
      '14',
      '.5 years',
      '9 monthly visits',
    ]) {
      assert.equal(parseRipening(text), null, text);
    }
  });

  test('parseRipening returns whole months for every unit, in any case and with any spaces', () => {
    const units = { month: 1, year: 12 } as const;
    fc.assert(
      fc.property(
        fc.nat(1000),
        fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
        (n, unit) => {
          for (const text of [`${n} ${unit}s`, `${n} ${unit}`, ` ${n}  ${unit.toUpperCase()}S `]) {
            assert.equal(parseRipening(text), n * units[unit]);
          }
        },
      ),
    );
  });

  test('parseRipening counts thirty days as a month, without rounding errors', () => {
    for (let months = 0; months <= 120; months += 1) {
      assert.equal(parseRipening(`${months * 30} days`), months);
      assert.equal(parseRipening(`${months * 30 + 29} days`), months);
    }
    for (let months = 0; months <= 119; months += 7) {
      assert.equal(parseRipening(`${(months / 7) * 30} weeks`), months);
    }
  });

  test('parseRipening returns a whole number that is not negative, or null, for any text', () => {
    const words = fc.string({
      unit: fc.constantFrom(
        '1',
        '25',
        '.',
        '-',
        ' ',
        'to ',
        'day',
        'weeks',
        'month',
        'years',
        'less than ',
        'x',
      ),
      maxLength: 10,
    });
    fc.assert(
      fc.property(fc.oneof(words, fc.string()), (text) => {
        const months = parseRipening(text);
        assert.ok(months === null || (Number.isSafeInteger(months) && months >= 0), text);
      }),
    );
  });
});
