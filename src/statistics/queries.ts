/** Statements on the tables of statistics. */
import { queriesOn } from '../database/database.ts';
import { forUpdate, rowsFromJson, selectIntegers, skippingLocked, sql, valueList } from '../database/sql.ts';
import type { CustomerKind } from '../orders/order-values.ts';
import type { Measure } from './measures.ts';

export interface PositionRow {
  readonly sequence: number;
  readonly history_id: number | null;
  readonly customers_from: string;
}

/** A measure in a quarter of an hour. */
export type FigureRow = {
  readonly measure: string;
  readonly quarter: string;
  readonly value: number;
};

/** A cheese on a day. An empty name keeps the stored one. */
export type CheeseDayRow = {
  readonly day: string;
  readonly cheeseId: number;
  readonly name: string;
  readonly orders: number;
  readonly grams: number;
  readonly cents: number;
};

export interface CheeseSum {
  readonly cheese_id: number;
  readonly orders: number;
  readonly grams: number;
  readonly cents: number;
}

/** Orders of a country and a kind of customer on a day. */
export type SaleRow = {
  readonly day: string;
  readonly country: string;
  readonly customer: CustomerKind;
  readonly orders: number;
  readonly cents: number;
};

/** The place after which sales are read. */
export interface SaleKey extends Pick<SaleRow, 'day' | 'country'> {
  /** Empty for the first place of a country. */
  readonly customer: string;
}

const position = sql`select sequence, history_id, customers_from from statistic_position where id = 1`;

export const statisticsQueries = queriesOn((tx) => ({
  findPosition: () => tx.get<PositionRow>(position),

  /** undefined while another instance counts. */
  tryLockPosition: () => tx.get<PositionRow>(sql`${position}${skippingLocked}`),

  lockPosition: () => tx.get<PositionRow>(sql`${position}${forUpdate}`),

  upsertPosition: ({ sequence, history_id, customers_from }: PositionRow) =>
    tx.run(sql`
      insert into statistic_position (id, sequence, history_id, customers_from)
      values (1, ${sequence}, ${history_id}, ${customers_from})
      on conflict (id) do update set sequence = excluded.sequence, history_id = excluded.history_id,
        customers_from = excluded.customers_from`),

  addFigures: (rows: readonly FigureRow[]) =>
    tx.run(sql`
      insert into statistic (measure, quarter, value)
      select value->>'measure', value->>'quarter', cast(value->>'value' as bigint)
      from ${rowsFromJson(rows)} where true
      on conflict (measure, quarter) do update set value = statistic.value + excluded.value`),

  addCheeses: (rows: readonly CheeseDayRow[]) =>
    tx.run(sql`
      insert into statistic_cheese (day, cheese_id, name, orders, grams, cents)
      select value->>'day', cast(value->>'cheeseId' as bigint), value->>'name', cast(value->>'orders' as bigint),
        cast(value->>'grams' as bigint), cast(value->>'cents' as bigint)
      from ${rowsFromJson(rows)} where true
      on conflict (day, cheese_id) do update set
        name = case when excluded.name = '' then statistic_cheese.name else excluded.name end,
        orders = statistic_cheese.orders + excluded.orders,
        grams = statistic_cheese.grams + excluded.grams,
        cents = statistic_cheese.cents + excluded.cents`),

  addSales: (rows: readonly SaleRow[]) =>
    tx.run(sql`
      insert into statistic_sale (day, country, customer, orders, cents)
      select value->>'day', value->>'country', value->>'customer', cast(value->>'orders' as bigint),
        cast(value->>'cents' as bigint)
      from ${rowsFromJson(rows)} where true
      on conflict (day, country, customer) do update set
        orders = statistic_sale.orders + excluded.orders, cents = statistic_sale.cents + excluded.cents`),

  /** @param customersFrom figures of customers are deleted from this quarter on */
  deleteFigures: (customersFrom: string) =>
    tx.run(sql`delete from statistic where measure not like 'customers.%' or quarter >= ${customersFrom}`),

  deleteCheeses: () => tx.run(sql`delete from statistic_cheese`),

  deleteSales: () => tx.run(sql`delete from statistic_sale`),

  /**
   * Sums of a measure over periods; null if nothing was counted. A subquery for each period reads a range of the
   * index: SQLite runs a join in the other order, and compares each row with all periods.
   */
  sumFigures: (
    measure: Measure,
    periods: readonly { readonly index: number; readonly from: string; readonly to: string }[],
  ) =>
    tx.all<{ period: number; total: number | null }>(sql`
      select cast(p.value->>'index' as bigint) as period, (
        select cast(sum(s.value) as bigint) from statistic s
        where s.measure = ${measure} and s.quarter >= p.value->>'from' and s.quarter < p.value->>'to'
      ) as total
      from ${rowsFromJson(periods)} p`),

  /** The next days of cheeses in a period, in the order of the key. */
  listCheeseDays: (after: readonly [day: string, cheeseId: number], before: string, limit: number) =>
    tx.all<CheeseSum & { day: string }>(sql`
      select day, cheese_id, orders, grams, cents from statistic_cheese
      where (day, cheese_id) > (${after[0]}, ${after[1]}) and day < ${before} order by day, cheese_id limit ${limit}`),

  /** The next sales of a period, in the order of the key. */
  listSales: (after: SaleKey, before: string, limit: number) =>
    tx.all<SaleRow>(sql`
      select day, country, customer, orders, cents from statistic_sale
      where (day, country, customer) > (${after.day}, ${after.country}, ${after.customer}) and day < ${before}
      order by day, country, customer limit ${limit}`),

  sumCheeses: (cheeseIds: readonly number[], from: string, before: string) =>
    tx.all<CheeseSum>(sql`
      select cheese_id, cast(sum(orders) as bigint) as orders, cast(sum(grams) as bigint) as grams,
        cast(sum(cents) as bigint) as cents
      from statistic_cheese
      where cheese_id in (${valueList(cheeseIds)}) and day >= ${from} and day < ${before} group by cheese_id`),

  /** Those of the cheeses that have a day, even without orders that are left. */
  listCounted: (cheeseIds: readonly number[]) =>
    tx.all<{ cheese_id: number }>(sql`
      select distinct cheese_id from statistic_cheese where cheese_id in (${selectIntegers(cheeseIds)})`),

  /** The names of cheeses on the last day before another one. */
  listNames: (cheeseIds: readonly number[], before: string) =>
    tx.all<{ cheese_id: number; name: string }>(sql`
      select s.cheese_id, s.name
      from (
        select cheese_id, max(day) as day from statistic_cheese
        where cheese_id in (${valueList(cheeseIds)}) and day < ${before} group by cheese_id) l
      join statistic_cheese s on s.cheese_id = l.cheese_id and s.day = l.day`),

  /** The first day of which orders are counted. */
  findFirstDay: async () =>
    (await tx.get<{ day: string | null }>(sql`select min(day) as day from statistic_cheese`))?.day ?? null,

  /** Pages of the consistency check: the next figures in the order of the key. */
  listFigures: (after: readonly [measure: string, quarter: string], limit: number) =>
    tx.all<{ measure: string; quarter: string; value: number }>(sql`
      select measure, quarter, value from statistic where (measure, quarter) > (${after[0]}, ${after[1]})
      order by measure, quarter limit ${limit}`),
}));
