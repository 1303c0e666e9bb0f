/** Statements that find customers for operators. */
import type { Role } from '../../auth/oauth/customer-directory.ts';
import { queriesOn } from '../../database/database.ts';
import { joinAnd, rawSql, type Statement, selectIntegers, sql } from '../../database/sql.ts';
import { type CustomerRow, customerColumns } from '../queries.ts';
import type { Tier } from '../tiers.ts';

/** A customer as operators see and find it. */
export interface SearchedRow extends CustomerRow {
  readonly role: Role;
}

/** Columns with an index, by which customers are found by the beginning of a text. */
export type SearchColumn = 'username_key' | 'email_key' | 'last_first' | 'first_last';

/** The beginning of the text of a column. */
export interface TextBeginning {
  readonly column: SearchColumn;
  readonly prefix: string;
}

/** What customers must have to be found. */
export interface SearchConditions {
  readonly role?: Role | undefined;
  readonly tier?: Tier | undefined;
  /** Beginnings that they must not have, because they were found by them before. */
  readonly without: readonly TextBeginning[];
}

/** A customer that a search has examined. */
export interface ExaminedRow {
  readonly id: number;
  /** The text of the column that was read along. */
  readonly key: string;
  readonly is_match: 0 | 1;
  /** Its number among those that were examined, from 1. */
  readonly place: number;
}

/** The position of a customer in the order of a column. */
export type KeyPosition = readonly [key: string, id: number];

const searchedColumns = sql`${customerColumns}, role`;

/** The largest code point: every text with the beginning comes before it. */
const endOf = (prefix: string) => `${prefix}\u{10ffff}`;

function isMatch({ role, tier, without }: SearchConditions): Statement {
  const conditions = [
    ...(role === undefined ? [] : [sql`role = ${role}`]),
    ...(tier === undefined ? [] : [sql`tier = ${tier}`]),
    ...without.map(({ column, prefix }) => {
      const name = rawSql(column);
      return sql`not (${name} >= ${prefix} and ${name} < ${endOf(prefix)})`;
    }),
  ];
  return sql`case when ${joinAnd(conditions)} then 1 else 0 end`;
}

/** The matches among the examined customers, and the last one if there are as many as the limit. */
function matchesOf(examined: Statement, order: Statement, limit: number): Statement {
  return sql`
    select id, key, is_match, place
    from (select id, key, is_match, row_number() over (order by ${order}) as place from (${examined}) as one) as numbered
    where is_match = 1 or place = ${limit} order by place`;
}

export const searchQueries = queriesOn((tx) => ({
  findSearched: (id: number) =>
    tx.get<SearchedRow>(sql`select ${searchedColumns} from customer where id = ${id}`),

  /** Lists the customers in any order. */
  listSearched: (ids: readonly number[]) =>
    tx.all<SearchedRow>(sql`
      select ${searchedColumns} from customer
      where id in (${selectIntegers(ids)})`),

  /**
   * Customers whose column begins with a text, after a position, in the order of the column. Only matches and the last
   * one are returned, because up to 1,000 customers are examined for a page.
   */
  listByText: (
    { column, prefix }: TextBeginning,
    conditions: SearchConditions,
    after: KeyPosition | null,
    limit: number,
  ) => {
    const key = rawSql(column);
    const start = after === null ? sql`${key} >= ${prefix}` : sql`(${key}, id) > (${after[0]}, ${after[1]})`;
    return tx.all<ExaminedRow>(
      matchesOf(
        sql`
        select id, ${key} as key, ${isMatch(conditions)} as is_match
        from customer where ${start} and ${key} < ${endOf(prefix)} order by ${key}, id limit ${limit}`,
        sql`key, id`,
        limit,
      ),
    );
  },

  /** Customers with a smaller id, newest first. Staff and each tier have an index. */
  listNewest: (conditions: SearchConditions, before: number | null, limit: number) => {
    const { role, tier } = conditions;
    const all = [
      ...(role === 'staff' ? [sql`role = 'staff'`] : tier === undefined ? [] : [sql`tier = ${tier}`]),
      ...(before === null ? [] : [sql`id < ${before}`]),
    ];
    return tx.all<ExaminedRow>(
      matchesOf(
        sql`
        select id, '' as key, ${isMatch(conditions)} as is_match from customer
        where ${joinAnd(all)} order by id desc limit ${limit}`,
        sql`id desc`,
        limit,
      ),
    );
  },
}));
