/** Reads and writes files of cheeses as streams. The extension decides the format: CSV, NDJSON or JSON. */
import { createReadStream, type ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { Cheese } from '../cheeses/schemas.ts';
import { escapeFormula, unescapeFormula } from './cells.ts';
import { columnsMax, importFields } from './column-mapping.ts';
import { ImportError } from './import-error.ts';
import { type ImportRow, rowBytesMax } from './import-row.ts';
import { readJson, readNdjson } from './json-rows.ts';

/** Cells of a header. The parser handles all of them in one piece. */
const headerCellsMax = 10 * columnsMax;

export type Format = 'csv' | 'ndjson' | 'json';

/** @throws Error with a message for the operator */
export function fileFormatOf(file: string): Format {
  const extension = /\.(csv|ndjson|jsonl|json)$/i.exec(file)?.[1]?.toLowerCase();
  if (extension === undefined) {
    throw new Error(
      `${file}: the name must end in .csv, .json or .ndjson, according to the format of the file.`,
    );
  }
  return extension === 'jsonl' ? 'ndjson' : (extension as Format);
}

/** The rows of a file, one after another. @throws ImportError */
export function readImportRows(file: string, format: Format = fileFormatOf(file)): AsyncGenerator<ImportRow> {
  switch (format) {
    case 'csv':
      return readCsv(file);
    case 'ndjson':
      return readNdjson(file);
    case 'json':
      return readJson(file);
  }
}

/** A header is longer where a file has very many columns; its beginning says how they are separated. */
const headBytes = 65_536;

/** Spreadsheets write semicolons in countries where decimals have a comma. Quoted texts of the header do not count. */
async function separatorOf(file: string): Promise<string> {
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  const text = buffer.toString('utf8', 0, bytesRead).replace(/"[^"]*"/g, '""');
  const [header = ''] = /[^\r\n\uFEFF]+/.exec(text) ?? [];
  return [',', ';', '\t'].find((separator) => header.includes(separator)) ?? ',';
}

async function* readCsv(file: string): AsyncGenerator<ImportRow> {
  const delimiter = await separatorOf(file);
  const source = createReadStream(file);
  const lineAt = lineCounter(source);
  const records = source.pipe(
    parse({
      bom: true,
      cast: (cell, { header, index }) => {
        if (header && index >= headerCellsMax) {
          throw new ImportError('file', `The file has more than ${columnsMax} columns.`);
        }
        return header ? cell : unescapeFormula(cell);
      },
      // More columns than an import accepts are cut off: rows with very many members would be slow.
      columns: (names: string[]) => names.map((name, at) => (at > columnsMax ? false : name)),
      delimiter,
      info: true,
      max_record_size: rowBytesMax,
      relax_column_count: true,
      skip_empty_lines: true,
    }),
  );
  source.on('error', (error) => records.destroy(error));
  refuseLongLines(source);
  try {
    for await (const { record, info } of records as AsyncIterable<{
      record: Readonly<Record<string, string>>;
      info: { bytes: number };
    }>) {
      const cells = Object.values(record);
      const line = lineAt(info.bytes - 1) - countLineBreaks(cells);
      const read = cells.some((cell) => cell.includes('\uFFFD'))
        ? { row: null, reason: 'contains bytes that are not UTF-8: save the file as UTF-8' }
        : { row: record };
      yield { ...read, place: `line ${line}`, line, bytesRead: source.bytesRead };
    }
  } catch (error) {
    throw error instanceof CsvError
      ? new ImportError('file', `The file is not valid CSV: ${error.message}.`, { cause: error })
      : error;
  }
}

/** Delimiters do not count for `max_record_size`, and a line of ten million commas would block the server. */
function refuseLongLines(source: ReadStream): void {
  let length = 0;
  source.on('data', (chunk) => {
    const end = Math.max(chunk.lastIndexOf('\n'), chunk.lastIndexOf('\r'));
    length = end === -1 ? length + chunk.length : chunk.length - end - 1;
    if (length > rowBytesMax) {
      source.destroy(new ImportError('file', 'The file is not valid CSV: a line is longer than 1 MiB.'));
    }
  });
}

/** Line breaks are LF, CR LF and CR. */
function isAfterLineBreak(before: number, at: number): boolean {
  return before === lineFeed || (before === carriageReturn && at !== lineFeed);
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

function countLineBreaks(cells: readonly string[]): number {
  let count = 0;
  for (const cell of cells) {
    if (/[\r\n]/.test(cell)) {
      for (let at = 1; at <= cell.length; at += 1) {
        count += isAfterLineBreak(cell.charCodeAt(at - 1), cell.charCodeAt(at)) ? 1 : 0;
      }
    }
  }
  return count;
}

/**
 * Returns a function from a byte to its line, which must be called in the order of the bytes. The parser's own line
 * counter counts CR LF as two lines.
 */
function lineCounter(source: Readable): (byte: number) => number {
  const chunks: Buffer[] = [];
  /** The first byte of the first chunk, and where in it to continue. */
  let start = 0;
  let at = 0;
  let line = 1;
  let before = 0;
  source.on('data', (chunk: Buffer) => chunks.push(chunk));
  return (byte) => {
    for (let chunk = chunks[0]; chunk !== undefined; chunk = chunks[0]) {
      for (; at < chunk.length && start + at <= byte; at += 1) {
        const current = chunk[at] as number;
        line += isAfterLineBreak(before, current) ? 1 : 0;
        before = current;
      }
      if (at < chunk.length) {
        break;
      }
      start += chunk.length;
      at = 0;
      chunks.shift();
    }
    return line;
  };
}

/** A cheese in a file, with the kilograms on hand where its stock is tracked. */
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
        item: (cheese) => csvLine(csvValues(cheese)),
        tail: '',
      };
  }
}

function csvValues(cheese: ExportedCheese): string[] {
  const texts: Record<(typeof importFields)[number], string> = {
    name: cheese.name,
    category: cheese.category?.name ?? '',
    photoUrls: cheese.photoUrls.join('\n'),
    tags: cheese.tags.map(({ name }) => name).join(','),
    status: cheese.status,
    origin: cheese.origin ?? '',
    pricePerKg: cheese.pricePerKg?.toString() ?? '',
    ageMonths: cheese.ageMonths?.toString() ?? '',
    organic: String(cheese.organic),
    stockKg: cheese.stockKg?.toString() ?? '',
  };
  return [String(cheese.id), ...importFields.map((field) => texts[field])];
}

function csvLine(values: readonly string[]): string {
  const cells = values
    .map(escapeFormula)
    .map((cell) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${cells.join(',')}\r\n`;
}
