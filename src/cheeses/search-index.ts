/** Updates the search index (terms, postings and counters) in the transaction that changes cheeses. */
import type { Sql } from '../database/database.ts';
import { cheeseQueries, type NewCheeseRow, type Posting } from './queries.ts';
import { type Cheese, type Status, statuses } from './schemas.ts';
import { createTerms, hasPostings, originAndOrganicOf, searchText, type Term } from './search-terms.ts';

/** A cheese before and after a change; null where it does not exist. */
export interface Change {
  readonly before: Cheese | null;
  readonly after: Cheese | null;
}

/** Id of the term whose counters are those of the whole catalogue. */
const catalogueTerm = 0;

/** Ids of terms by their keys. They never change within a transaction, because terms are only added. */
export type TermIds = Map<string, number>;

/** The ids of those terms that exist. */
export async function findTermIds(tx: Sql, terms: readonly Term[]): Promise<TermIds> {
  const byKey = new Map(terms.map((term) => [termKeyOf(term), term]));
  const rows = await cheeseQueries(tx).findTerms([...byKey.values()]);
  return new Map(rows.map(({ id, kind, name }) => [termKeyOf([kind, name]), id]));
}

/**
 * Returns a function from a term to its id. Terms that do not exist are inserted.
 * @param known ids that are not looked up; others are added
 */
export async function findOrCreateTerms(
  tx: Sql,
  terms: readonly Term[],
  known: TermIds = new Map(),
): Promise<(term: Term) => number> {
  const unknown = () => [
    ...new Map(
      terms.flatMap((term) => (known.has(termKeyOf(term)) ? [] : [[termKeyOf(term), term] as const])),
    ).values(),
  ];

  async function find(): Promise<readonly Term[]> {
    const searched = unknown();
    if (searched.length === 0) {
      return [];
    }
    for (const [key, id] of await findTermIds(tx, searched)) {
      known.set(key, id);
    }
    return unknown();
  }

  const missing = await find();
  if (missing.length > 0) {
    await cheeseQueries(tx).insertTerms(missing);
    await find();
  }
  return (term) => known.get(termKeyOf(term)) ?? Number.NaN;
}

/** The key of a term in `TermIds`. */
export function termKeyOf([kind, name]: Term): string {
  return `${kind} ${name}`;
}

/** The price or age in columns of a cheese that has none. Smaller than every value. */
export const noValue = -1;

/** The row that stores a cheese. `idOf` returns the ids of its origin and of its organic term. */
export function toRow(
  cheese: Cheese,
  version: number,
  changedIn: number,
  idOf: (term: Term) => number,
): NewCheeseRow {
  const { category, tags, pricePerKg = noValue, ageMonths = noValue } = cheese;
  const named = category === undefined ? tags : [category, ...tags];
  const termIds = [...named.map(({ id }) => id), ...originAndOrganicOf(cheese).map(idOf)];
  return {
    changedIn,
    id: cheese.id,
    version,
    name: cheese.name,
    nameKey: cheese.name.normalize('NFC'),
    categoryId: cheese.category?.id ?? 0,
    status: cheese.status,
    search: searchText(cheese.name),
    price: pricePerKg,
    age: ageMonths,
    terms: termIds.join(','),
    body: JSON.stringify(cheese),
  };
}

/** Changes of one term: of its counters by status, and of its postings. */
interface Entry {
  readonly deltas: Record<Status, number>;
  readonly removed: Cheese[];
  readonly added: Cheese[];
}

const newEntry = (): Entry => ({ deltas: { available: 0, pending: 0, sold: 0 }, removed: [], added: [] });

/**
 * Updates postings and counters for changed cheeses. Pass many changes sorted by name, like the index: then each of its
 * pages is written once.
 * @param known ids of terms that are not looked up
 */
export async function reindex(
  tx: Sql,
  changes: readonly Change[],
  known: TermIds = new Map(),
): Promise<void> {
  const termsOf = createTerms();
  const entries = new Map<Term, Entry>();
  const catalogue = newEntry();

  function entryOf(term: Term): Entry {
    const entry = entries.get(term) ?? newEntry();
    entries.set(term, entry);
    return entry;
  }

  function addChange(cheese: Cheese | null, side: 'removed' | 'added'): void {
    if (cheese === null) {
      return;
    }
    const by = side === 'added' ? 1 : -1;
    catalogue.deltas[cheese.status] += by;
    for (const term of termsOf(cheese)) {
      const entry = entryOf(term);
      entry.deltas[cheese.status] += by;
      if (hasPostings(term)) {
        entry[side].push(cheese);
      }
    }
  }

  for (const { before, after } of changes) {
    addChange(before, 'removed');
    addChange(after, 'added');
  }
  const idOf = await findOrCreateTerms(tx, [...entries.keys()], known);
  const changed = [...entries]
    .map(([term, entry]) => ({ id: idOf(term), isWord: term[0] === 'word', ...entry }))
    .sort((a, b) => a.id - b.id);
  const postings = (side: 'removed' | 'added') =>
    changed.flatMap((entry) =>
      entry[side].map(
        ({ id, name, status, pricePerKg = noValue, ageMonths = noValue }): Posting =>
          entry.isWord
            ? [entry.id, id, name, status, null, null]
            : [entry.id, id, name, status, pricePerKg, ageMonths],
      ),
    );
  const queries = cheeseQueries(tx);
  const removed = postings('removed');
  if (removed.length > 0) {
    await queries.deletePostings(removed);
  }
  const added = postings('added');
  if (added.length > 0) {
    await queries.insertPostings(added);
  }
  await queries.updateCounts(
    [{ id: catalogueTerm, ...catalogue }, ...changed].flatMap(({ id, deltas }) =>
      statuses.flatMap((status) => (deltas[status] === 0 ? [] : [[id, status, deltas[status]] as const])),
    ),
  );
}
