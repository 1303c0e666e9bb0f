/**
 * Finds cheeses that are in several lists of postings, in the order of names or ids. The lists are searched by turns:
 * each continues at the cheese that the one before has reached, so the cheeses between are not read. At 1,000,000
 * cheeses, 21 of 14,000 "Chèvre Fermier" were found in 0.2 ms, and in 30 ms by testing each "Fermier".
 */
import type { Sql } from '../database/database.ts';
import { byCodePoint, join, joinAnd, rawSql, type Statement, sql } from '../database/sql.ts';
import type { Position } from './list-query.ts';
import type { Status } from './schemas.ts';
import { isOneOf } from './selection-queries.ts';
import type { Segment } from './sort-segments.ts';

/** Postings that are looked up until the search is given up: 1 to 5 us each. */
const lookupsMax = 1000;
/** Sorts after every name. */
const lastName = '\u{10ffff}'.repeat(100);

/** Ids of terms. A cheese is in the list when it has one of them. */
export type PostingList = readonly number[];

export interface CommonRequest {
  readonly statuses: readonly Status[] | null;
  /** By name or by id. */
  readonly segment: Segment;
  readonly after: Position | null;
  readonly limit: number;
}

/** The ids of the first cheeses that are in all lists, in order; null when the search took too long. */
export async function findCommon(
  database: Sql,
  lists: readonly PostingList[],
  { statuses, segment, after, limit }: CommonRequest,
): Promise<number[] | null> {
  const { column, isDescending } = segment;
  const isByName = column === 'name';
  const stepsMax = Math.ceil(lookupsMax / lists.flat().length);
  const [upTo, direction, next] = isDescending ? [sql`<=`, sql` desc`, sql`-`] : [sql`>=`, sql``, sql`+`];
  const orderOf = (name: Statement, id: Statement) =>
    isByName ? sql`${name}${direction}, ${id}${direction}` : sql`${id}${direction}`;

  /** The first cheese of a list at or after a position. */
  function lookUp(list: PostingList, name: Statement, id: Statement): Statement {
    const position = isByName
      ? sql`(p.name, p.cheese_id) ${upTo} (${name}, ${id})`
      : sql`p.cheese_id ${upTo} ${id}`;
    const firsts = list.map(
      (term) => sql`(select p.cheese_id from cheese_term p where p.term_id = ${term} and ${position}
        order by ${orderOf(sql`p.name`, sql`p.cheese_id`)} limit 1)`,
    );
    return firsts.length === 1
      ? join(firsts, '')
      : sql`(select f.id from cheese f where f.id in (${join(firsts, ', ')})
        order by ${orderOf(sql`f.name`, sql`f.id`)} limit 1)`;
  }

  const aliases = lists.map((_, index) => rawSql(`c${index}`));
  const columnOf = (index: number, name: string) => sql`${aliases[index] ?? sql``}.${rawSql(name)}`;
  const last = lists.length - 1;
  const isFound = sql`${columnOf(last, 'id')} = ${columnOf(0, 'id')}`;
  const isMatch =
    statuses === null ? isFound : sql`${isFound} and ${columnOf(0, 'status')} ${isOneOf(statuses)}`;
  const positions = lists.map((list, index) =>
    index === 0
      ? lookUp(list, sql`w.name`, sql`w.id ${next} w.found`)
      : lookUp(list, columnOf(index - 1, 'name'), columnOf(index - 1, 'id')),
  );
  const start = after ?? (isDescending ? { id: Number.MAX_SAFE_INTEGER, name: lastName } : { id: 0 });
  const rows = await database.all<{ id: number; step: number; is_match: number }>(sql`
    with recursive walk (step, matches, name, id, found, is_match) as (
      select 0, 0, cast(${start.name ?? ''} as text)${byCodePoint}, cast(${start.id} as bigint), ${after === null ? sql`0` : sql`1`}, 0
      union all
      select w.step + 1, w.matches + case when ${isMatch} then 1 else 0 end, ${columnOf(last, 'name')},
        ${columnOf(last, 'id')}, case when ${isFound} then 1 else 0 end, case when ${isMatch} then 1 else 0 end
      from walk w cross join ${join(
        aliases.map((alias) => sql`cheese ${alias}`),
        ' cross join ',
      )}
      where w.step < ${stepsMax} and w.matches < ${limit} and ${joinAnd(
        positions.map((position, index) => sql`${columnOf(index, 'id')} = ${position}`),
      )}
    )
    select id, step, is_match from walk where is_match = 1 or step = ${stepsMax} order by step`);
  const ids = rows.filter(({ is_match }) => is_match === 1).map(({ id }) => id);
  return ids.length < limit && rows.at(-1)?.step === stepsMax ? null : ids;
}
