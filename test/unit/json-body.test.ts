/** JSON bodies: parsed, or refused with the position of the error. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/errors.ts';
import { parseJson } from '../../src/http/bodies/json-body.ts';

const parse = (text: string) => parseJson(Buffer.from(text));
/** `{"a":{"a": ... 1 }}` with a given depth. */
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** The message of the only error, which is about the body as a whole. */
function messageOf(bytes: Uint8Array): string {
  try {
    parseJson(bytes);
  } catch (error) {
    assert.ok(error instanceof AppError, `not an AppError: ${error}`);
    assert.equal(error.code, 'validation');
    assert.equal(error.errors.length, 1);
    assert.equal(error.errors[0]?.field, '');
    return error.errors[0]?.message ?? '';
  }
  assert.fail(`it was taken: ${Buffer.from(bytes)}`);
}

const messageOfText = (text: string) => messageOf(Buffer.from(text));

suite('parseJson', () => {
  test('parseJson reads everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        assert.deepEqual(parse(text), JSON.parse(text));
      }),
    );
  });

  test('parseJson names the member that an object has twice, wherever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.string({ maxLength: 5 }), (value, name) => {
        const inner = `{${JSON.stringify(name)}:${JSON.stringify(value)}, ${JSON.stringify(name)} : 1}`;
        assert.throws(() => parse(`[${JSON.stringify(value)}, {"a": ${inner}}]`), /twice/);
      }),
    );
  });

  test('parseJson returns a value or throws a validation error for any bytes', () => {
    const nearlyJson = fc.string({
      unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', 'u', 'd800', ':', ',', '1', '-', 'é', ' ', '\0'),
      maxLength: 30,
    });
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      nearlyJson.map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, (body) => {
        try {
          parseJson(body);
        } catch {
          assert.notEqual(messageOf(body), '');
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('parseJson reports that a body is required when it is empty', () => {
    for (const text of ['', ' ', '\r\n\t']) {
      assert.match(messageOfText(text), /is required/);
    }
  });

  test('parseJson treats __proto__ and similar names as plain data, and changes no prototype', () => {
    const value = parse(
      '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}',
    ) as object;
    assert.ok(Object.hasOwn(value, '__proto__'));
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.ok(!('isAdmin' in {}));
  });

  test('parseJson accepts 64 levels and no more, counting only brackets outside of strings', () => {
    parse(nested(64));
    parse('['.repeat(64) + ']'.repeat(64));
    assert.match(messageOfText(nested(65)), /deeper than 64/);
    assert.match(messageOfText('['.repeat(65) + ']'.repeat(65)), /deeper than 64/);
    assert.match(messageOfText('['.repeat(500_000)), /deeper than 64/);
    parse(JSON.stringify({ [`${'{['.repeat(100)}"\\`]: `\\"${'['.repeat(100)}` }));
    parse(JSON.stringify(`"${'['.repeat(100)}`));
    parse(JSON.stringify(Array(100).fill([[]])));
  });

  test('parseJson refuses bytes that are not UTF-8', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xc0, 0x80, 0x22],
    ]) {
      assert.match(messageOf(Uint8Array.from(bytes)), /not valid UTF-8/);
    }
    assert.notEqual(messageOf(Buffer.from('\uFEFF{"a":1}', 'utf16le')), '');
  });

  test('parseJson accepts a byte order mark at the beginning', () => {
    assert.deepEqual(parse('\uFEFF{"a":1}'), { a: 1 });
  });

  test('parseJson refuses half of a surrogate pair in values and names, and accepts whole pairs', () => {
    for (const text of [
      '"\\ud83e"',
      '"\\uDDC0"',
      '{"a":["x\\uD83Ex"]}',
      '{"\\ud83e":1}',
      '"\\uddc0\\ud83e"',
    ]) {
      assert.match(messageOfText(text), /surrogate/);
    }
    assert.equal(parse('"\\ud83e\\uddc0"'), '🧀');
    assert.equal(parse('"\\\\ud83e"'), '\\ud83e');
  });

  test('parseJson reports the line and column where a body stops being JSON', () => {
    const table: [text: string, place: string][] = [
      ['{"a":1,}', 'line 1, column 8'],
      ['{"a": 1', 'line 1, column 8'],
      ['{"a": x}', 'line 1, column 7'],
      ['[1,\n 2,\n oops]', 'line 3, column 2'],
      ['{"name": Brie}', 'line 1, column 10'],
      ["{'name': 1}", 'line 1, column 2'],
      ['{"position 3": x}', 'line 1, column 16'],
      ['[1] 2', 'line 1, column 5'],
      ['"abc', 'line 1, column 5'],
      ['{"a":"b\nc"}', 'line 1, column 8'],
    ];
    for (const [text, place] of table) {
      assert.ok(messageOfText(text).endsWith(`, at ${place}`), `${text}: ${messageOfText(text)}`);
    }
  });

  test('parseJson reports the position of a character that is never permitted, at any position', () => {
    const plain = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '7') });
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        // Not in true, false and null: an error within them can be reported at their first character.
        fc.oneof(plain, fc.integer()),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(plain, tie('any'), { maxKeys: 3 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), fc.nat(), (one, indent, random) => {
        const text = JSON.stringify(one, null, indent);
        const at = random % (text.length + 1);
        const lines = text.slice(0, at).split('\n');
        const place = `at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
        const broken = `${text.slice(0, at)}\u0001${text.slice(at)}`;
        assert.ok(messageOfText(broken).endsWith(place), `${broken}: ${messageOfText(broken)}, not ${place}`);
      }),
    );
  });
});
