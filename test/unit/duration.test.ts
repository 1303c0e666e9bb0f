/** Durations as they are written in settings. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { timestamp } from '../../src/clock.ts';
import { parseDuration } from '../../src/duration.ts';

suite('parseDuration', () => {
  test('parseDuration parses a whole number and a unit', () => {
    const table: [text: string, milliseconds: number][] = [
      ['500ms', 500],
      ['6s', 6000],
      ['15m', 900_000],
      ['24h', 86_400_000],
      ['90d', 7_776_000_000],
      ['0s', 0],
      ['007s', 7000],
      ['36500d', 36_500 * 86_400_000],
    ];
    for (const [text, milliseconds] of table) {
      assert.equal(parseDuration(text), milliseconds, text);
    }
  });

  test('parseDuration returns null for any other text', () => {
    for (const text of [
      '',
      '5',
      's',
      '1.5h',
      '-1s',
      '+1s',
      '1 s',
      ' 1s',
      '1s ',
      '1s\n',
      '1S',
      '1w',
      '1y',
      '1h30m',
      '1e3s',
      '٣s',
      '36501d',
      '9999999999999ms',
    ]) {
      assert.equal(parseDuration(text), null, text);
    }
  });

  test('parseDuration returns only durations that can be added to a date', () => {
    const numbers = fc.nat({ max: 999_999_999_999 });
    fc.assert(
      fc.property(numbers, fc.constantFrom('ms', 's', 'm', 'h', 'd'), (number, unit) => {
        const milliseconds = parseDuration(`${number}${unit}`);
        if (milliseconds !== null) {
          assert.ok(Number.isSafeInteger(milliseconds) && milliseconds >= 0);
          assert.match(timestamp(Date.parse('2026-01-01') + milliseconds), /^\d{4}-.*Z$/);
        }
      }),
    );
  });
});
