/** Reads and writes files of cheeses as streams. The extension decides the format: CSV, NDJSON or JSON. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { streamArray } from 'stream-json/streamers/stream-array.js';
import { isWellFormed } from '../../schema/well-formed.ts';
import type { Cheese } from '../schemas.ts';
import { importFields, type SourceRow } from './column-mapping.ts';
import { escapeFormula, unescapeFormula } from './csv-cells.ts';
import { ImportError } from './import-error.ts';

export interface ImportRow {
  /** Position in the file: `line 12`, or `element 3` of a JSON array. */
  readonly place: string;
  /** The number in `place`. */
  readonly line: number;
  /** null, with a reason, when the line cannot be read. */
  readonly row: SourceRow | null;
  readonly reason?: string;
  /** Bytes of the file that were read so far. */
  readonly bytesRead: number;
}

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

/** The largest row. It is parsed in one piece, during which the server does nothing else. */
const rowBytesMax = 1024 * 1024;
const rowTooLarge = 'larger than 1 MiB';

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

async function* readCsv(file: string): AsyncGenerator<ImportRow> {
  const source = createReadStream(file);
  const lineAt = lineCounter(source);
  const records = source.pipe(
    parse({
      bom: true,
      cast: (cell, { header }) => (header ? cell : unescapeFormula(cell)),
      columns: true,
      info: true,
      max_record_size: rowBytesMax,
      relax_column_count: true,
      skip_empty_lines: true,
    }),
  );
  source.on('error', (error) => records.destroy(error));
  try {
    for await (const { record, info } of records as AsyncIterable<{
      record: Readonly<Record<string, string>>;
      info: { bytes: number };
    }>) {
      const cells = Object.values(record);
      const line = lineAt(info.bytes - 1) - (cells.join('').split('\n').length - 1);
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

/**
 * Returns a function from a byte to its line, which must be called in the order of the bytes. The parser's own line
 * counter counts CR LF as two lines.
 */
function lineCounter(source: Readable): (byte: number) => number {
  const chunks: Buffer[] = [];
  /** The first byte of the first chunk, and where in it to search for the next line feed. */
  let start = 0;
  let from = 0;
  let line = 1;
  source.on('data', (chunk: Buffer) => chunks.push(chunk));
  return (byte) => {
    for (let chunk = chunks[0]; chunk !== undefined; chunk = chunks[0]) {
      const at = chunk.indexOf(10, from);
      if (at !== -1 && start + at >= byte) {
        break;
      }
      if (at === -1) {
        if (start + chunk.length > byte) {
          break;
        }
        start += chunk.length;
        from = 0;
        chunks.shift();
      } else {
        from = at + 1;
        line += 1;
      }
    }
    return line;
  };
}

async function* readNdjson(file: string): AsyncGenerator<ImportRow> {
  const source = createReadStream(file, { encoding: 'utf8' });
  let line = 0;
  for await (const text of linesOf(source)) {
    line += 1;
    if (text.trim() !== '') {
      const read =
        text.length > rowBytesMax
          ? { row: null, reason: rowTooLarge }
          : parseLine(text.replace(/^\uFEFF/, ''));
      yield { ...read, place: `line ${line}`, line, bytesRead: source.bytesRead };
    }
  }
}

/**
 * Splits at line feeds only. node:readline also splits at U+2028 and U+2029, which JSON text can contain. Of a line that
 * is too long, only the beginning is returned.
 */
async function* linesOf(source: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of source) {
    const lines = chunk.split('\n');
    const last = lines.pop() ?? '';
    for (const text of lines) {
      yield rest + text;
      rest = '';
    }
    rest = rest.length > rowBytesMax ? rest : rest + last;
  }
  yield rest;
}

function parseLine(text: string): { row: SourceRow | null; reason?: string } {
  try {
    return asRow(JSON.parse(text));
  } catch (error) {
    return { row: null, reason: `not valid JSON: ${(error as Error).message}` };
  }
}

async function* readJson(file: string): AsyncGenerator<ImportRow> {
  const source = createReadStream(file);
  const elements = source.pipe(streamArray.withParserAsStream());
  source.on('error', (error) => elements.destroy(error));
  try {
    for await (const { key, value } of elements as AsyncIterable<{ key: number; value: unknown }>) {
      yield {
        ...asRow(value),
        place: `element ${key + 1}`,
        line: key + 1,
        bytesRead: source.bytesRead,
      };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) {
      throw error;
    }
    throw new ImportError('file', `The file is not a JSON array: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function asRow(value: unknown): { row: SourceRow | null; reason?: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { row: null, reason: 'not an object' };
  }
  if (!isSmall(value)) {
    return { row: null, reason: rowTooLarge };
  }
  return isWellFormed(value)
    ? { row: value as SourceRow }
    : { row: null, reason: 'contains half of a surrogate pair, which is not valid Unicode' };
}

/** Texts of at most a megabyte together, few values, and few levels: whatever reads the value is fast. */
function isSmall(value: object): boolean {
  let left = rowBytesMax;
  const sizeOf = (one: unknown) => (typeof one === 'string' ? one.length + 50 : 50);
  function fits(one: object, levels: number): boolean {
    for (const [key, member] of Array.isArray(one) ? one.entries() : Object.entries(one)) {
      left -= sizeOf(key) + sizeOf(member);
      if (
        left < 0 ||
        (typeof member === 'object' && member !== null && (levels === 0 || !fits(member, levels - 1)))
      ) {
        return false;
      }
    }
    return true;
  }
  return fits(value, 20);
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
