/** Reads and writes files of cheeses as streams. The extension decides the format: CSV, NDJSON or JSON. */
import type { Cheese } from '../cheeses/schemas.ts';
import { escapeFormula, writeCell } from './cells.ts';
import { findCellKind, importFields } from './column-mapping.ts';
import { readCsv } from './csv-rows.ts';
import type { ImportRow } from './import-row.ts';
import { readJson, readNdjson } from './json-rows.ts';

export type Format = 'csv' | 'ndjson' | 'json';

/** @throws Error with a message for the operator */
export function chooseFileFormat(file: string): Format {
  const extension = /\.(csv|ndjson|jsonl|json)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === undefined) {
    throw new Error(
      `${file}: the name must end in .csv, .json or .ndjson, according to the format of the file.`,
    );
  }
  return extension === 'jsonl' ? 'ndjson' : (extension as Format);
}

/** The rows of a file, one after another. @throws ImportError */
export function readImportRows(
  file: string,
  format: Format = chooseFileFormat(file),
): AsyncGenerator<ImportRow> {
  switch (format) {
    case 'csv':
      return readCsv(file);
    case 'ndjson':
      return readNdjson(file);
    case 'json':
      return readJson(file);
  }
}

/** A cheese in a file, with the kilograms on hand if its stock is tracked. */
export type ExportedCheese = Cheese & { readonly stockKg?: number };

/** Writes cheeses as the text of a file, which `readImportRows` and the default mapping read back. */
export function writerFor(format: Format): {
  head: string;
  item(cheese: ExportedCheese, index: number): string;
  tail: string;
} {
  switch (format) {
    case 'ndjson':
      return { head: '', item: (cheese) => `${JSON.stringify(cheese)}\n`, tail: '' };
    case 'json':
      return {
        head: '[',
        item: (cheese, index) => `${index === 0 ? '\n' : ',\n'}${JSON.stringify(cheese)}`,
        tail: '\n]\n',
      };
    case 'csv':
      return {
        head: csvLine(['id', ...importFields]),
        item: (cheese) =>
          csvLine([
            String(cheese.id),
            ...importFields.map((field) => writeCell(findCellKind(field), cheese[field])),
          ]),
        tail: '',
      };
  }
}

function csvLine(values: readonly string[]): string {
  const cells = values
    .map(escapeFormula)
    .map((cell) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${cells.join(',')}\r\n`;
}
