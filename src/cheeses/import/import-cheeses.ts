/**
 * Imports a file of cheeses. It can be repeated: cheeses that exist are not changed, and neither is their stock, because an
 * old file must not overwrite a quantity that orders have changed.
 */
import type { Context } from '../../database/context.ts';
import type { StockService } from '../../stock/service.ts';
import type { CheeseService } from '../service.ts';
import { type ImportedCheese, type Mapping, requireColumns, toCheeseInput } from './column-mapping.ts';
import { fileFormatOf, type ImportRow, readImportRows } from './file-formats.ts';

const batchSize = 500;

export interface ImportReport {
  created: number;
  unchanged: number;
  /** Rows that were not imported, with their position and the reason. */
  readonly refused: { readonly place: string; readonly reason: string }[];
  /** Rows of which a value was left out. */
  readonly remarks: { readonly place: string; readonly remark: string }[];
}

interface Pending extends ImportedCheese {
  readonly place: string;
}

interface Services {
  readonly cheeses: CheeseService;
  readonly stock: StockService;
}

/**
 * Imports a file in batches, each in one transaction.
 * @param onProgress called after each batch
 * @throws Error when the file cannot be read or has no column that is mapped
 */
export async function importCheeses(
  { cheeses, stock }: Services,
  context: Context,
  file: string,
  mapping: Mapping,
  onProgress: (bytesRead: number, report: ImportReport) => void = () => {},
): Promise<ImportReport> {
  const report: ImportReport = { created: 0, unchanged: 0, refused: [], remarks: [] };
  const seen = new Set<number>();
  let batch: Pending[] = [];
  let isFirst = true;

  async function flush(): Promise<void> {
    const outcomes = await cheeses.import(
      context,
      batch.map(({ input }) => input),
      seen,
      async (tx, imported) => {
        const onHand = new Map<number, number>();
        for (const [index, outcome] of imported.entries()) {
          const stockKg = batch[index]?.stockKg;
          if (outcome.outcome === 'created' && stockKg !== undefined) {
            onHand.set(outcome.id, stockKg);
          }
        }
        await stock.trackNew(tx, context, onHand);
      },
    );
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.outcome === 'refused') {
        report.refused.push({ place: batch[index]?.place ?? '', reason: outcome.reason });
      } else {
        report[outcome.outcome] += 1;
        seen.add(outcome.id);
      }
    }
    batch = [];
  }

  for await (const read of readImportRows(file)) {
    if (isFirst && read.row !== null) {
      requireColumns(mapping, Object.keys(read.row), fileFormatOf(file) === 'csv');
      isFirst = false;
    }
    const imported = toImported(read, mapping, report);
    if (imported !== null) {
      batch.push({ ...imported, place: read.place });
    }
    if (batch.length === batchSize) {
      await flush();
      onProgress(read.bytesRead, report);
    }
  }
  await flush();
  return { ...report, refused: report.refused.sort((a, b) => lineOf(a.place) - lineOf(b.place)) };
}

function toImported(
  { row, reason = '', place }: ImportRow,
  mapping: Mapping,
  report: ImportReport,
): ImportedCheese | null {
  if (row === null) {
    report.refused.push({ place, reason });
    return null;
  }
  try {
    const imported = toCheeseInput(row, mapping);
    report.remarks.push(...imported.remarks.map((remark) => ({ place, remark })));
    return imported;
  } catch (error) {
    report.refused.push({
      place,
      reason: (error as Error).message.replace('The request failed validation. ', ''),
    });
    return null;
  }
}

function lineOf(place: string): number {
  return Number(place.replace(/\D/g, ''));
}
