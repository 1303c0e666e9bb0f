/**
 * Ids of the terms that a change of the catalogue will need. On PostgreSQL they are read before the catalogue is locked,
 * so that other changes wait for fewer round trips. SQLite has none: there, terms are looked up when they are needed.
 */
import type { Sql } from '../database/database.ts';
import { cheeseToDraft, type Draft, toCheese } from './drafts.ts';
import type { CheeseRow } from './queries.ts';
import { type Cheese, parseCheese } from './schemas.ts';
import { findTermIds, type TermIds } from './search-index.ts';
import { createTerms } from './search-terms.ts';

/** Of new cheeses; undefined on SQLite. Terms that do not exist yet are missing. */
export async function termIdsOf(tx: Sql, drafts: readonly Draft[]): Promise<TermIds | undefined> {
  if (tx.engine === 'sqlite') {
    return undefined;
  }
  const termsOf = createTerms();
  const supplied = { id: 0, createdAt: '', updatedAt: '' };
  return findTermIds(
    tx,
    drafts.flatMap((draft) => termsOf(toCheese(draft, () => 0, supplied))),
  );
}

/** Of a cheese before and after a change. If another change comes between, some are missing. */
export async function expectedTermIds(
  tx: Sql,
  find: () => Promise<CheeseRow | undefined> | undefined,
  change: (current: Cheese) => Draft,
): Promise<TermIds | undefined> {
  const row = tx.engine === 'sqlite' ? undefined : await find();
  if (row === undefined) {
    return undefined;
  }
  const current = parseCheese(row.body);
  const drafts = [cheeseToDraft(current)];
  try {
    drafts.push(change(current));
  } catch {
    // A change that is refused: it is refused again under the lock, after the checks that come first.
  }
  return termIdsOf(tx, drafts);
}
