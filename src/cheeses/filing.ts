/** Keeps the terms, postings and counters of the catalogue in step with its cheeses, in the transaction that writes. */
import type { Sql } from '../database/database.ts';
import { cheeseQueries, type Posting } from './queries.ts';
import type { Cheese, Status } from './schemas.ts';
import { type Term, termsOf } from './search.ts';

/** A cheese before and after: null where it was not there, or is no more. */
export interface Change {
  readonly before: Cheese | null;
  readonly after: Cheese | null;
}

/** The id that stands for the whole catalogue among the terms. */
const catalogueTerm = 0;

/** Ids of terms by kind and name, made where nobody has used them before. */
export async function ensureTerms(tx: Sql, terms: readonly Term[]): Promise<(term: Term) => number> {
  const wanted = new Map(terms.map((term) => [keyOf(term), term]));
  const ids = new Map<string, number>();

  async function find(): Promise<void> {
    for (const { id, kind, name } of await cheeseQueries(tx).findTerms([...wanted.values()])) {
      ids.set(`${kind} ${name}`, id);
    }
  }

  await find();
  const missing = [...wanted].filter(([key]) => !ids.has(key)).map(([, term]) => term);
  if (missing.length > 0) {
    await cheeseQueries(tx).insertTerms(missing);
    await find();
  }
  return (term) => ids.get(keyOf(term)) ?? Number.NaN;
}

function keyOf([kind, name]: Term): string {
  return `${kind} ${name}`;
}

/** A term as one call of `file` meets it. */
interface Entry {
  readonly term: Term;
  id: number;
  readonly deltas: Map<Status, number>;
}

/** Files changed cheeses anew: postings of their terms, and the counter of each term by status. */
export async function file(tx: Sql, changes: readonly Change[]): Promise<void> {
  const entries = new Map<string, Entry>();
  const catalogue: Entry = { term: ['prefix', ''], id: catalogueTerm, deltas: new Map() };
  const removed: { entry: Entry; cheese: Cheese }[] = [];
  const added: { entry: Entry; cheese: Cheese }[] = [];

  function entryOf(term: Term): Entry {
    const key = keyOf(term);
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = { term, id: Number.NaN, deltas: new Map() };
      entries.set(key, entry);
    }
    return entry;
  }

  function enter(cheese: Cheese | null, postings: typeof added, by: 1 | -1): void {
    if (cheese === null) {
      return;
    }
    count(catalogue, cheese.status, by);
    for (const term of termsOf(cheese)) {
      const entry = entryOf(term);
      count(entry, cheese.status, by);
      // Prefixes have counters only: their postings are those of the words that begin with them.
      if (term[0] !== 'prefix') {
        postings.push({ entry, cheese });
      }
    }
  }

  for (const { before, after } of changes) {
    enter(before, removed, -1);
    enter(after, added, 1);
  }
  const met = [...entries.values()];
  const idOf = await ensureTerms(
    tx,
    met.map(({ term }) => term),
  );
  for (const entry of met) {
    entry.id = idOf(entry.term);
  }
  const queries = cheeseQueries(tx);
  if (removed.length > 0) {
    await queries.deletePostings(removed.map(toPosting));
  }
  if (added.length > 0) {
    // In the order of the index: neighbours are written together.
    await queries.insertPostings(
      added.map(toPosting).sort((a, b) => a.termId - b.termId || a.cheeseId - b.cheeseId),
    );
  }
  await queries.updateCounts(
    [catalogue, ...met].flatMap(({ id, deltas }) =>
      [...deltas].filter(([, by]) => by !== 0).map(([status, by]) => [id, status, by] as const),
    ),
  );
}

function count({ deltas }: Entry, status: Status, by: number): void {
  deltas.set(status, (deltas.get(status) ?? 0) + by);
}

function toPosting({ entry, cheese }: { entry: Entry; cheese: Cheese }): Posting {
  return { termId: entry.id, cheeseId: cheese.id, name: cheese.name, status: cheese.status };
}
