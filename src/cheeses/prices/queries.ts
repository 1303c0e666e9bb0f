/** Statements on the table `cheese_price`. */
import { queriesOn } from '../../database/database.ts';
import { sendRows } from '../../database/rows.ts';
import { sql } from '../../database/sql.ts';

/** A price, from a time until that of the next row. */
export interface PriceRow {
  readonly since: string;
  /** null: the cheese has no price. */
  readonly price: number | null;
}

export interface PriceOfCheese extends PriceRow {
  readonly cheese_id: number;
}

export const priceQueries = queriesOn((tx) => ({
  /** Inserts the first prices of new cheeses. */
  insert: (rows: readonly PriceOfCheese[]) => sendRows(tx, 'cheese_price', rows),

  deleteAt: (id: number, since: string) =>
    tx.send(sql`delete from cheese_price where cheese_id = ${id} and since = ${since}`),

  /** Inserts nothing if the newest price is the same. */
  insertIfNew: ({ cheese_id: id, since, price }: PriceOfCheese) =>
    tx.send(sql`
      insert into cheese_price (cheese_id, since, price) select ${id}, ${since}, ${price}
      where not exists (
        select 1 from (select price from cheese_price where cheese_id = ${id} order by since desc limit 1) newest
        where newest.price is not distinct from ${price})`),

  /** Deletes the oldest prices of a cheese, beyond this many. */
  deleteBeyond: (id: number, kept: number) =>
    tx.send(sql`
      delete from cheese_price where cheese_id = ${id} and since <= (
        select since from cheese_price where cheese_id = ${id} order by since desc limit 1 offset ${kept})`),

  deleteOf: (id: number) => tx.send(sql`delete from cheese_price where cheese_id = ${id}`),

  /** The newest prices first. @param before the price that the list continues after; undefined for the newest */
  list: (id: number, before: string | undefined, limit: number) =>
    tx.all<PriceRow>(sql`
      select since, price from cheese_price
      where cheese_id = ${id} and ${before === undefined ? sql`true` : sql`since < ${before}`}
      order by since desc limit ${limit}`),

  /** The lowest of the prices from the one that was current at `from` to the one that began at `last`; null without one. */
  findLowest: async (id: number, from: string, last: string) => {
    const row = await tx.get<{ lowest: number | null }>(sql`
      select min(price) as lowest from cheese_price where cheese_id = ${id} and since <= ${last} and since >= coalesce(
        (select max(since) from cheese_price where cheese_id = ${id} and since <= ${from}), '')`);
    return row?.lowest ?? null;
  },
}));
