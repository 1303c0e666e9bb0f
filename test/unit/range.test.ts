/** Byte ranges (RFC 9110, section 14). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/errors.ts';
import { toErrorHeaders, toErrorStatus } from '../../src/http/responses/error-mapping.ts';
import { isRangeWanted, parseRange } from '../../src/http/responses/range.ts';

type Outcome = 'all' | 'none' | readonly [first: number, last: number];

function outcomeOf(header: string | undefined, bytes: number): Outcome {
  try {
    const range = parseRange(header, bytes);
    return range === null ? 'all' : [range.first, range.last];
  } catch (error) {
    assert.ok(error instanceof AppError && toErrorStatus(error) === 416, String(error));
    assert.equal(toErrorHeaders(error)['Content-Range'], `bytes */${bytes}`);
    return 'none';
  }
}

/** Whether the client wants each of the bytes, by position. */
function wantedOf(from: number | null, to: number | null, bytes: number): Outcome {
  const all = Array.from({ length: bytes }, (_, at) => at);
  const wanted =
    from === null
      ? to === 0
        ? []
        : all.slice(-(to ?? 0))
      : all.filter((at) => at >= from && (to === null || at <= to));
  return wanted.length === 0 ? 'none' : [wanted[0] ?? 0, wanted.at(-1) ?? 0];
}

const size = fc.integer({ min: 1, max: 50 });
const position = fc.integer({ min: 0, max: 60 });

suite('The range of a request', () => {
  test('The range of a request is read as RFC 9110 defines it', () => {
    const table: [header: string | undefined, outcome: Outcome][] = [
      [undefined, 'all'],
      ['bytes=0-0', [0, 0]],
      ['bytes=0-9', [0, 9]],
      ['bytes=9-9', [9, 9]],
      ['bytes=2-5', [2, 5]],
      ['bytes=3-', [3, 9]],
      ['bytes=5-100', [5, 9]],
      ['bytes=-1', [9, 9]],
      ['bytes=-4', [6, 9]],
      ['bytes=-10', [0, 9]],
      ['bytes=-11', [0, 9]],
      ['BYTES=1-2', [1, 2]],
      ['  bytes=1-2 ', [1, 2]],
      ['bytes=0-99999999999999999999999', [0, 9]],
      ['bytes=-99999999999999999999999', [0, 9]],
      [`bytes=-${'9'.repeat(400)}`, [0, 9]],
      ['bytes=10-', 'none'],
      ['bytes=10-10', 'none'],
      ['bytes=11-12', 'none'],
      ['bytes=-0', 'none'],
      [`bytes=${'9'.repeat(400)}-`, 'none'],
      ['bytes=5-2', 'all'],
      ['bytes=0-1,4-5', 'all'],
      ['bytes=-', 'all'],
      ['bytes=', 'all'],
      ['bytes', 'all'],
      ['bytes=a-b', 'all'],
      ['bytes=1.5-2', 'all'],
      ['bytes=+1-2', 'all'],
      ['bytes=--1', 'all'],
      ['bytes=0x1-2', 'all'],
      ['bytes=١-٢', 'all'],
      ['items=0-1', 'all'],
      ['0-1', 'all'],
      ['', 'all'],
    ];
    for (const [header, outcome] of table) {
      assert.deepEqual(outcomeOf(header, 10), outcome, String(header));
    }
  });

  test('The range of a request is the same as when bytes are selected one by one', () => {
    const maybe = fc.option(position);
    fc.assert(
      fc.property(maybe, maybe, size, (from, to, bytes) => {
        fc.pre(from !== null || to !== null);
        const isBackwards = from !== null && to !== null && from > to;
        const expected = isBackwards ? 'all' : wantedOf(from, to, bytes);
        assert.deepEqual(outcomeOf(`bytes=${from ?? ''}-${to ?? ''}`, bytes), expected);
      }),
    );
  });

  test('The range of a request is within the file, for any header', () => {
    const pieces = fc.constantFrom('bytes', '=', '-', ',', ' ', '0', '1', '7', '99', '9007199254740993', 'x');
    const header = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(header, fc.integer({ min: 0, max: 2 ** 53 - 1 }), (text, bytes) => {
        const outcome = outcomeOf(text, bytes);
        if (typeof outcome !== 'string') {
          const [first, last] = outcome;
          assert.ok(Number.isSafeInteger(first) && Number.isSafeInteger(last));
          assert.ok(0 <= first && first <= last && last < bytes, `${first}-${last} of ${bytes}`);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('The range of a request applies without If-Range, or when If-Range is the current version', () => {
    const table: [ifRange: string | undefined, isWanted: boolean][] = [
      [undefined, true],
      ['"a"', true],
      [' "a" ', true],
      ['W/"a"', false],
      ['"b"', false],
      ['a', false],
      ['*', false],
      ['', false],
      ['"a", "b"', false],
      ['Mon, 01 Jun 2026 12:00:00 GMT', false],
    ];
    for (const [ifRange, isWanted] of table) {
      assert.equal(isRangeWanted(ifRange, '"a"'), isWanted, String(ifRange));
    }
  });
});
