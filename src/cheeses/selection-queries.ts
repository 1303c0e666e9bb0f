/** What cheeses are selected by: the index that they are read along, and conditions, in SQL. */
import { indexedBy, join, joinAnd, rowsFromJson, type Statement, sql, valueList } from '../database/sql.ts';
import { statuses as allStatuses, type Status } from './schemas.ts';
import type { ValueRanges } from './sort-segments.ts';

/** Up to this many terms are each read along the index. The matches of more terms are found first (page-reads.ts). */
export const separateTermsMax = 20;

/**
 * The index that cheeses are read along: postings of any of several terms (the most frequent first), postings of all
 * words with a prefix, the catalogue, or cheeses that were found before.
 */
export type Driver =
  | { readonly by: 'terms'; readonly ids: readonly number[]; readonly areWords: boolean }
  | { readonly by: 'prefix'; readonly prefix: string }
  | { readonly by: 'catalogue' }
  | { readonly by: 'ids'; readonly ids: readonly number[] };

/** The filters of a list as conditions. */
export interface Selection {
  readonly driver: Driver;
  /** null for any status. */
  readonly statuses: readonly Status[] | null;
  readonly ranges: ValueRanges;
  /** Any one term of each group. */
  readonly groups: readonly (readonly number[])[];
  /** Each is the beginning of a word of the name. Letters and digits only. */
  readonly words: readonly string[];
}

/** The cheeses with any one of some terms, or with a word that has a prefix. */
export type TermSet =
  | { readonly ids: readonly number[]; readonly areWords: boolean }
  | { readonly prefix: string; readonly areWords: true; readonly words: number };

/** The filters of a list as sets of ids, of which the intersection is read. */
export interface SetSelection {
  readonly statuses: readonly Status[] | null;
  readonly ranges: ValueRanges;
  readonly sets: readonly TermSet[];
  /** Words that are tested in the names of all cheeses. */
  readonly words: readonly string[];
}

/** Ids of cheeses after `after`, up to and including `to`; null for no upper bound. */
export interface IdRange {
  readonly after: number;
  readonly to: number | null;
}

/** Sorts after every word with the prefix. */
export const endOf = (prefix: string) => `${prefix}\u{10ffff}`;

/** Ids of the words with a prefix. */
export const wordsWith = (prefix: string) =>
  sql`select id from term where kind = 'word' and name >= ${prefix} and name < ${endOf(prefix)}`;

/** The clause from, the conditions, and the columns with id, name, price and age of a cheese. */
export function along(driver: Driver, { statuses, ranges, groups, words }: Omit<Selection, 'driver'>) {
  const isCatalogue = driver.by === 'catalogue' || driver.by === 'ids';
  const id = isCatalogue ? sql`c.id` : sql`p.cheese_id`;
  // Postings of words contain neither price nor age.
  const hasValues = isCatalogue || (driver.by === 'terms' && !driver.areWords);
  const needsValues = !hasValues && Object.keys(ranges).length > 0;
  // An index contains all that a range tests. The rows of cheeses are twice as slow to read.
  const cheese =
    words.length > 0
      ? sql` join cheese c on c.id = p.cheese_id`
      : needsValues
        ? sql` join cheese c${indexedBy('cheese_by_status')} on c.status = p.status and c.id = p.cheese_id`
        : sql``;
  const posting = sql`cheese_term p${cheese}`;
  const price = isCatalogue || needsValues ? sql`c.price` : sql`p.price`;
  const age = isCatalogue || needsValues ? sql`c.age` : sql`p.age`;
  // The operator keeps SQLite from reading all cheeses of a status in the order of their names, instead of a few ids.
  const status = driver.by === 'ids' ? sql`(c.status || '')` : isCatalogue ? sql`c.status` : sql`p.status`;
  const conditions = [
    ...driverConditions(driver),
    ...statusCondition(status, statuses),
    ...havingTerms(id, groups),
    ...words.map((word) => hasWord(word)),
  ];
  return {
    from: isCatalogue ? sql`cheese c` : posting,
    columns: { id, name: isCatalogue ? sql`c.name` : sql`p.name`, price, age },
    conditions,
  };
}

function statusCondition(status: Statement, statuses: readonly Status[] | null): Statement[] {
  return statuses === null ? [] : [sql`${status} ${isOneOf(statuses)}`];
}

/**
 * Conditions that values are in their ranges. The sign keeps SQLite from reading along the index of the values, in
 * another order than wanted: then it would look up and sort all cheeses in the range.
 */
export function inRanges(
  { price, age }: ValueRanges,
  columns: { price: Statement; age: Statement },
): Statement[] {
  return [
    ...(price === undefined ? [] : [sql`+${columns.price} between ${price.min} and ${price.max}`]),
    ...(age === undefined ? [] : [sql`+${columns.age} between ${age.min} and ${age.max}`]),
  ];
}

function hasWord(word: string): Statement {
  return sql`c.search like ${`% ${word}%`}`;
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
      return [sql`p.term_id in (${wordsWith(driver.prefix)})`];
    case 'ids':
      return [sql`c.id in (${idList(driver.ids)})`];
    case 'catalogue':
      return [];
  }
}

/**
 * Ids of the matches in a range of ids, as an intersection of index ranges. Reading a posting was measured at 0.2 us,
 * and looking up whether one cheese has a term at 4 us.
 */
export function intersection({ statuses, ranges, sets, words }: SetSelection, range: IdRange): Statement {
  const hasConditions = statuses !== null || Object.keys(ranges).length > 0;
  const tested = sets.find(({ areWords }) => !areWords || Object.keys(ranges).length === 0);
  const postings = sets.map((set) => {
    const values = { price: sql`p.price`, age: sql`p.age` };
    const more =
      set === tested ? [...statusCondition(sql`p.status`, statuses), ...inRanges(ranges, values)] : [];
    const conditions = [
      'ids' in set ? sql`p.term_id ${isOneOfTerms(set.ids)}` : sql`p.term_id in (${wordsWith(set.prefix)})`,
      ...inRange(sql`p.cheese_id`, range),
      ...more,
    ];
    return sql`select p.cheese_id as id from cheese_term p where ${joinAnd(conditions)}`;
  });
  if (words.length === 0 && (tested !== undefined || !hasConditions)) {
    return postings.length === 1
      ? sql`select distinct id from (${join(postings, '')}) as posting`
      : join(postings, ' intersect ');
  }
  const values = { price: sql`c.price`, age: sql`c.age` };
  // An index contains all that a range tests, and names are in the rows of cheeses.
  const isInIndex = words.length === 0;
  const conditions = [
    ...inRange(sql`c.id`, range),
    ...statusCondition(sql`c.status`, isInIndex ? (statuses ?? allStatuses) : statuses),
    ...inRanges(ranges, values),
    ...words.map(hasWord),
  ];
  const cheese = isInIndex ? sql`cheese c${indexedBy('cheese_by_status')}` : sql`cheese c`;
  return join(
    [...postings, sql`select c.id as id from ${cheese} where ${joinAnd(conditions)}`],
    ' intersect ',
  );
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
