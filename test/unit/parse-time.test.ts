/** Times that clients send. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseTime, timestamp } from '../../src/clock.ts';

test('parseTime() reads every time that the API writes', () => {
  const [min, max] = [new Date('0000-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59.999Z')];
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
      assert.equal(parseTime(timestamp(date.getTime())), date.getTime());
    }),
  );
});

test('parseTime() reads offsets, small letters and nine digits of a second', () => {
  const noon = Date.parse('2026-11-27T12:00:00.123Z');
  for (const text of ['2026-11-27t12:00:00.123z', '2026-11-27T13:30:00.123456789+01:30']) {
    assert.equal(parseTime(text), noon, text);
  }
});

test('parseTime() refuses days and hours that do not exist, leap seconds, and years beyond 9999', () => {
  for (const text of [
    '2027-02-29T10:00:00Z',
    '2027-02-30T10:00:00Z',
    '2027-04-31T10:00:00Z',
    '2027-01-01T24:00:00Z',
    '2016-12-31T23:59:60Z',
    '2027-01-01T10:00:00',
    '2027-01-01T10:00:00+99:00',
    '0000-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '2027-01-01',
    '',
  ]) {
    assert.ok(Number.isNaN(parseTime(text)), text);
  }
});
