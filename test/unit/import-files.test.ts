/** Files of cheeses: what an export writes, an import reads back. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { identityMapping, parseMapping, toCheeseInput } from '../../src/catalogue-import/column-mapping.ts';
import { readImportRows, writerFor } from '../../src/catalogue-import/file-formats.ts';
import { type Cheese, CheeseInput } from '../../src/cheeses/schemas.ts';
import { validate } from '../../src/schema/validate.ts';
import { temporaryFolder } from '../context.ts';

const letters = fc.constantFrom(...'aBé🧀1.-=\'"/; \u0301\u00a0\u2028\uFEFF');
const textOf = (unit: fc.Arbitrary<string>) => fc.string({ unit, minLength: 1, maxLength: 8 });
const text = textOf(fc.oneof(letters, fc.constant(',')));

const cents = fc.nat({ max: 1e8 }).map((amount) => amount / 100);

const prices = fc.oneof(
  fc.double({ min: 0, max: 1e6, noNaN: true }).map((price) => price + 0),
  cents,
  fc.nat({ max: 1e8 }).map((amount) => amount / 1000),
);

/** Any cheese that the API accepts. */
const cheeses = fc
  .record(
    {
      name: text,
      category: text.map((name) => ({ name })),
      photoUrls: fc.array(text, { maxLength: 3 }),
      // A CSV column separates tags by commas and trims the spaces around them.
      tags: fc
        .uniqueArray(
          textOf(letters)
            .map((name) => name.trim())
            .filter((name) => name !== ''),
          { maxLength: 3 },
        )
        .map((names) => names.map((name) => ({ name }))),
      status: fc.constantFrom('available', 'pending', 'sold'),
      origin: fc.option(text),
      pricePerKg: prices,
      ageMonths: fc.nat({ max: 120 }),
      organic: fc.boolean(),
    },
    { requiredKeys: ['name', 'photoUrls', 'tags', 'status', 'origin', 'organic'], noNullPrototype: true },
  )
  .map((cheese) => validate(CheeseInput, cheese))
  .filter(({ errors }) => errors.length === 0)
  .map(({ value }) => value as CheeseInput);

/** The values that must be equal. An absent origin equals null. */
const meant = (cheese: object) => ({ origin: null, photoUrls: [], tags: [], ...cheese });

suite('A file of cheeses', () => {
  for (const format of ['csv', 'ndjson', 'json'] as const) {
    test(`A file of cheeses in ${format} is read back as it was written, for any cheeses`, async (t) => {
      const file = join(await temporaryFolder(t), `cheeses.${format}`);
      const writer = writerFor(format);
      await fc.assert(
        fc.asyncProperty(fc.array(cheeses, { maxLength: 4 }), async (catalogue) => {
          const items = catalogue.map((cheese, index) =>
            writer.item({ id: index + 1, ...cheese } as unknown as Cheese, index),
          );
          writeFileSync(file, writer.head + items.join('') + writer.tail);
          const read: object[] = [];
          for await (const { row, reason } of readImportRows(file)) {
            assert.ok(row !== null, String(reason));
            const { input, remarks } = toCheeseInput(row, identityMapping);
            assert.deepEqual(remarks, []);
            read.push(meant(input));
          }
          assert.deepEqual(read, catalogue.map(meant));
        }),
        { numRuns: 100 },
      );
    });
  }

  test('A file of cheeses in CSV has the lines of an editor, with any line breaks', async (t) => {
    const file = join(await temporaryFolder(t), 'lines.csv');
    const breaks = ['\n', '\r\n', '\r'] as const;
    const cells = fc.constantFrom('Brie', '"x"', '"two\nlines"', '"three\r\nline\rbreaks"', '"\r\n"', '');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...breaks),
        fc.array(cells),
        fc.nat({ max: 2 ** 16 }),
        async (lineBreak, rows, padding) => {
          // Some files are longer than a chunk, which can end between CR and LF.
          const head = `name,${'x'.repeat(padding)}`;
          writeFileSync(
            file,
            [head, ...rows.flatMap((row) => (row === '' ? [''] : [`${row},`]))].join(lineBreak),
          );
          const lines: number[] = [];
          for await (const { line } of readImportRows(file)) {
            lines.push(line);
          }
          const expected: number[] = [];
          let next = 2;
          for (const row of rows) {
            if (row !== '' && row !== '"\r\n"') {
              expected.push(next);
            }
            next += 1 + (row.match(/\r\n|\r|\n/g)?.length ?? 0);
          }
          assert.deepEqual(lines, expected);
        },
      ),
      { numRuns: 100 },
    );
  });
});

test('A column that a mapping names many times is read once', () => {
  const mapping = parseMapping(['name=n', 'tags=t,t,u,t', 'tags=u']);
  const { input } = toCheeseInput({ n: 'Brie', t: 'cow', u: 'raw' }, mapping);
  assert.deepEqual(input.tags, [{ name: 'cow' }, { name: 'raw' }]);
});

test('A file of cheeses in CSV has the cells that another reader finds, or both refuse it', async (t) => {
  const file = join(await temporaryFolder(t), 'cells.csv');
  const text = fc.string({ unit: fc.constantFrom(...'ab ,,""\n'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(text, async (rows) => {
      writeFileSync(file, `a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,a0,a1,a2,a3,a4\n${rows}`);
      assert.deepEqual(await cellsOf(file), cellsOfOther(rows));
    }),
    { numRuns: 1000 },
  );
});

async function cellsOf(file: string): Promise<unknown[] | null> {
  const rows: unknown[] = [];
  try {
    for await (const { row } of readImportRows(file)) {
      rows.push(Object.values(row ?? {}));
    }
    return rows;
  } catch {
    return null;
  }
}

function cellsOfOther(rows: string): unknown[] | null {
  try {
    const records: string[][] = parse(rows, {
      relax_column_count: true,
      skip_records_with_empty_values: true,
    });
    return records.map((cells) => Array.from({ length: 31 }, (_, at) => cells[at] ?? ''));
  } catch {
    return null;
  }
}
