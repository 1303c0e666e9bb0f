/** Statements on cheeses and terms. search-index/queries.ts contains those that lists are read from. */
import { queriesOn } from '../database/database.ts';
import { isDryRun, nextDryId } from '../database/dry-run.ts';
import { sendRows } from '../database/rows.ts';
import {
  forShare,
  forUpdate,
  rowsFromJson,
  type Statement,
  selectIntegers,
  selectTexts,
  sharingUnlocked,
  sql,
  valueList,
} from '../database/sql.ts';
import { nameKey } from '../schema/folding.ts';
import type { Status } from './fields.ts';

export interface CheeseRow {
  readonly id: number;
  readonly version: number;
  /** The JSON of the cheese in responses. */
  readonly body: string;
}

export interface LockedCheeseRow extends CheeseRow {
  /** 1 if the stock of the cheese is tracked. */
  readonly tracked: 0 | 1;
}

export interface CheeseStatus {
  readonly id: number;
  readonly status: Status;
}

export interface CatalogueRow {
  readonly version: number;
  /** Number of cheeses. */
  readonly cheeses: number;
  readonly last_cheese_id: number;
  readonly last_written_at: string;
}

/** A place in the order of the last changes: the version of the catalogue, and the id of the cheese. */
export interface ChangePlace {
  readonly version: number;
  readonly id: number;
}

export type TermKind = 'category' | 'tag';
export type Term = readonly [kind: TermKind, name: string];

export interface TermRow {
  readonly id: number;
  readonly kind: TermKind;
  readonly name: string;
}

/** A stored cheese: its JSON, and the columns that constraints and other areas need. */
export interface NewCheeseRow extends CheeseRow {
  /** The form in which the name is unique. */
  readonly nameKey: string;
  /** 0 for no category: names are unique among the cheeses without one as well. */
  readonly categoryId: number;
  readonly status: Status;
  /** The version of the catalogue of this change. */
  readonly changedIn: number;
}

const cheeseById = sql`select id, version, body from cheese where id`;

export const cheeseLookup = {
  one: (id: string): Statement => sql`${cheeseById} = ${Number(id)}`,
  many: (ids: readonly string[]): Statement => sql`${cheeseById} in (${selectIntegers(ids)})`,
  keyOf: (row: CheeseRow): string => String(row.id),
};

const statusesIn = (ids: readonly number[]) => sql`
  select id, status from cheese where id in (${selectIntegers(ids)})`;

const termRows = (terms: readonly Term[]) =>
  rowsFromJson(terms.map(([kind, name]) => ({ kind, key: nameKey(name) })));

export const cheeseQueries = queriesOn((tx) => ({
  /** Locks the catalogue until the end of the transaction: no other transaction writes to it. */
  lockCatalogue: () => tx.get<Pick<CatalogueRow, 'cheeses'>>(sql`select cheeses from catalogue${forUpdate}`),

  /**
   * Increases the version and assigns ids to new cheeses. Returns the last of them, and a time that never decreases.
   */
  updateCatalogue: async (now: string, created: number, deleted = 0) => {
    const row = await tx.get<CatalogueRow>(sql`
      update catalogue set
        version = version + 1,
        cheeses = cheeses + ${created - deleted},
        last_cheese_id = last_cheese_id + ${created},
        last_written_at = case when last_written_at > ${now} then last_written_at else ${now} end
      returning version, cheeses, last_cheese_id, last_written_at`);
    return row as CatalogueRow;
  },

  findVersion: async () =>
    (await tx.get<{ version: number }>(sql`select version from catalogue`))?.version ?? 0,

  countCheeses: async () =>
    (await tx.get<{ cheeses: number }>(sql`select cheeses from catalogue`))?.cheeses ?? 0,

  listAfter: (id: number, limit: number) =>
    tx.all<CheeseRow>(sql`select id, version, body from cheese where id > ${id} order by id limit ${limit}`),

  /** The categories of cheeses; null for a cheese without one. */
  listCategories: (ids: readonly number[]) =>
    tx.all<{ id: number; category: string | null }>(sql`
      select c.id, t.name as category from cheese c left join term t on t.id = c.category_id
      where c.id in (${selectIntegers(ids)})`),

  find: (id: number) => tx.get<CheeseRow>(sql`${cheeseById} = ${id}`),

  lockForUpdate: (id: number) => tx.get<CheeseRow>(sql`${cheeseById} = ${id}${forUpdate}`),

  lockAllForUpdate: (ids: readonly number[]) =>
    tx.all<CheeseRow>(sql`
      select id, version, body from cheese where id in (${selectIntegers(ids)}) order by id${forUpdate}`),

  /** Bytes of the JSON of cheeses. */
  sizeOf: async (ids: readonly number[]) =>
    Number(
      (
        await tx.get<{ bytes: number }>(sql`
        select coalesce(sum(octet_length(body)), 0) as bytes from cheese where id in (${selectIntegers(ids)})`)
      )?.bytes,
    ),

  /** Locks in the order of ids, so that two transactions that lock several cheeses cannot deadlock. */
  lockForShare: (ids: readonly number[]) =>
    tx.all<LockedCheeseRow>(sql`
      select id, version, body, tracked from cheese where id in (${valueList(ids)}) order by id${forShare}`),

  /** Reads the columns of `lockForShare` without a lock. */
  readForOrder: (ids: readonly number[]) =>
    tx.all<LockedCheeseRow>(
      sql`select id, version, body, tracked from cheese where id in (${valueList(ids)})`,
    ),

  /** Locks cheeses, except those that another transaction has locked. */
  lockUnlocked: (ids: readonly number[]) => tx.all<CheeseStatus>(sql`${statusesIn(ids)}${sharingUnlocked}`),

  listStatuses: (ids: readonly number[]) => tx.all<CheeseStatus>(statusesIn(ids)),

  updateTracked: (ids: readonly number[], tracked: 0 | 1) =>
    tx.run(sql`update cheese set tracked = ${tracked} where id in (${valueList(ids)})`),

  /** Cheeses by the keys of category and name. */
  findByNames: (names: readonly { readonly category: string | null; readonly key: string }[]) =>
    tx.all<CheeseRow & { name_key: string; category_name: string | null }>(sql`
      select c.id, c.version, c.body, c.name_key, value->>'category' as category_name
      from ${rowsFromJson(names)}
      left join term t on t.kind = 'category' and t.name_key = value->>'category'
      join cheese c on c.category_id = coalesce(t.id, case when value->>'category' is null then 0 end)
        and c.name_key = value->>'key'`),

  insert: (cheeses: readonly NewCheeseRow[]) =>
    sendRows(
      tx,
      'cheese',
      cheeses.map((c) => ({
        id: c.id,
        version: c.version,
        name_key: c.nameKey,
        category_id: c.categoryId,
        status: c.status,
        body: c.body,
        changed_in: c.changedIn,
      })),
    ),

  update: (c: NewCheeseRow) =>
    tx.send(sql`
      update cheese set version = ${c.version}, name_key = ${c.nameKey}, category_id = ${c.categoryId},
        status = ${c.status}, body = ${c.body}, changed_in = ${c.changedIn}
      where id = ${c.id}`),

  delete: (id: number) => tx.send(sql`delete from cheese where id = ${id}`),

  insertTombstone: (id: number, changedIn: number, deletedAt: string) =>
    tx.send(sql`
      insert into cheese_tombstone (cheese_id, changed_in, deleted_at) values (${id}, ${changedIn}, ${deletedAt})`),

  /** Terms by kind and name. Terms that were never used do not exist. */
  findTerms: (terms: readonly Term[]) =>
    tx.all<TermRow>(sql`
      select t.id, t.kind, t.name from ${termRows(terms)} join term t on t.kind = value->>'kind' and t.name_key = value->>'key'`),

  findCategoryIds: (names: readonly string[]) =>
    tx.all<{ id: number }>(
      sql`select id from term where kind = 'category' and name_key in (${selectTexts(names.map(nameKey))})`,
    ),

  /** The categories of cheeses. */
  listCategoryNames: () =>
    tx.all<{ name: string }>(sql`
      select name from term t
      where kind = 'category' and exists (select 1 from cheese where category_id = t.id) order by name`),

  findTermsById: (ids: readonly number[]) =>
    tx.all<TermRow>(sql`select id, kind, name from term where id in (${valueList(ids)})`),

  /** Returns the terms with the ids that they were given. */
  insertTerms: (terms: readonly Term[]) => {
    const [idColumn, id] = isDryRun(tx) ? [sql`id, `, sql`cast(value->>'id' as bigint), `] : [sql``, sql``];
    const rows = terms.map(([kind, name]) => ({
      kind,
      name,
      key: nameKey(name),
      ...(isDryRun(tx) ? { id: nextDryId(tx) } : {}),
    }));
    return tx.all<TermRow>(sql`
      insert into term (${idColumn}kind, name, name_key)
      select ${id}value->>'kind', value->>'name', value->>'key' from ${rowsFromJson(rows)}
      returning id, kind, name`);
  },
}));
