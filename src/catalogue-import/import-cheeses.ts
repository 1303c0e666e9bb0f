/**
 * Imports a file of cheeses, in transactions of a few hundred rows. Without mode `update` it can be repeated: cheeses that
 * exist are not changed. Their stock is changed only with `setStock`, because an old file must not overwrite a quantity
 * that orders have changed.
 */

import { uniqueKey } from '../cheeses/drafts.ts';
import { type ImportOutcome, refusedRow } from '../cheeses/import-comparison.ts';
import { type Cheese, parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import type { Clock } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { Effects, rollingBack } from '../database/dry-run.ts';
import type { StockService } from '../stock/service.ts';
import {
  type ImportedCheese,
  identityMapping,
  type Mapping,
  nameOfRow,
  toCheeseInput,
} from './column-mapping.ts';
import type { Format } from './file-formats.ts';
import type { ImportRow } from './import-row.ts';
import { readMappedRows } from './mapped-rows.ts';
import { type RowChanges, toRowChanges } from './row-changes.ts';

/** Rows of a transaction, and the JSON of their cheeses. Much of it is handled in one turn of the event loop. */
const batchRowsMax = 250;
const batchJsonMax = 65_536;
/** How many rows a report shows as they would be stored. */
export const sampleSize = 20;

/** What happens to cheeses that exist: in `create` they stay as they are. */
export const importModes = ['create', 'update'] as const;
export type ImportModeName = (typeof importModes)[number];

export interface ImportOptions {
  /** Default: columns are named like fields. */
  readonly mapping?: Mapping | undefined;
  /** Default: by the name of the file. */
  readonly format?: Format | undefined;
  readonly mode?: ImportModeName;
  /** Whether to set the stock of cheeses that exist, in mode `update`. */
  readonly setStock?: boolean;
  /** Nothing is written. */
  readonly preview?: boolean;
  /** How many refused rows, changed cheeses and remarks the report lists. */
  readonly listedMax?: number;
  /** Ends the import between two rows. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. */
  readonly onProgress?: (bytesRead: number, report: ImportResult) => void;
}

/** The place of a row in its file. */
interface Place {
  readonly place: string;
  readonly line: number;
}

export interface ImportResult {
  readonly preview: boolean;
  readonly mode: ImportModeName;
  /** Columns of the file, or members of its first object. */
  columns: readonly string[];
  /** The columns of each field that is read. */
  mapping: Readonly<Record<string, readonly string[]>>;
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  /** name: as far as the row has one. */
  readonly refused: (Place & { readonly name: string | null; readonly reason: string })[];
  refusedCount: number;
  /** The old and new values of updated cheeses. */
  readonly changed: (Place & {
    readonly cheeseId: number;
    readonly name: string;
    readonly changes: RowChanges;
  })[];
  /** Values that were left out. */
  readonly remarks: (Place & { readonly remark: string })[];
  /** The first rows, and their cheeses as the import leaves them. */
  readonly sample: (Place & { readonly outcome: ImportOutcome['outcome']; readonly cheese?: Cheese })[];
}

interface Services {
  readonly cheeses: CheeseService;
  readonly stock: StockService;
  readonly clock: Clock;
}

/** An outcome, with the kilograms on hand if the row changes them. */
type RowOutcome = ImportOutcome & { readonly stockKg?: RowChanges[string] };

/** A row that was parsed. */
interface ParsedRow extends Place {
  readonly name: string | null;
  readonly imported: ImportedCheese | null;
  readonly outcome: ImportOutcome | null;
}

/** Imports a file. @throws ImportError, or an error of the system when the file cannot be read */
export async function importCheeses(
  services: Services,
  context: Context,
  file: string,
  options: ImportOptions = {},
): Promise<ImportResult> {
  let mapping = identityMapping;
  const { listedMax = Number.POSITIVE_INFINITY, mode = 'create', preview = false } = options;
  const report: ImportResult = {
    preview,
    mode,
    columns: [],
    mapping: {},
    rows: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    refused: [],
    refusedCount: 0,
    changed: [],
    remarks: [],
    sample: [],
  };
  const seen = new Set<number | string>();
  let batch: ParsedRow[] = [];
  let batchJson = 0;

  async function flush(): Promise<void> {
    const previewed = preview ? report.created : 0;
    const batchOptions = { ...options, mode, preview, previewed };
    const outcomes = await importBatch(services, context, batch, seen, batchOptions);
    for (const [index, row] of batch.entries()) {
      const outcome = outcomes[index] as RowOutcome;
      addRow(report, row, outcome, listedMax);
      if (outcome.outcome !== 'refused') {
        seen.add(preview ? keyOf(parseCheese(outcome.body)) : outcome.id);
      }
    }
    batch = [];
    batchJson = 0;
  }

  const noteColumns = (columns: readonly string[], resolved: Mapping) => {
    mapping = resolved;
    report.columns = columns.filter((column) => column !== '');
    report.mapping = shownMapping(mapping, columns);
  };
  for await (const read of readMappedRows(file, options, noteColumns)) {
    const row = parseRow(read, mapping);
    batch.push(row);
    batchJson += JSON.stringify(row.imported).length;
    if (batch.length === batchRowsMax || batchJson >= batchJsonMax) {
      await flush();
      options.onProgress?.(read.bytesRead, report);
    }
  }
  await flush();
  return report;
}

/** The mapping, reduced to columns that the file has. */
function shownMapping(mapping: Mapping, columns: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(
    [...mapping].filter(
      ([, names]) => mapping !== identityMapping || names.some((name) => columns.includes(name)),
    ),
  );
}

function parseRow({ row, reason = '', place, line }: ImportRow, mapping: Mapping): ParsedRow {
  if (row === null) {
    return { place, line, name: null, imported: null, outcome: { outcome: 'refused', reason } };
  }
  const name = nameOfRow(row, mapping);
  try {
    return { place, line, name, imported: toCheeseInput(row, mapping), outcome: null };
  } catch (error) {
    return { place, line, name, imported: null, outcome: refusedRow(error) };
  }
}

/** Imports some rows in one transaction, and then the stock of those that exist, each in one. */
async function importBatch(
  { cheeses, stock, clock }: Services,
  context: Context,
  batch: readonly ParsedRow[],
  seen: ReadonlySet<number | string>,
  { mode, preview, setStock, previewed }: ImportOptions & { readonly previewed: number },
): Promise<(RowOutcome | null)[]> {
  const outcomes: (RowOutcome | null)[] = batch.map(({ outcome }) => outcome);
  const rows = [...batch.entries()].flatMap(([index, { imported }]) =>
    imported === null ? [] : [{ index, imported }],
  );
  const changing = preview ? rollingBackContext(context, clock) : context;

  async function trackCreated(tx: Sql, imported: readonly ImportOutcome[]): Promise<void> {
    const tracked: { cheese: Cheese; onHand: number }[] = [];
    for (const [index, outcome] of imported.entries()) {
      const stockKg = rows[index]?.imported.stockKg;
      if (outcome.outcome === 'created' && stockKg !== undefined) {
        tracked.push({ cheese: parseCheese(outcome.body), onHand: stockKg });
      }
    }
    await stock.trackNew(tx, changing, tracked);
  }

  const imported = await cheeses.import(
    changing,
    rows.map((row) => row.imported.input),
    seen,
    {
      givenFields: mode === 'update' ? rows.map((row) => row.imported.givenFields) : undefined,
      previewed,
      afterImport: trackCreated,
    },
  );
  for (const [index, outcome] of imported.entries()) {
    outcomes[rows[index]?.index ?? 0] = outcome;
  }
  if (setStock) {
    const counted = rows.flatMap(({ index, imported: { stockKg } }) => {
      const outcome = outcomes[index];
      return stockKg !== undefined && (outcome?.outcome === 'updated' || outcome?.outcome === 'unchanged')
        ? [{ index, outcome, stockKg }]
        : [];
    });
    const onHand = await stock.onHandOf(counted.map(({ outcome }) => outcome.id));
    for (const { index, outcome, stockKg } of counted) {
      const from = onHand.get(outcome.id) ?? null;
      if (from !== stockKg) {
        const before = outcome.outcome === 'updated' ? outcome.before : outcome.body;
        outcomes[index] = { ...outcome, outcome: 'updated', before, stockKg: { from, to: stockKg } };
        if (!preview) {
          await stock.replace(context, outcome.id, { onHand: stockKg }).catch((error) => {
            outcomes[index] = refusedRow(error);
          });
        }
      }
    }
  }
  return outcomes;
}

/** A context whose transaction is rolled back: each can be used once. */
function rollingBackContext({ transaction, origin }: Context, clock: Clock): Context {
  const effects = new Effects();
  return {
    transaction: rollingBack(transaction, effects, clock),
    origin: { ...origin, effects },
  };
}

function keyOf({ category, name }: Cheese): string {
  return uniqueKey(category?.name ?? null, name);
}

function addRow(
  report: ImportResult,
  { place, line, name, imported }: ParsedRow,
  outcome: RowOutcome,
  listedMax: number,
): void {
  report.rows += 1;
  for (const remark of imported?.remarks ?? []) {
    if (report.remarks.length < listedMax) {
      report.remarks.push({ place, line, remark });
    }
  }
  if (report.sample.length < sampleSize) {
    const shown = outcome.outcome === 'refused' ? {} : { cheese: parseCheese(outcome.body) };
    report.sample.push({ place, line, outcome: outcome.outcome, ...shown });
  }
  if (outcome.outcome === 'updated' && report.changed.length < listedMax) {
    const { id: cheeseId, stockKg } = outcome;
    const changes = { ...toRowChanges(outcome), ...(stockKg === undefined ? {} : { stockKg }) };
    report.changed.push({ place, line, cheeseId, name: name ?? '', changes });
  }
  if (outcome.outcome !== 'refused') {
    report[outcome.outcome] += 1;
    return;
  }
  report.refusedCount += 1;
  if (report.refused.length < listedMax) {
    report.refused.push({ place, line, name, reason: outcome.reason });
  }
}
