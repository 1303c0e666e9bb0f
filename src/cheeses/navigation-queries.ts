/** Statements on the names of categories, tags and origins, and on the values of cheeses that facets count. */
import { queriesOn } from '../database/database.ts';
import { joinAnd, rowsFromJson, type Statement, sql, valueList } from '../database/sql.ts';
import type { Status } from './schemas.ts';
import type { TermKind } from './search-terms.ts';
import { endOf } from './selection-queries.ts';

/** A place in the list of names: by the name without case and accents, then by id. */
export interface NamePosition {
  readonly folded: string;
  readonly id: number;
}

/** A term of a kind with names, and its number of cheeses. */
export interface NameRow extends NamePosition {
  readonly name: string;
  readonly cheeses: number;
}

export interface NameRequest {
  readonly kind: TermKind;
  /** The beginning of the folded name. */
  readonly prefix: string;
  /** The statuses of the counted cheeses; null for all. */
  readonly statuses: readonly Status[] | null;
  readonly after: NamePosition | null;
  readonly limit: number;
}

export const navigationQueries = queriesOn((tx) => ({
  /** Names in their order, also those without cheeses. */
  listNames: ({ kind, prefix, statuses, after, limit }: NameRequest) => {
    const conditions = [
      sql`t.kind = ${kind}`,
      // The same bound twice: without the first, SQLite does not use the index, which has no rows without a folded name.
      sql`t.folded >= ${after?.folded ?? prefix}`,
      ...(after === null ? [] : [sql`(t.folded, t.id) > (${after.folded}, ${after.id})`]),
      ...(prefix === '' ? [] : [sql`t.folded < ${endOf(prefix)}`]),
    ];
    const cheeses = sql`(select cast(coalesce(sum(n.cheeses), 0) as bigint) from term_count n
      where n.term_id = t.id${ofStatuses(statuses)})`;
    return tx.all<NameRow>(sql`
      select t.id, t.name, t.folded, ${cheeses} as cheeses from term t
      where ${joinAnd(conditions)} order by t.folded, t.id limit ${limit}`);
  },

  /** Cheeses of one term by status, without statuses that were never used. */
  countTerm: (id: number) =>
    tx.all<{ status: Status; cheeses: number }>(
      sql`select status, cheeses from term_count where term_id = ${id}`,
    ),

  countOrganic: (statuses: readonly Status[] | null) =>
    tx.all<{ name: string; cheeses: number }>(sql`
      select t.name, cast(sum(n.cheeses) as bigint) as cheeses from term t join term_count n on n.term_id = t.id
      where t.kind = 'organic'${ofStatuses(statuses)} group by t.name`),

  /** What facets count of these cheeses. */
  listFacetValues: (ids: readonly number[]) =>
    tx.all<{ status: Status; terms: string }>(sql`
      select status, terms from cheese where id in (${idList(ids)})`),

  listTerms: (ids: readonly number[]) =>
    tx.all<{ id: number; kind: TermKind; name: string; folded: string | null }>(sql`
      select id, kind, name, folded from term where id in (${idList(ids)})`),
}));

function ofStatuses(statuses: readonly Status[] | null): Statement {
  return statuses === null ? sql`` : sql` and n.status in (${valueList(statuses)})`;
}

function idList(ids: readonly number[]): Statement {
  return sql`select cast(value->>0 as bigint) from ${rowsFromJson(ids.map((id) => [id]))}`;
}
