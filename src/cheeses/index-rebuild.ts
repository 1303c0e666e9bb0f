/** Rebuilds the search index from the cheeses, after a migration that changed its tables or for a repair. */
import type { Database, Sql } from '../database/database.ts';
import { readInPages, tryParseJson } from '../database/findings.ts';
import { cheeseQueries } from './queries.ts';
import { type IndexedRow, rebuildQueries } from './rebuild-queries.ts';
import type { Cheese } from './schemas.ts';
import { findOrCreateTerms, reindex, toRow } from './search-index.ts';
import { foldedName, originAndOrganicOf } from './search-terms.ts';

/** Larger pages write each page of an index fewer times. */
const cheesesAtOnce = 20_000;

export type ShowProgress = (done: number, total: number) => void;

/** Rebuilds the search index in one transaction, which blocks all other changes of the catalogue. */
export async function rebuildSearchIndex(
  database: Database,
  now: string,
  onProgress: ShowProgress = () => {},
): Promise<void> {
  await database.exclusiveTransaction((tx) => rebuild(tx, now, onProgress));
}

/** The same if a migration changed its tables. Of several processes that start at once, one rebuilds it. */
export async function rebuildStaleIndex(
  database: Database,
  now: string,
  onProgress: ShowProgress = () => {},
): Promise<void> {
  if (await rebuildQueries(database).isStale()) {
    await database.exclusiveTransaction(async (tx) => {
      if (await rebuildQueries(tx).isStale()) {
        await rebuild(tx, now, onProgress);
      }
    });
  }
}

async function rebuild(tx: Sql, now: string, onProgress: ShowProgress): Promise<void> {
  const queries = rebuildQueries(tx);
  await cheeseQueries(tx).updateCatalogue(now, 0);
  await queries.deletePostingsAndCounters();
  await foldTerms(tx);
  const total = await queries.countCheeses();
  let done = 0;
  for await (const page of readInPages(queries.listIndexed, cheesesAtOnce)) {
    await rebuildPage(tx, page);
    done += page.length;
    onProgress(done, total);
  }
  await queries.setRebuilt();
}

async function rebuildPage(tx: Sql, page: readonly IndexedRow[]): Promise<void> {
  // A body that is not JSON has no terms. The check reports it.
  const cheeses = page.flatMap(({ body }) => tryParseJson<Cheese>(body) ?? []);
  const idOf = await findOrCreateTerms(tx, cheeses.flatMap(originAndOrganicOf));
  const stored = new Map(page.map((row) => [row.id, row]));
  const changed = cheeses
    .map((cheese) => toRow(cheese, 1, 0, idOf))
    .filter(({ id, price, age, terms }) => {
      const row = stored.get(id);
      return row !== undefined && (row.price !== price || row.age !== age || row.terms !== terms);
    });
  await rebuildQueries(tx).updateIndexed(changed);
  const byName = cheeses.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  await reindex(
    tx,
    byName.map((after) => ({ before: null, after })),
  );
}

/** Terms that were stored before they had a folded name. */
async function foldTerms(tx: Sql): Promise<void> {
  const queries = rebuildQueries(tx);
  for await (const page of readInPages(queries.listFoldedTerms)) {
    const changed = page.flatMap(({ id, kind, name, folded }) => {
      const wanted = foldedName([kind, name]);
      return wanted === folded ? [] : [[id, wanted] as const];
    });
    await queries.updateFolded(changed);
  }
}
