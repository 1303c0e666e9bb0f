/** Statements that rebuild the search index. */
import { queriesOn } from '../database/database.ts';
import { rowsFromJson, sql } from '../database/sql.ts';
import type { NewCheeseRow, TermRow } from './queries.ts';

/** A cheese with its columns for filters and facets. */
export interface IndexedRow extends Pick<NewCheeseRow, 'id' | 'price' | 'age' | 'terms'> {
  readonly body: string;
}

export const rebuildQueries = queriesOn((tx) => ({
  /** Whether a migration changed the tables of the search index. */
  isStale: async () => {
    const row = await tx.get<{ stale: number }>(sql`select index_is_stale as stale from catalogue`);
    return row?.stale === 1;
  },

  setRebuilt: () => tx.run(sql`update catalogue set index_is_stale = 0`),

  deletePostingsAndCounters: async () => {
    await tx.run(sql`delete from cheese_term`);
    await tx.run(sql`delete from term_count`);
  },

  countCheeses: async () =>
    (await tx.get<{ total: number }>(sql`select count(*) as total from cheese`))?.total ?? 0,

  listIndexed: (after: number, limit: number) =>
    tx.all<IndexedRow>(sql`
      select id, price, age, terms, body from cheese where id > ${after} order by id limit ${limit}`),

  /** Updates the columns for filters and facets alone. */
  updateIndexed: async (cheeses: readonly Pick<NewCheeseRow, 'id' | 'price' | 'age' | 'terms'>[]) => {
    if (cheeses.length > 0) {
      await tx.run(sql`
        update cheese set price = cast(value->>1 as double precision), age = cast(value->>2 as bigint), terms = value->>3
        from ${rowsFromJson(cheeses.map(({ id, price, age, terms }) => [id, price, age, terms]))}
        where cheese.id = cast(value->>0 as bigint)`);
    }
  },

  /** Terms of the kinds that are found by their folded name. */
  listFoldedTerms: (after: number, limit: number) =>
    tx.all<TermRow & { folded: string | null }>(sql`
      select id, kind, name, folded from term
      where id > ${after} and kind in ('category', 'tag', 'origin') order by id limit ${limit}`),

  updateFolded: async (terms: readonly (readonly [id: number, folded: string | null])[]) => {
    if (terms.length > 0) {
      await tx.run(sql`
        update term set folded = value->>1 from ${rowsFromJson(terms)} where term.id = cast(value->>0 as bigint)`);
    }
  },
}));
