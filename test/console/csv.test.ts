/** The cells of CSV files that the console writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { toCsv } from '../../console/src/parts/tables/csv.ts';
import { escapeFormula } from '../../src/catalogue-import/cells.ts';

test('The console writes texts to CSV as an export does, so that no spreadsheet executes them, and numbers as they are', () => {
  const value = fc.string({ unit: fc.constantFrom(...'\'"=+-@\t\r\n ,＝＋－＠aé') });
  fc.assert(
    fc.property(value, (text) => {
      const [, cells] = parse(toCsv(['a', 'b'], [[text, -5]])) as string[][];
      assert.deepEqual(cells, [escapeFormula(text), '-5']);
    }),
  );
});
