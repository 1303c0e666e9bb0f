/** Cells of CSV: formulas are prefixed, and every value is read back exactly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { escapeFormula, unescapeFormula } from '../../src/catalogue-import/cells.ts';

const value = fc.string({
  unit: fc.oneof(fc.constantFrom(...'\'"=+-@\t\r\n ＝＋－＠a'), fc.string({ minLength: 1, maxLength: 1 })),
});

test('Every value in CSV is read back exactly as it was written', () => {
  fc.assert(fc.property(value, (text) => unescapeFormula(escapeFormula(text)) === text));
});

test('No cell in CSV begins like a formula, after any spaces and quotes', () => {
  fc.assert(fc.property(value, (text) => !/^(?:[\s"]*[=+\-@＝＋－＠]|[\t\r\n])/.test(escapeFormula(text))));
});

test('A value in CSV that is no formula is not changed', () => {
  for (const text of ['', "'s-Graveland", "'", 'Brie-Camembert', 'a=b', '1+1', ' Brie']) {
    assert.equal(escapeFormula(text), text);
    assert.equal(unescapeFormula(text), text);
  }
});
