/** Reads and writes files of cheeses as streams. The extension decides the format: CSV, NDJSON or JSON. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { streamArray } from 'stream-json/streamers/stream-array.js';
import { isWellFormed } from '../../schema/well-formed.ts';
import type { Cheese } from '../schemas.ts';
import { importFields, type SourceRow } from './column-mapping.ts';
import { escapeFormula, unescapeFormula } from './csv-cells.ts';

export interface ImportRow {
  /** Position in the file: `line 12`, or `element 3` of a JSON array. */
  readonly place: string;
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

/** The rows of a file, one after another. */
export function readImportRows(file: string): AsyncGenerator<ImportRow> {
  switch (fileFormatOf(file)) {
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
      relax_column_count: true,
      skip_empty_lines: true,
    }),
  );
  source.on('error', (error) => records.destroy(error));
  for await (const { record, info } of records as AsyncIterable<{
    record: SourceRow;
    info: { bytes: number };
  }>) {
    const breaksWithin = Object.values(record).join('').split('\n').length - 1;
    yield {
      place: `line ${lineAt(info.bytes - 1) - breaksWithin}`,
      row: record,
      bytesRead: source.bytesRead,
    };
  }
}

/** Returns a function from a byte to its line. The parser's own line counter counts CR LF as two lines. */
function lineCounter(source: Readable): (byte: number) => number {
  const lineFeeds: number[] = [];
  let length = 0;
  let passed = 0;
  source.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) {
      lineFeeds.push(length + at);
    }
    length += chunk.length;
  });
  return (byte) => {
    while ((lineFeeds[passed] ?? Number.POSITIVE_INFINITY) < byte) {
      passed += 1;
    }
    return passed + 1;
  };
}

async function* readNdjson(file: string): AsyncGenerator<ImportRow> {
  const source = createReadStream(file, { encoding: 'utf8' });
  let line = 0;
  for await (const text of linesOf(source)) {
    line += 1;
    if (text.trim() !== '') {
      yield { ...parseLine(text.replace(/^\uFEFF/, '')), place: `line ${line}`, bytesRead: source.bytesRead };
    }
  }
}

/** Splits at line feeds only. node:readline also splits at U+2028 and U+2029, which JSON text can contain. */
async function* linesOf(source: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of source) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
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
      yield { ...asRow(value), place: `element ${key + 1}`, bytesRead: source.bytesRead };
    }
  } catch (error) {
    throw new Error(`${file} is not a JSON array: ${(error as Error).message}`, { cause: error });
  }
}

function asRow(value: unknown): { row: SourceRow | null; reason?: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { row: null, reason: 'not an object' };
  }
  return isWellFormed(value)
    ? { row: value as SourceRow }
    : { row: null, reason: 'contains half of a surrogate pair, which is not valid Unicode' };
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
