/** Reads rows from CSV (RFC 4180), as a stream. */
import { unescapeFormula } from './cells.ts';
import { columnsMax, type SourceRow } from './column-mapping.ts';
import { ImportError } from './import-error.ts';
import { type ImportRow, rowBytesMax } from './import-row.ts';
import { openTextFile } from './text-file.ts';

/** Cells of a row. Empty ones may follow the last column. */
const cellsMax = 10 * columnsMax;

/** The rows after the header. @throws ImportError */
export async function* readCsv(file: string): AsyncGenerator<ImportRow> {
  const { head, text, bytesRead } = await openTextFile(file);
  let columns: readonly string[] | null = null;
  for await (const { cells, line } of recordsOf(text, separatorOf(head))) {
    if (columns === null) {
      columns = columnsOf(cells);
    } else {
      yield { ...rowOf(columns, cells), columns, place: `line ${line}`, line, bytesRead: bytesRead() };
    }
  }
}

const separators = [',', ';', '\t', '|'];

/** Spreadsheets write semicolons in countries where decimals have a comma. Quoted texts of the header do not count. */
function separatorOf(head: string): string {
  const [header = ''] = /[^\r\n]+/.exec(head.replace(/"[^"]*"/g, '""')) ?? [];
  return separators.find((separator) => header.includes(separator)) ?? ',';
}

/** What spreadsheets write in place of a value that a formula does not have. */
const spreadsheetError = /^#(?:N\/A|REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!)$/;

/** The separator by which a row that is too short would have as many cells as the header. */
function otherSeparator(columns: readonly string[], cells: readonly string[]): string | undefined {
  if (cells.length >= columns.length) {
    return undefined;
  }
  const text = cells.join('\n');
  return separators.find((separator) => text.split(separator).length >= columns.length);
}

/** Separators at the end of a header are no columns. @throws ImportError */
function columnsOf(header: readonly string[]): string[] {
  if (header.some(isNotUtf8)) {
    throw new ImportError('file', 'The header contains bytes that are not UTF-8: save the file as UTF-8.');
  }
  const names = header.map((name) => name.trim());
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}

/** A row that is shorter than the header has no values in its last columns. */
function rowOf(
  columns: readonly string[],
  cells: readonly string[],
): { row: SourceRow | null; reason?: string } {
  if (cells.some(isNotUtf8)) {
    return { row: null, reason: 'contains bytes that are not UTF-8: save the file as UTF-8' };
  }
  const filled = cells.findLastIndex((cell) => cell.trim() !== '') + 1;
  if (filled > columns.length) {
    const reason = `has ${filled} cells, the header has ${columns.length}: put values with a separator in quotes`;
    return { row: null, reason };
  }
  const error = cells.find((cell) => spreadsheetError.test(cell));
  if (error !== undefined) {
    return { row: null, reason: `contains ${error}, the error of a formula: correct it in the spreadsheet` };
  }
  const other = otherSeparator(columns, cells);
  if (other !== undefined) {
    const name = other === '\t' ? 'tabs' : `"${other}"`;
    return {
      row: null,
      reason: `has other separators than the header: ${name}. Write all rows with the same ones`,
    };
  }
  // A column can have the name `__proto__`.
  const row: Record<string, string> = Object.create(null);
  for (const [at, column] of columns.entries()) {
    row[column] = unescapeFormula(cells[at] ?? '');
  }
  return { row };
}

function isNotUtf8(cell: string): boolean {
  return cell.includes('\uFFFD');
}

interface CsvRecord {
  readonly cells: readonly string[];
  /** The line in which it begins. Line breaks are LF, CR LF and CR. */
  readonly line: number;
}

/** Position in a cell: before its first character, without quotes, between quotes, after a quote that may be its last. */
type CellState = 'start' | 'plain' | 'quoted' | 'closed';

/** The records that have a value. @throws ImportError */
async function* recordsOf(text: AsyncIterable<string>, separator: string): AsyncGenerator<CsvRecord> {
  const separatorCode = separator.charCodeAt(0);
  let state: CellState = 'start';
  let cells: string[] = [];
  /** The cell, as far as it was in chunks before. */
  let cell = '';
  let [line, nextLine] = [1, 1];
  let length = 0;
  let before = 0;
  for await (const chunk of text) {
    let first = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      const isLineBreak = code === carriageReturn || code === lineFeed;
      if (code === lineFeed && before === carriageReturn) {
        // The second half of a line break.
        first = state === 'quoted' ? first : at + 1;
      } else if (state === 'quoted') {
        nextLine += isLineBreak ? 1 : 0;
        if (code === quote) {
          cell += chunk.slice(first, at);
          state = 'closed';
        }
      } else if (isLineBreak || code === separatorCode) {
        cells.push(state === 'closed' ? cell : cell + chunk.slice(first, at));
        [state, cell, first] = ['start', '', at + 1];
        requireBounds(line, length + at, cells.length);
        if (isLineBreak) {
          if (hasValue(cells)) {
            yield { cells, line };
          }
          nextLine += 1;
          [cells, line, length] = [[], nextLine, -first];
        }
      } else if (code === quote && (state === 'start' || state === 'closed')) {
        // Two quotes between quotes are one.
        first = state === 'start' ? at + 1 : at;
        state = 'quoted';
      } else if (code === quote || state === 'closed') {
        throw notCsv(line, 'has a quote inside a value: write it twice, and put the value in quotes');
      } else {
        state = 'plain';
      }
      before = code;
    }
    cell += state === 'closed' ? '' : chunk.slice(first);
    length += chunk.length;
    requireBounds(line, length, cells.length);
  }
  if (state === 'quoted') {
    throw notCsv(line, 'has a quote that is not closed');
  }
  cells.push(cell);
  if (hasValue(cells)) {
    yield { cells, line };
  }
}

function hasValue(cells: readonly string[]): boolean {
  return cells.some((cell) => cell.trim() !== '');
}

/** @throws ImportError */
function requireBounds(line: number, length: number, cells: number): void {
  if (length > rowBytesMax) {
    throw notCsv(line, 'is larger than 1 MiB');
  }
  if (cells > cellsMax) {
    throw notCsv(line, `has more than ${cellsMax} cells`);
  }
}

const [quote, lineFeed, carriageReturn] = [0x22, 0x0a, 0x0d];

function notCsv(line: number, problem: string): ImportError {
  return new ImportError(
    'file',
    `The file is not valid CSV: the row that begins in line ${line} ${problem}.`,
  );
}
