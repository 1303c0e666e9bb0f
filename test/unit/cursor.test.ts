/** Page cursors: encode and decode. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parseListQuery, toCursorFilters } from '../../src/cheeses/listing/list-query.ts';
import { createCursors } from '../../src/cursor.ts';
import { AppError } from '../../src/errors.ts';
import { secret } from '../context.ts';

const cursors = createCursors(secret, 'cheeses');
const positions = fc.oneof(
  fc.record({
    sort: fc.constantFrom('name', '-createdAt'),
    filters: fc.record({ q: fc.string({ unit: 'grapheme' }), tags: fc.array(fc.string()) }),
    after: fc.record({ id: fc.maxSafeNat(), name: fc.string({ unit: 'grapheme' }) }),
  }),
  fc.jsonValue(),
);

function assertRefused(cursor: string): void {
  assert.throws(
    () => cursors.decode(cursor),
    (error) => error instanceof AppError && error.code === 'badRequest' && error.message.includes('cursor'),
    cursor,
  );
}

/** Any code point except surrogates. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

suite('createCursors', () => {
  test('createCursors decodes the position that it encoded', () => {
    fc.assert(
      fc.property(positions, (position) => {
        const cursor = cursors.encode(position);
        assert.deepEqual(cursors.decode(cursor), JSON.parse(JSON.stringify(position)));
      }),
    );
  });

  test('createCursors encodes positions without characters that a URL escapes', () => {
    fc.assert(
      fc.property(positions, (position) => {
        const cursor = cursors.encode(position);
        assert.equal(encodeURIComponent(cursor), cursor);
      }),
    );
  });

  test('createCursors refuses a cursor with any one character changed', () => {
    const characters = fc.oneof(
      fc.constantFrom(
        ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ',
        'é',
        '€',
        '\0',
      ),
      anyCharacter,
    );
    fc.assert(
      fc.property(positions, fc.nat(), characters, (position, random, character) => {
        const cursor = cursors.encode(position);
        const at = random % cursor.length;
        const changed = cursor.slice(0, at) + character + cursor.slice(at + 1);
        fc.pre(changed !== cursor);
        assertRefused(changed);
      }),
      { numRuns: 2000 },
    );
  });

  test('createCursors refuses a cursor that was cut, lengthened or combined from two', () => {
    const cursor = cursors.encode({ after: 1 });
    const other = cursors.encode({ after: 2 });
    for (let length = 0; length < cursor.length; length += 1) {
      assertRefused(cursor.slice(0, length));
    }
    const [payload = '', signature = ''] = cursor.split('.');
    const [, otherSignature = ''] = other.split('.');
    for (const text of [
      `${cursor}A`,
      `${cursor}.`,
      `${cursor}.${signature}`,
      `.${cursor}`,
      ` ${cursor}`,
      `${payload}.${otherSignature}`,
      `${payload}=.${signature}`,
      cursor.toUpperCase(),
    ]) {
      assertRefused(text);
    }
  });

  test('createCursors refuses any other text', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => assertRefused(text)));
  });

  test('createCursors accepts cursors of the same secret and list only', () => {
    const position = { after: { id: 7 } };
    const same = createCursors(secret, 'cheeses');
    assert.deepEqual(same.decode(cursors.encode(position)), position);
    assertRefused(createCursors('another secret that is only good for tests', 'cheeses').encode(position));
    assertRefused(createCursors(secret, 'orders').encode(position));
  });

  test('createCursors signs as every version does, because cursors do not expire', () => {
    assert.equal(cursors.encode({ after: { id: 7 } }), 'eyJhZnRlciI6eyJpZCI6N319.0uk7FZMxNIUGjLHUtLw1KA');
  });

  test('createCursors contains the filters of a list so that they are the same text on each page, the key of cached totals', () => {
    const filters = fc.record(
      {
        tags: fc.array(fc.string(), { minLength: 1, maxLength: 30 }),
        tagsAll: fc.array(fc.string(), { minLength: 1, maxLength: 5 }),
        category: fc.string(),
        minPrice: fc.nat(),
        organic: fc.boolean(),
        statuses: fc.constant(['sold', 'available'] as const),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(filters, (given) => {
        const [first, same] = [given, Object.fromEntries(Object.entries(given).reverse())].map((one) =>
          parseListQuery({ ...one, limit: 20 }, cursors),
        );
        const filters = first?.query.filters ?? {};
        const cursor = cursors.encode({ sort: 'name', filters: toCursorFilters(filters), after: { id: 7 } });
        const next = parseListQuery({ tags: given.tags, limit: 20, cursor }, cursors);
        assert.equal(JSON.stringify(same?.query.filters), JSON.stringify(filters));
        assert.equal(JSON.stringify(next.query.filters), JSON.stringify(filters));
      }),
    );
  });
});
