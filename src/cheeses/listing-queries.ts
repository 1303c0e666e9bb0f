/**
 * Pages of cheeses in any order under any filters, without a scan. A page is read along one index, the driver:
 * a term's postings (several terms or statuses: each on its own, then merged), or the catalogue itself. Every other
 * filter is a condition on the way. Reading the ready JSON of 20 cheeses was measured at 26 us, against 255 us for
 * their columns, objects and serialisation.
 */
import { queriesOn } from '../database/database.ts';
import { allTrue, join, rowsFromJson, type Statement, sql, valueList } from '../database/sql.ts';
import type { Sort, Status } from './schemas.ts';
import type { Term, TermKind } from './search-terms.ts';

/** Between two items: JSON text never holds a raw line feed, so this one is always ours. */
export const itemSeparator = ',\n';

/** So many terms are each read along their own index; the postings of further ones are read as one. */
const termsApartMax = 20;

/** What is walked along: postings of any of some terms, the most frequent first, postings of all words with a prefix, or the catalogue. */
export type Driver =
  | { readonly by: 'terms'; readonly ids: readonly number[] }
  | { readonly by: 'prefix'; readonly prefix: string }
  | { readonly by: 'catalogue' };

export interface Selection {
  readonly driver: Driver;
  /** null: any. */
  readonly statuses: readonly Status[] | null;
  /** Any one term of each group. */
  readonly groups: readonly (readonly number[])[];
  /** Each begins a word of the name; letters and digits only. */
  readonly words: readonly string[];
}

export interface Position {
  readonly id: number;
  readonly name: string;
}

export interface PageRequest extends Selection {
  readonly sort: Sort;
  readonly after: Position | null;
  readonly limit: number;
  /** The term whose counter is the total, where there is one. */
  readonly countedTerm: number | null;
}

export interface PageRow {
  readonly total: number | null;
  /** Bodies with `itemSeparator` between them, one more than the limit where there are more; null for none. */
  readonly items: string | null;
  readonly found: number;
  /** How many of them are in `items`, where that is not all. */
  readonly shown?: number;
}

export interface TermCountRow {
  readonly id: number;
  readonly kind: TermKind;
  readonly name: string;
  readonly status: Status | null;
  readonly cheeses: number | null;
}

/** Sorts after every word that begins with the prefix. */
const endOf = (prefix: string) => `${prefix}\u{10ffff}`;

const counted = sql`select t.id, t.kind, t.name, n.status, n.cheeses from`;

export const listingQueries = queriesOn((tx) => ({
  /** Terms with their counters by status. */
  findCountedTerms: (terms: readonly Term[], ids: readonly number[]) =>
    tx.all<TermCountRow>(sql`
      ${counted} ${rowsFromJson(terms.map(([kind, name]) => [kind, name]))}
        join term t on t.kind = value->>0 and t.name = value->>1 left join term_count n on n.term_id = t.id
      union all
      ${counted} ${rowsFromJson(ids.map((id) => [id]))}
        join term t on t.id = cast(value->>0 as bigint) left join term_count n on n.term_id = t.id`),

  /** Words with a prefix, up to `limit`. */
  listWords: (prefix: string, limit: number) =>
    tx.all<{ id: number }>(sql`
      select id from term where kind = 'word' and name >= ${prefix} and name < ${endOf(prefix)} limit ${limit}`),

  findPage: async (request: PageRequest) => {
    const row = await tx.get<PageRow>(sql`
      select ${totalOf(request)} as total,
        string_agg(body, ${itemSeparator}) as items, count(*) as found
      from (${pageOf(request, sql`c.body`)}) as page`);
    return row as PageRow;
  },

  /**
   * The first cheeses of a page in the order of ids: up to `limit`, and as few as `bytesMax` permits. Sizes are known
   * before a body is read, so the memory that it takes is bounded however long the bodies are.
   */
  findPart: async (request: PageRequest, limit: number, bytesMax: number) => {
    const row = await tx.get<PageRow>(sql`
      select ${totalOf(request)} as total,
        string_agg(body, ${itemSeparator}) as items, count(*) as found, count(body) as shown
      from (
        select c.body
        from (
          select id, row_number() over (order by id) as place, sum(bytes) over (order by id) - bytes as bytes_before
          from (${pageOf(request, sql`c.id, octet_length(c.body) as bytes`)}) as candidate
        ) as sized
        left join cheese c on c.id = sized.id and place <= ${limit} and bytes_before < ${bytesMax}
        order by sized.id
      ) as page`);
    return row as PageRow;
  },

  /** How many cheeses match, by walking the driver. */
  count: async (selection: Selection) => {
    const { from, id, conditions } = along(selection.driver, selection);
    const row = await tx.get<{ total: number }>(sql`
      select count(distinct ${id}) as total from ${from} where ${allTrue(conditions)}`);
    return row?.total ?? 0;
  },
}));

function totalOf({ countedTerm, statuses }: PageRequest): Statement {
  if (countedTerm === null) {
    return sql`null`;
  }
  const ofStatuses = statuses === null ? sql`` : sql` and status in (${valueList(statuses)})`;
  return sql`(select cast(coalesce(sum(cheeses), 0) as bigint) from term_count
    where term_id = ${countedTerm}${ofStatuses})`;
}

function pageOf(request: PageRequest, columns: Statement): Statement {
  const order = orderOf(request.sort);
  const branches = branchesOf(request);
  const [only] = branches;
  if (branches.length === 1 && only?.by === 'catalogue') {
    return sql`select ${columns} ${branch(only, request)}`;
  }
  const candidates = join(
    branches.map(
      (driver) => sql`select * from (select ${keysOf(driver)} ${branch(driver, request)}) as candidate`,
    ),
    ' union ',
  );
  return sql`select ${columns} from (${candidates}) as k join cheese c on c.id = k.id
    order by ${order(sql`k.name`, sql`k.id`)} limit ${request.limit}`;
}

/** A driver that one index serves: one term, one status, a range of words, or everything. */
type Branch = Driver & { readonly status?: Status };

function branchesOf({ driver, statuses }: PageRequest): Branch[] {
  if (driver.by === 'terms') {
    const apart = driver.ids.length > termsApartMax ? driver.ids.slice(0, termsApartMax) : driver.ids;
    const rest = driver.ids.slice(apart.length);
    return [
      ...apart.map((id): Branch => ({ by: 'terms', ids: [id] })),
      ...(rest.length === 0 ? [] : [{ by: 'terms', ids: rest } as const]),
    ];
  }
  if (driver.by === 'catalogue' && statuses !== null) {
    return statuses.map((status) => ({ by: 'catalogue', status }));
  }
  return [driver];
}

function keysOf(driver: Branch): Statement {
  // Two words of one name may begin alike, and a cheese has several tags: it is filed twice within one range.
  const isRange = driver.by === 'prefix' || (driver.by === 'terms' && driver.ids.length > 1);
  return driver.by === 'catalogue'
    ? sql`c.id, c.name`
    : sql`${isRange ? sql`distinct ` : sql``}p.cheese_id as id, p.name`;
}

/** From, where, order and limit along one branch. */
function branch(driver: Branch, request: PageRequest): Statement {
  const statuses = driver.status === undefined ? request.statuses : [driver.status];
  const { from, id, name, conditions } = along(driver, { ...request, statuses });
  const { after, sort, limit } = request;
  const order = orderOf(sort);
  const beyond = sort.startsWith('-') ? sql`<` : sql`>`;
  const isByName = sort.endsWith('name');
  const keyset =
    after === null
      ? []
      : isByName
        ? [sql`(${name}, ${id}) ${beyond} (${after.name}, ${after.id})`]
        : [sql`${id} ${beyond} ${after.id}`];
  return sql`from ${from} where ${allTrue([...conditions, ...keyset])} order by ${order(name, id)} limit ${limit}`;
}

/** Ids are handed out in the order of creation, so they stand for createdAt in every sort. */
function orderOf(sort: Sort): (name: Statement, id: Statement) => Statement {
  const direction = sort.startsWith('-') ? sql` desc` : sql``;
  return (name, id) =>
    sort.endsWith('name') ? sql`${name}${direction}, ${id}${direction}` : sql`${id}${direction}`;
}

function along(driver: Driver, { statuses, groups, words }: Omit<Selection, 'driver'>) {
  const isWalk = driver.by === 'catalogue';
  const id = isWalk ? sql`c.id` : sql`p.cheese_id`;
  const needsCheese = isWalk || words.length > 0;
  const posting = sql`cheese_term p${needsCheese ? sql` join cheese c on c.id = p.cheese_id` : sql``}`;
  const conditions = [
    ...drivenBy(driver),
    ...(statuses === null ? [] : [sql`${isWalk ? sql`c.status` : sql`p.status`} ${isOneOf(statuses)}`]),
    ...filedUnder(id, groups),
    ...words.map((word) => sql`c.search like ${`% ${word}%`}`),
  ];
  return { from: isWalk ? sql`cheese c` : posting, id, name: isWalk ? sql`c.name` : sql`p.name`, conditions };
}

/**
 * All terms that must be there are asked for at once: a planner that meets dozens of conditions takes longer to think
 * about them than to answer.
 */
function filedUnder(id: Statement, groups: readonly (readonly number[])[]): Statement[] {
  const required = [...new Set(groups.filter(({ length }) => length === 1).flat())];
  const choices = groups.filter(({ length }) => length > 1);
  const filed = (ids: readonly number[]) =>
    sql`cheese_term x where x.cheese_id = ${id} and x.term_id ${isOneOfTerms(ids)}`;
  return [
    ...(required.length === 0 ? [] : [sql`(select count(*) from ${filed(required)}) = ${required.length}`]),
    ...choices.map((ids) => sql`exists (select 1 from ${filed(ids)})`),
  ];
}

function drivenBy(driver: Driver): Statement[] {
  switch (driver.by) {
    case 'terms':
      return [sql`p.term_id ${isOneOfTerms(driver.ids)}`];
    case 'prefix':
      return [
        sql`p.term_id in (select id from term
        where kind = 'word' and name >= ${driver.prefix} and name < ${endOf(driver.prefix)})`,
      ];
    case 'catalogue':
      return [];
  }
}

/** `=` where it can be: it lets an index serve the order behind the column as well. */
function isOneOf(values: readonly (string | number)[]): Statement {
  return values.length === 1 ? sql`= ${values[0] ?? null}` : sql`in (${valueList(values)})`;
}

/** The same for any number of terms: one bound value, so that the text of the statement stays short. */
function isOneOfTerms(ids: readonly number[]): Statement {
  return ids.length <= termsApartMax
    ? isOneOf(ids)
    : sql`in (select cast(value->>0 as bigint) from ${rowsFromJson(ids.map((id) => [id]))})`;
}
