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

/** Files changed cheeses anew: postings of their terms, and the counter of each term by status. */
export async function file(tx: Sql, changes: readonly Change[]): Promise<void> {
  const filed = changes.map(({ before, after }) => ({
    before: before === null ? null : { cheese: before, terms: termsOf(before) },
    after: after === null ? null : { cheese: after, terms: termsOf(after) },
  }));
  const idOf = await ensureTerms(
    tx,
    filed.flatMap(({ before, after }) => [...(before?.terms ?? []), ...(after?.terms ?? [])]),
  );
  const removed: Posting[] = [];
  const added: Posting[] = [];
  const deltas = new Map<string, [termId: number, status: Status, cheeses: number]>();

  function count(termId: number, status: Status, by: number): void {
    const key = `${termId} ${status}`;
    const delta = deltas.get(key) ?? [termId, status, 0];
    delta[2] += by;
    deltas.set(key, delta);
  }

  function enter(side: { cheese: Cheese; terms: Term[] } | null, postings: Posting[], by: 1 | -1): void {
    if (side === null) {
      return;
    }
    const { id: cheeseId, name, status } = side.cheese;
    count(catalogueTerm, status, by);
    for (const term of side.terms) {
      const termId = idOf(term);
      count(termId, status, by);
      // Prefixes have counters only: their postings are those of the words that begin with them.
      if (term[0] !== 'prefix') {
        postings.push({ termId, cheeseId, name, status });
      }
    }
  }

  for (const { before, after } of filed) {
    enter(before, removed, -1);
    enter(after, added, 1);
  }
  const queries = cheeseQueries(tx);
  if (removed.length > 0) {
    await queries.deletePostings(removed);
  }
  if (added.length > 0) {
    await queries.insertPostings(added);
  }
  await queries.updateCounts([...deltas.values()].filter(([, , by]) => by !== 0));
}
