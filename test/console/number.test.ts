/** How the console and the import of files read numbers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  type NumberRules,
  priceRules,
  readNumber,
  writeNumber,
  writePrice,
} from '../../console/src/parts/fields/number.ts';
import { parsePrice } from '../../src/catalogue-import/cells.ts';

const kilograms: NumberRules = { decimals: 0, min: -1000, max: 1_000_000_000 };

suite('A number in a field', () => {
  test('A number in a field of the console is read with the separator of the browser or a point, and refused where ambiguous', () => {
    const digits = /^Write digits without separators of thousands, such as 1234.5\.$/;
    for (const [text, inEnglish, inGerman] of [
      ['29.90', 29.9, 29.9],
      ['29,90', /^Write a point before the decimals: 29\.90\.$/, 29.9],
      ['1234.5', 1234.5, 1234.5],
      [' 7 ', 7, 7],
      ['', null, null],
      ['.5', 0.5, 0.5],
      ['5.', 5, 5],
      ['1,234.5', digits, digits],
      ['1.234,5', digits, digits],
      ['1,234', digits, /at most 2 decimals/],
      ['1.234', /at most 2 decimals/, /at most 2 decimals/],
      ['1 234', digits, digits],
      ["1'234", digits, digits],
      ['1e9', digits, digits],
      ['0x10', digits, digits],
      ['Infinity', digits, digits],
      ['$5', digits, digits],
      ['.', digits, digits],
      ['-', digits, digits],
      ['--5', digits, digits],
      ['-5', /from 0 to/, /from 0 to/],
      ['1000000.01', /from 0 to 1,000,000\.$/, /from 0 to 1\.000\.000\.$/],
    ] as const) {
      for (const [language, expected] of [
        ['en-US', inEnglish],
        ['de-DE', inGerman],
      ] as const) {
        const { value, problem } = readNumber(text, priceRules, language);
        if (expected instanceof RegExp) {
          assert.equal(value, null, text);
          assert.match(problem ?? '', expected, `${text} ${language}`);
        } else {
          assert.deepEqual([value, problem], [expected, null], `${text} ${language}`);
        }
      }
    }
    assert.deepEqual(readNumber('\u221251', kilograms, 'en-US').value, -51);
    assert.match(readNumber('1.5', kilograms, 'en-US').problem ?? '', /whole number/);
    assert.match(readNumber('1.500', kilograms, 'de-DE').problem ?? '', /whole number/);
    // Kilograms have three decimals, like a thousand has zeros.
    const grams: NumberRules = { ...kilograms, decimals: 3 };
    for (const [text, inEnglish, inGerman] of [
      ['1.500', 1.5, /^Write 1500 without a separator, or 1,500 for decimals\.$/],
      ['-12.250', -12.25, /^Write -12250/],
      ['1,500', /^Write digits without/, 1.5],
      ['0.250', 0.25, 0.25],
      ['.125', 0.125, 0.125],
      ['1500.125', 1500.125, 1500.125],
      ['0,3001', /^Write digits without/, /at most 3 decimals/],
    ] as const) {
      for (const [language, expected] of [
        ['en-US', inEnglish],
        ['de-DE', inGerman],
      ] as const) {
        const { value, problem } = readNumber(text, grams, language);
        if (expected instanceof RegExp) {
          assert.match(problem ?? '', expected, `${text} ${language}`);
        } else {
          assert.deepEqual([value, problem], [expected, null], `${text} ${language}`);
        }
      }
    }
  });

  test('A number in a field of the console is read as it was written, for any price', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 1e8 }),
        fc.constantFrom('en-US', 'de-DE', 'fr-FR', 'de-CH'),
        (cents, language) => {
          const text = writeNumber(cents / 100, language);
          assert.equal(readNumber(text, priceRules, language).value, cents / 100);
          const price = writePrice(cents / 100, language);
          assert.match(price, /^\d+[.,]\d\d$/);
          assert.equal(readNumber(price, priceRules, language).value, cents / 100);
        },
      ),
    );
  });

  test('A number in a field of the console is never another one in a field than in a file', () => {
    const text = fc.string({ unit: fc.constantFrom(..."0123456789.,-e '"), maxLength: 9 });
    fc.assert(
      fc.property(text, fc.constantFrom('en-US', 'de-DE'), (written, language) => {
        const inField = readNumber(written, priceRules, language).value;
        let inFile: number | null = null;
        try {
          inFile = parsePrice(written.trim(), 'pricePerKg');
        } catch {}
        if (inField !== null && inFile !== null) {
          assert.equal(inField, inFile);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
