/** Statements on cheeses, terms, postings and counters. listing-queries.ts contains those that read pages. */
import { queriesOn } from '../database/database.ts';
import { isDryRun, nextDryId } from '../database/dry-run.ts';
import {
  forShare,
  forUpdate,
  rowsFromJson,
  type Statement,
  sharingUnlocked,
  sql,
  valueList,
} from '../database/sql.ts';
import type { Status } from './schemas.ts';
import { foldedName, type Term, type TermKind } from './search-terms.ts';

export interface CheeseRow {
  readonly id: number;
  readonly version: number;
  /** The JSON of the cheese in responses. */
  readonly body: string;
}

export interface LockedCheeseRow extends CheeseRow {
  /** 1 where the stock of the cheese is tracked. */
  readonly tracked: 0 | 1;
}

export interface CheeseStatus {
  readonly id: number;
  readonly status: Status;
}

export interface CatalogueRow {
  readonly version: number;
  readonly last_cheese_id: number;
  readonly last_written_at: string;
}

export interface TermRow {
  readonly id: number;
  readonly kind: TermKind;
  readonly name: string;
}

/** A stored cheese: its JSON, and the columns that constraints and indexes need. */
export interface NewCheeseRow extends CheeseRow {
  readonly name: string;
  /** The name in NFC. It is unique, so that two encodings of the same text are one name. */
  readonly nameKey: string;
  /** 0 for no category: names are unique among the cheeses without one as well. */
  readonly categoryId: number;
  readonly status: Status;
  readonly search: string;
  /** The version of the catalogue of this change. */
  readonly changedIn: number;
  /** -1 without a price. */
  readonly price: number;
  /** -1 without an age. */
  readonly age: number;
  /** Ids of the terms that facets count, separated by commas. */
  readonly terms: string;
}

export type Posting = readonly [
  termId: number,
  cheeseId: number,
  name: string,
  status: Status,
  price: number | null,
  age: number | null,
];

const cheeseColumns =
  'id version name name_key category_id status search price age terms body changed_in'.split(' ');

const cheeseById = sql`select id, version, body from cheese where id`;

export const cheeseLookup = {
  one: (id: string): Statement => sql`${cheeseById} = ${Number(id)}`,
  many: (ids: readonly string[]): Statement =>
    sql`${cheeseById} in (select cast(value->>0 as bigint) from ${rowsFromJson(ids.map((id) => [id]))})`,
  keyOf: (row: CheeseRow): string => String(row.id),
};

/** The version of the catalogue, which every list needs. */
export const versionLookup = {
  one: (_key: string): Statement => sql`select version from catalogue`,
  many: (_keys: readonly string[]): Statement => sql`select version from catalogue`,
  keyOf: (_row: { version: number }): string => 'catalogue',
};

const statusesIn = (ids: readonly number[]) => sql`
  select id, status from cheese where id in (select cast(value->>0 as bigint) from ${rowsFromJson(ids.map((id) => [id]))})`;

const termRows = (terms: readonly Term[]) => rowsFromJson(terms.map(([kind, name]) => [kind, name]));

export const cheeseQueries = queriesOn((tx) => ({
  /** Until the end of the transaction, no other transaction writes to the catalogue. */
  lockCatalogue: () => tx.get(sql`select version from catalogue${forUpdate}`),

  /** Increases the version and assigns `newCheeses` ids. Returns the last of them, and a time that never decreases. */
  updateCatalogue: async (now: string, newCheeses: number) => {
    const row = await tx.get<CatalogueRow>(sql`
      update catalogue set
        version = version + 1,
        last_cheese_id = last_cheese_id + ${newCheeses},
        last_written_at = case when last_written_at > ${now} then last_written_at else ${now} end
      returning version, last_cheese_id, last_written_at`);
    return row as CatalogueRow;
  },

  findVersion: async () =>
    (await tx.get<{ version: number }>(sql`select version from catalogue`))?.version ?? 0,

  find: (id: number) => tx.get<CheeseRow>(sql`${cheeseById} = ${id}`),

  lockForUpdate: (id: number) => tx.get<CheeseRow>(sql`${cheeseById} = ${id}${forUpdate}`),

  /** In the order of ids, so that two transactions that lock several cheeses cannot deadlock. */
  lockForShare: (ids: readonly number[]) =>
    tx.all<LockedCheeseRow>(sql`
      select id, version, body, tracked from cheese where id in (${valueList(ids)}) order by id${forShare}`),

  /** Locks cheeses, except those that another transaction has locked. */
  lockUnlocked: (ids: readonly number[]) => tx.all<CheeseStatus>(sql`${statusesIn(ids)}${sharingUnlocked}`),

  listStatuses: (ids: readonly number[]) => tx.all<CheeseStatus>(statusesIn(ids)),

  updateTracked: (ids: readonly number[], tracked: 0 | 1) =>
    tx.run(sql`update cheese set tracked = ${tracked} where id in (${valueList(ids)})`),

  /** Cheeses by category and name, compared like the unique index does. */
  findByNames: (names: readonly (readonly [categoryName: string | null, nameKey: string])[]) =>
    tx.all<CheeseRow & { name_key: string; category_name: string | null }>(sql`
      select c.id, c.version, c.body, c.name_key, value->>0 as category_name
      from ${rowsFromJson(names)}
      left join term t on t.kind = 'category' and t.name = value->>0
      join cheese c on c.category_id = coalesce(t.id, case when value->>0 is null then 0 end) and c.name_key = value->>1`),

  insert: (cheeses: readonly NewCheeseRow[]) =>
    tx.sendInsert(
      'cheese',
      cheeseColumns,
      cheeses.map((c) => [
        c.id,
        c.version,
        c.name,
        c.nameKey,
        c.categoryId,
        c.status,
        c.search,
        c.price,
        c.age,
        c.terms,
        c.body,
        c.changedIn,
      ]),
    ),

  update: (c: NewCheeseRow) =>
    tx.send(sql`
      update cheese set version = ${c.version}, name = ${c.name}, name_key = ${c.nameKey},
        category_id = ${c.categoryId}, status = ${c.status}, search = ${c.search},
        price = ${c.price}, age = ${c.age}, terms = ${c.terms}, body = ${c.body}, changed_in = ${c.changedIn}
      where id = ${c.id}`),

  delete: (id: number) => tx.send(sql`delete from cheese where id = ${id}`),

  insertTombstone: (id: number, changedIn: number, deletedAt: string) =>
    tx.send(sql`
      insert into cheese_tombstone (cheese_id, changed_in, deleted_at) values (${id}, ${changedIn}, ${deletedAt})`),

  /** Terms by kind and name. Terms that were never used do not exist. */
  findTerms: (terms: readonly Term[]) =>
    tx.all<TermRow>(sql`
      select t.id, t.kind, t.name from ${termRows(terms)} join term t on t.kind = value->>0 and t.name = value->>1`),

  findTermsById: (ids: readonly number[]) =>
    tx.all<TermRow>(sql`select id, kind, name from term where id in (${valueList(ids)})`),

  insertTerms: (terms: readonly Term[]) => {
    const rows = terms.map((term) => [...term, foldedName(term)]);
    return isDryRun(tx)
      ? tx.insert(
          'term',
          ['id', 'kind', 'name', 'folded'],
          rows.map((row) => [nextDryId(tx), ...row]),
        )
      : tx.insert('term', ['kind', 'name', 'folded'], rows);
  },

  insertMissingTerms: (terms: readonly Term[]) =>
    tx.send(sql`
      insert into term (kind, name, folded)
      select value->>0, value->>1, value->>2 from ${rowsFromJson(terms.map((term) => [...term, foldedName(term)]))}
      where true on conflict (kind, name) do nothing`),

  insertPostings: (postings: readonly Posting[]) =>
    tx.sendInsert('cheese_term', ['term_id', 'cheese_id', 'name', 'status', 'price', 'age'], postings),

  deletePostings: (postings: readonly Posting[]) =>
    tx.send(sql`
      delete from cheese_term where (term_id, cheese_id) in (
        select cast(value->>0 as bigint), cast(value->>1 as bigint)
        from ${rowsFromJson(postings.map(([termId, cheeseId]) => [termId, cheeseId]))})`),

  /** Adds to the counters of terms by status. Numbers may be negative. */
  updateCounts: (deltas: readonly (readonly [termId: number, status: Status, cheeses: number])[]) =>
    tx.send(sql`
      insert into term_count (term_id, status, cheeses)
      select cast(value->>0 as bigint), value->>1, cast(value->>2 as bigint) from ${rowsFromJson(deltas)} where true
      on conflict (term_id, status) do update set cheeses = term_count.cheeses + excluded.cheeses`),

  /** Cheeses of the whole catalogue by status, without statuses that were never used. */
  countByStatus: () =>
    tx.all<{ status: Status; cheeses: number }>(
      sql`select status, cheeses from term_count where term_id = 0`,
    ),
}));
