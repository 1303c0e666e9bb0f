/** What a page is selected by: the index that it is read along, and the conditions on cheeses in SQL. */
import { rowsFromJson, type Statement, sql, valueList } from '../database/sql.ts';
import type { Status } from './schemas.ts';

/** Up to this many terms are each read along the index. The matches of more terms are found first (page-reads.ts). */
export const separateTermsMax = 20;

/**
 * The index that a page is read along: postings of any of several terms (the most frequent first), postings of all words
 * with a prefix, the catalogue, or cheeses that were found before.
 */
export type Driver =
  | { readonly by: 'terms'; readonly ids: readonly number[] }
  | { readonly by: 'prefix'; readonly prefix: string }
  | { readonly by: 'catalogue' }
  | { readonly by: 'ids'; readonly ids: readonly number[] };

/** The filters of a page as conditions. */
export interface Selection {
  readonly driver: Driver;
  /** null for any status. */
  readonly statuses: readonly Status[] | null;
  /** Any one term of each group. */
  readonly groups: readonly (readonly number[])[];
  /** Each is the beginning of a word of the name. Letters and digits only. */
  readonly words: readonly string[];
}

/** Ids of cheeses after `after`, up to and including `to`; null for no upper bound. */
export interface IdRange {
  readonly after: number;
  readonly to: number | null;
}

/** Sorts after every word with the prefix. */
export const endOf = (prefix: string) => `${prefix}\u{10ffff}`;

/** The clause from, the conditions, and the columns with id and name of a cheese. */
export function along(driver: Driver, { statuses, groups, words }: Omit<Selection, 'driver'>) {
  const isCatalogue = driver.by === 'catalogue' || driver.by === 'ids';
  const id = isCatalogue ? sql`c.id` : sql`p.cheese_id`;
  const needsCheese = isCatalogue || words.length > 0;
  const posting = sql`cheese_term p${needsCheese ? sql` join cheese c on c.id = p.cheese_id` : sql``}`;
  const conditions = [
    ...driverConditions(driver),
    ...(statuses === null ? [] : [sql`${isCatalogue ? sql`c.status` : sql`p.status`} ${isOneOf(statuses)}`]),
    ...havingTerms(id, groups),
    ...words.map((word) => sql`c.search like ${`% ${word}%`}`),
  ];
  return {
    from: isCatalogue ? sql`cheese c` : posting,
    id,
    name: isCatalogue ? sql`c.name` : sql`p.name`,
    conditions,
  };
}

/**
 * One condition covers all required terms: with dozens of conditions, planning the statement takes longer than running
 * it.
 */
function havingTerms(id: Statement, groups: readonly (readonly number[])[]): Statement[] {
  const required = [...new Set(groups.filter(({ length }) => length === 1).flat())];
  const choices = groups.filter(({ length }) => length > 1);
  const postingsOf = (ids: readonly number[]) =>
    sql`cheese_term x where x.cheese_id = ${id} and x.term_id ${isOneOfTerms(ids)}`;
  return [
    ...(required.length === 0
      ? []
      : [sql`(select count(*) from ${postingsOf(required)}) = ${required.length}`]),
    ...choices.map((ids) => sql`exists (select 1 from ${postingsOf(ids)})`),
  ];
}

function driverConditions(driver: Driver): Statement[] {
  switch (driver.by) {
    case 'terms':
      return [sql`p.term_id ${isOneOfTerms(driver.ids)}`];
    case 'prefix':
      return [
        sql`p.term_id in (select id from term
        where kind = 'word' and name >= ${driver.prefix} and name < ${endOf(driver.prefix)})`,
      ];
    case 'ids':
      return [sql`c.id in (${idList(driver.ids)})`];
    case 'catalogue':
      return [];
  }
}

/** `=` for a single value: then an index also provides the order of the columns after it. */
export function isOneOf(values: readonly (string | number)[]): Statement {
  return values.length === 1 ? sql`= ${values[0] ?? null}` : sql`in (${valueList(values)})`;
}

/** The same for any number of terms. Many terms are one bound value, so that the statement stays short. */
function isOneOfTerms(ids: readonly number[]): Statement {
  return ids.length <= separateTermsMax ? isOneOf(ids) : sql`in (${idList(ids)})`;
}

function idList(ids: readonly number[]): Statement {
  return sql`select cast(value->>0 as bigint) from ${rowsFromJson(ids.map((id) => [id]))}`;
}

/** The condition that an id is in a range. */
export function inRange(id: Statement, { after, to }: IdRange): Statement[] {
  return [sql`${id} > ${after}`, ...(to === null ? [] : [sql`${id} <= ${to}`])];
}
