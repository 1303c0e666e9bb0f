/** How the console reads the columns of a file, and guesses their fields. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { showField } from '../../console/src/screens/cheeses/fields.ts';
import { csvColumns } from '../../console/src/screens/cheeses/list/csv-columns.ts';
import { guessMapping, parseHeader, readColumns } from '../../console/src/screens/import/columns.ts';

const fileOf = (name: string, text: string) => new File([text], name);

suite('columns of a file', () => {
  test('The columns of a file in UTF-16 are read', async () => {
    const bytes = Buffer.from('\uFEFFName\tPreis é\r\nBrie\t3\r\n', 'utf16le');
    for (const content of [bytes, Buffer.from(bytes).swap16()]) {
      assert.deepEqual(await readColumns(new File([content], 'a.csv')), ['Name', 'Preis é']);
    }
  });

  test('The columns of a file are read from the header of any table', () => {
    const cell = fc
      .string({ minLength: 1, maxLength: 12 })
      .map((text) => text.trim())
      .filter((text) => text !== '');
    fc.assert(
      fc.property(
        fc.array(cell, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        fc.constantFrom(',', ';', '\t', '|'),
        (cells, hasRows, separator) => {
          const header = cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(separator);
          assert.deepEqual(parseHeader(`${header}${hasRows ? '\r\n1,2\r\n' : ''}`), cells);
        },
      ),
    );
    assert.deepEqual(parseHeader('name,Country of origin\n1,2'), ['name', 'Country of origin']);
    assert.deepEqual(parseHeader('name;"Price, €"\nBrie, a;2'), ['name', 'Price, €']);
    assert.deepEqual(parseHeader('"two\nlines",b'), ['two\nlines', 'b']);
  });

  test('The columns of a file are the members of the first object of JSON, and none of a broken file', async () => {
    assert.deepEqual(await readColumns(fileOf('a.json', '[{"name":"Comté","price":1}]')), ['name', 'price']);
    assert.deepEqual(await readColumns(fileOf('a.ndjson', '{"name":"Comté"}\n{"b":1}')), ['name']);
    assert.deepEqual(await readColumns(fileOf('a.csv', '\uFEFFname,price\nComté,1')), ['name', 'price']);
    assert.deepEqual(await readColumns(fileOf('a.json', '{"name":')), []);
  });

  test('The columns of a file get fields by their names, first by the exact one', () => {
    assert.deepEqual(guessMapping(['Cheese name', 'Country', 'Price per kg', 'milk', 'Labels', 'Vendor']), {
      name: ['Cheese name'],
      origin: ['Country'],
      pricePerKg: ['Price per kg'],
      tags: ['Labels', 'milk'],
    });
    assert.deepEqual(guessMapping(['title', 'name']), { name: ['name'] });
    assert.deepEqual(guessMapping(['Vendor']), {});
    assert.deepEqual(guessMapping(['CheeseNameEn', 'CheeseNameFr', 'CategoryTypeEn', 'CategoryTypeFr']), {
      name: ['CheeseNameEn', 'CheeseNameFr'],
      category: ['CategoryTypeEn'],
    });
  });

  test('A changed field of an import is shown, whether the report has it as text or the cheese as a list', () => {
    assert.equal(showField('200; 8000 Half wheel', 'portions'), '200; 8000 Half wheel');
    assert.equal(showField([{ grams: 8000, name: 'Half wheel' }], 'portions'), 'Half wheel of 8 kg');
    assert.equal(showField('cow, raw milk', 'tags'), 'cow, raw milk');
    assert.equal(showField([{ id: 4, name: 'cow' }], 'tags'), 'cow');
    assert.equal(showField('https://example.com/1.jpg', 'photoUrls'), 'https://example.com/1.jpg');
    assert.equal(showField(['https://example.com/1.jpg'], 'photoUrls'), '1');
    assert.equal(showField(null, 'portions'), 'none');
  });

  test('The file of a list of cheeses has all of their fields, and values that the import reads', () => {
    const cheese = {
      id: 3,
      name: 'Comté',
      category: { id: 1, name: 'Hard' },
      photoUrls: ['https://example.com/1.jpg', 'https://example.com/2.jpg'],
      tags: [
        { id: 1, name: 'cow' },
        { id: 4, name: 'raw milk' },
      ],
      status: 'available',
      origin: null,
      organic: false,
      portions: [{ grams: 200 }, { grams: 8000, name: 'Half wheel' }],
      createdAt: '2026-01-15T09:30:00.000Z',
      updatedAt: '2026-02-03T14:12:45.120Z',
    } as const;
    const cells = Object.entries(csvColumns).map(([field, read]) => [field, read(cheese as never)]);
    assert.deepEqual(Object.fromEntries(cells.filter(([, cell]) => cell !== undefined)), {
      ...cheese,
      category: 'Hard',
      tags: 'cow,raw milk',
      photoUrls: 'https://example.com/1.jpg\nhttps://example.com/2.jpg',
      portions: '200; 8000 g Half wheel',
    });
  });
});
