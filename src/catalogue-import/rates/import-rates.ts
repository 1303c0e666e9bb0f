/**
 * Imports a CSV file of tax rates, in transactions of a few hundred rows. A row replaces the percentage and the name of the
 * rate with its country, state, ZIP prefix and category, so an import can be repeated. Other rates stay.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { refusedRow } from '../../cheeses/import-comparison.ts';
import type { Clock } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import { Effects, rollingBack } from '../../database/dry-run.ts';
import { requireNoErrors, validationError } from '../../errors.ts';
import { validate } from '../../schema/validate.ts';
import { rateKeyOf, toNewRow } from '../../tax/rate-rows.ts';
import { rateFields, ratesMax, TaxRateInput } from '../../tax/schemas.ts';
import type { TaxService } from '../../tax/service.ts';
import type { SourceRow } from '../column-mapping.ts';
import { readCsv } from '../csv-rows.ts';
import { ImportError } from '../import-error.ts';
import type { ImportRow } from '../import-row.ts';
import { cut } from '../row-changes.ts';

type Field = (typeof rateFields)[number];
const required: readonly Field[] = ['percent', 'name'];

type NewRate = ReturnType<typeof toNewRow>;

/** Rows of a transaction: it takes up to 10 ms on SQLite. */
const blockSize = 100;

export interface RateImportResult {
  readonly preview: boolean;
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  readonly refused: { readonly place: string; readonly line: number; readonly reason: string }[];
  refusedCount: number;
}

export interface RateImportOptions {
  /** Nothing is written. */
  readonly preview?: boolean;
  /** How many refused rows the report lists. */
  readonly listedMax?: number;
  /** Called after each transaction. */
  readonly onProgress?: (bytesRead: number, report: RateImportResult) => void;
}

interface Services {
  readonly taxes: Pick<TaxService, 'replaceAll'>;
  readonly clock: Clock;
}

interface ParsedRow {
  readonly read: ImportRow;
  readonly rate: NewRate;
}

/** Imports a file. @throws ImportError, before anything is written; or an error of the system when the file cannot be read */
export async function importRates(
  { taxes, clock }: Services,
  context: Context,
  file: string,
  { preview = false, listedMax = Number.POSITIVE_INFINITY, onProgress = () => {} }: RateImportOptions = {},
): Promise<RateImportResult> {
  await checkFile(file);
  const report: RateImportResult = {
    preview,
    rows: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    refused: [],
    refusedCount: 0,
  };
  const lines = new Map<string, string>();
  let block: ParsedRow[] = [];

  function refuse({ place, line }: ImportRow, reason: string): void {
    report.refusedCount += 1;
    if (report.refused.length < listedMax) {
      report.refused.push({ place, line, reason });
    }
  }

  async function flush(): Promise<void> {
    const changing = preview ? rollingBackContext(context, clock) : context;
    const outcomes = await taxes.replaceAll(
      changing,
      block.map(({ rate }) => rate),
      preview ? report.created : 0,
    );
    for (const [index, { read }] of block.entries()) {
      const outcome = outcomes[index] ?? 'unchanged';
      if (typeof outcome === 'string') {
        report[outcome] += 1;
      } else {
        refuse(read, outcome.reason);
      }
    }
    block = [];
    await nextTurn();
  }

  for await (const read of readCsv(file)) {
    report.rows += 1;
    const parsed = parseRow(read, lines);
    if ('reason' in parsed) {
      refuse(read, parsed.reason);
      continue;
    }
    block.push({ read, rate: parsed });
    if (block.length === blockSize) {
      await flush();
      onProgress(read.bytesRead, report);
    }
  }
  if (block.length > 0) {
    await flush();
  }
  return report;
}

/** Reads all of a file, so that one that is broken at its end is refused before its beginning is imported. @throws ImportError */
async function checkFile(file: string): Promise<void> {
  let rows = 0;
  for await (const { columns = [] } of readCsv(file)) {
    if (rows === 0) {
      columnsOf(columns);
    }
    rows += 1;
    if (rows > ratesMax) {
      throw new ImportError('file', `The file has more than ${ratesMax} rows.`);
    }
  }
  if (rows === 0) {
    throw new ImportError(
      'file',
      'The file has no rows with a value. Check that it is the right file, and that it was saved completely.',
    );
  }
}

/** The column of each field, in any case. @throws ImportError */
function columnsOf(columns: readonly string[]): ReadonlyMap<Field, string> {
  const found = new Map<Field, string>();
  for (const field of rateFields) {
    const [column, another] = columns.filter((name) => name.toLowerCase() === field.toLowerCase());
    if (another !== undefined) {
      throw new ImportError('file', `The file has more than one column "${field}". Delete one.`);
    }
    if (column !== undefined) {
      found.set(field, column);
    }
  }
  const missing = required.filter((field) => !found.has(field));
  if (missing.length > 0) {
    const listed = columns.slice(0, 20).map(cut).join(', ');
    throw new ImportError(
      'file',
      `The file has no column ${missing.map((name) => `"${name}"`).join(', ')}. Its first row has: ${listed}. It may have: ${rateFields.join(', ')}.`,
    );
  }
  return found;
}

/** @param lines gets the place of each key */
function parseRow(read: ImportRow, lines: Map<string, string>): NewRate | { readonly reason: string } {
  if (read.row === null) {
    return { reason: read.reason ?? '' };
  }
  try {
    const rate = toNewRow(toInput(read.row, columnsOf(read.columns ?? [])));
    const key = rateKeyOf(rate);
    const before = lines.get(key);
    if (before !== undefined) {
      return { reason: `has the country, state, zipPrefix and category of ${before}` };
    }
    lines.set(key, read.place);
    return rate;
  } catch (error) {
    return refusedRow(error);
  }
}

/** @throws AppError validation */
function toInput(row: SourceRow, columns: ReadonlyMap<Field, string>): TaxRateInput {
  const given: Record<string, unknown> = {};
  for (const [field, column] of columns) {
    const cell = String(row[column] ?? '').trim();
    if (cell !== '') {
      given[field] = field === 'percent' ? parsePercent(cell) : cell;
    }
  }
  const { value, errors } = validate(TaxRateInput, given);
  requireNoErrors(errors);
  return value as TaxRateInput;
}

/** A comma or a point separates decimals. No rate is so high that it could have thousands. @throws AppError validation */
function parsePercent(text: string): number {
  const [matched, whole, decimals = '0'] = /^(\d{1,3})(?:[.,](\d{1,6}))?\s*%?$/.exec(text) ?? [];
  if (matched === undefined) {
    const message = `"${cut(text)}" is not a percentage. Write digits with at most three decimals, such as 8.125`;
    throw validationError([{ field: 'percent', message }]);
  }
  return Number(`${whole}.${decimals}`);
}

/** A context whose transaction is rolled back: each can be used once. */
function rollingBackContext({ transaction, origin }: Context, clock: Clock): Context {
  const effects = new Effects();
  return { transaction: rollingBack(transaction, effects, clock), origin: { ...origin, effects } };
}
