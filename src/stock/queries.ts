/** Statements on the tables `stock` and `stock_count`. */
import { queriesOn } from '../database/database.ts';
import { insertRows } from '../database/rows.ts';
import { forUpdate, joinAnd, rowsFromJson, type Statement, selectIntegers, sql } from '../database/sql.ts';
import type { StockSort } from './schemas.ts';

/** The quantities of a tracked cheese, in grams. */
export interface Levels {
  readonly cheese_id: number;
  readonly on_hand: number;
  readonly reserved: number;
  readonly low_at: number | null;
  /** The smallest weight that an order can have. */
  readonly smallest: number;
}

export interface StockRow extends Levels {
  readonly set_sold: number;
  readonly version: number;
  readonly tracked_since: string;
}

export interface StockFilters {
  /** Selects cheeses whose stock is low, or of which nothing is available. */
  readonly low?: boolean | undefined;
  readonly cheeseIds?: readonly number[] | undefined;
}

/** The last row of a page. */
export interface StockPosition {
  readonly level: number;
  readonly cheeseId: number;
}

/** Grams by the id of their cheese. */
export type Grams = ReadonlyMap<number, number>;

const columns = sql`cheese_id, on_hand, reserved, low_at, smallest, set_sold, version, tracked_since`;
const one = sql`select ${columns} from stock where cheese_id`;
const grams = sql`moved.grams`;

const idsIn = (ids: readonly number[]) => sql`(${selectIntegers(ids)})`;

/** Changes the rows of cheeses. The caller has locked them, unless there is one. */
function move(moved: Grams, change: Statement): Statement {
  return sql`
    update stock set ${change}, version = version + 1
    from (select cast(value->>'id' as bigint) as id, cast(value->>'grams' as bigint) as grams
      from ${rowsFromJson([...moved].map(([id, grams]) => ({ id, grams })))}) as moved
    where stock.cheese_id = moved.id
    returning cheese_id, on_hand, reserved, low_at, smallest`;
}

export const stockQueries = queriesOn((tx) => ({
  find: (id: number) => tx.get<StockRow>(sql`${one} = ${id}`),

  lock: (id: number) => tx.get<StockRow>(sql`${one} = ${id}${forUpdate}`),

  /** Locks rows in the order of cheese ids. */
  lockAll: (ids: readonly number[]) =>
    tx.all<StockRow>(sql`${one} in ${idsIn(ids)} order by cheese_id${forUpdate}`),

  listOf: (ids: readonly number[]) => tx.all<StockRow>(sql`${one} in ${idsIn(ids)} order by cheese_id`),

  insert: (rows: readonly Omit<StockRow, 'set_sold' | 'version'>[]) =>
    insertRows(
      tx,
      'stock',
      rows.map(({ cheese_id, on_hand, reserved, low_at, smallest, tracked_since }) => ({
        cheese_id,
        on_hand,
        reserved,
        low_at,
        smallest,
        tracked_since,
      })),
    ),

  update: async ({ cheese_id, on_hand, low_at, smallest }: Levels) =>
    (await tx.get<StockRow>(sql`
      update stock set on_hand = ${on_hand}, low_at = ${low_at}, smallest = ${smallest}, version = version + 1
      where cheese_id = ${cheese_id} returning ${columns}`)) as StockRow,

  delete: (id: number) => tx.run(sql`delete from stock where cheese_id = ${id}`),

  /** Changes nothing for a cheese that is not tracked. */
  updateSetSold: (id: number, setSold: 0 | 1) =>
    tx.run(sql`update stock set set_sold = ${setSold} where cheese_id = ${id} and set_sold <> ${setSold}`),

  /** Reserves grams of one cheese, also more than are available. */
  reserve: (id: number, wanted: number) =>
    tx.all<Levels>(sql`
      update stock set reserved = reserved + ${wanted}, version = version + 1 where cheese_id = ${id}
      returning cheese_id, on_hand, reserved, low_at, smallest`),

  release: (moved: Grams) => tx.all<Levels>(move(moved, sql`reserved = reserved - ${grams}`)),

  /** Takes reserved grams out of the storeroom. */
  consume: (moved: Grams) =>
    tx.run(move(moved, sql`on_hand = on_hand - ${grams}, reserved = reserved - ${grams}`)),

  list: (filters: StockFilters, sort: StockSort, after: StockPosition, limit: number) => {
    const [isAfter, order] =
      sort === 'level'
        ? [sql`(level, cheese_id) > (${after.level}, ${after.cheeseId})`, sql`level, cheese_id`]
        : [sql`cheese_id > ${after.cheeseId}`, sql`cheese_id`];
    return tx.all<StockRow & { readonly level: number }>(sql`
      select ${columns}, level from stock where ${joinAnd([...conditionsOf(filters), isAfter])}
      order by ${order} limit ${limit}`);
  },

  count: async (filters: StockFilters) => {
    const conditions = conditionsOf(filters);
    const row = await tx.get<{ total: number }>(
      conditions.length === 0
        ? sql`select tracked as total from stock_count`
        : sql`select count(*) as total from stock where ${joinAnd(conditions)}`,
    );
    return row?.total ?? 0;
  },

  addToCount: (tracked: number) => tx.run(sql`update stock_count set tracked = tracked + ${tracked}`),
}));

function conditionsOf({ low, cheeseIds }: StockFilters): Statement[] {
  return [
    ...(low ? [sql`level <= 1`] : []),
    ...(cheeseIds === undefined ? [] : [sql`cheese_id in ${idsIn(cheeseIds)}`]),
  ];
}
