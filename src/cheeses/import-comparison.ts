/** Compares the rows of an import with the stored cheeses. */
import type { Sql } from '../database/database.ts';
import type { Versioned } from '../versioned.ts';
import { type Draft, differingFields, inputToDraft, uniqueKey } from './drafts.ts';
import { type CheeseRow, cheeseQueries } from './queries.ts';
import type { CheeseInput } from './schemas.ts';

/** The result of one row of an import. */
export type ImportOutcome =
  | { readonly outcome: 'created' | 'unchanged'; readonly id: number }
  | { readonly outcome: 'refused'; readonly reason: string };

/**
 * Finds the rows that are stored already, the rows that are refused, and by their index the drafts to create.
 * @param seen ids of cheeses that earlier rows of the same import have matched
 */
export async function compareImport(tx: Sql, drafts: readonly Draft[], seen: ReadonlySet<number>) {
  const rows = await cheeseQueries(tx).findByNames(
    drafts.map((draft) => [draft.categoryName, draft.name.normalize('NFC')]),
  );
  const existing = new Map(rows.map((row) => [uniqueKey(row.category_name, row.name_key), row]));
  const outcomes: (ImportOutcome | undefined)[] = [];
  const newDrafts = new Map<number, Draft>();
  const newKeys = new Set<string>();
  const matched = new Set<number>(seen);
  for (const [index, draft] of drafts.entries()) {
    const key = uniqueKey(draft.categoryName, draft.name);
    const row = existing.get(key);
    if (newKeys.has(key) || (row !== undefined && matched.has(row.id))) {
      outcomes[index] = {
        outcome: 'refused',
        reason: 'a row before this one has the same name in the same category',
      };
    } else if (row === undefined) {
      newDrafts.set(index, draft);
      newKeys.add(key);
    } else {
      matched.add(row.id);
      outcomes[index] = compareDraft(row, draft);
    }
  }
  return { outcomes, newDrafts };
}

function compareDraft(row: CheeseRow, draft: Draft): ImportOutcome {
  const differing = differingFields(row, draft);
  return differing.length === 0
    ? { outcome: 'unchanged', id: row.id }
    : {
        outcome: 'refused',
        reason: `cheese ${row.id} has this name in this category and differs in ${differing.join(', ')}`,
      };
}

/** Stored cheeses that equal one of the inputs in everything but photoUrls. */
export async function findSameCheeses(tx: Sql, inputs: readonly CheeseInput[]): Promise<Versioned[]> {
  const drafts = new Map<string, Draft>();
  for (const input of inputs) {
    const draft = await inputToDraft(tx, input);
    drafts.set(uniqueKey(draft.categoryName, draft.name), draft);
  }
  const rows = await cheeseQueries(tx).findByNames(
    [...drafts.values()].map((draft) => [draft.categoryName, draft.name.normalize('NFC')]),
  );
  return rows.filter((row) => {
    const draft = drafts.get(uniqueKey(row.category_name, row.name_key));
    return draft !== undefined && differingFields(row, draft).every((field) => field === 'photoUrls');
  });
}
