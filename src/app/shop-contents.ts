/** What a shop on any engine contains, and the ids that it has given out, over the tables of all areas. */

import { readLastIds, skipIds } from '../database/copy/tables.ts';
import type { Sql } from '../database/database.ts';
import { sql } from '../database/sql.ts';

/** How many cheeses, real orders and customers a shop has. */
export interface ShopContents {
  readonly cheeses: number;
  readonly orders: number;
  readonly customers: number;
}

/** Test orders, which have the ids 1 to 10, are not counted. */
export async function countContents(database: Sql): Promise<ShopContents> {
  const row = await database.get<ShopContents>(sql`
    select (select count(*) from cheese) as cheeses, (select count(*) from orders where id > 10) as orders,
      (select count(*) from customer) as customers`);
  return row as ShopContents;
}

/** Whether a database has accounts, customers or cheeses: `curd copy` replaces none. */
export async function containsShop(database: Sql): Promise<boolean> {
  const row = await database.get(sql`
    select 1 as found from (select id from account union all select id from customer union all select id from cheese)
    as rows limit 1`);
  return row !== undefined;
}

/** The last ids that a shop has given out: of cheeses, and of each table with generated ids. */
export interface GivenIds {
  readonly cheese: number;
  readonly tables: ReadonlyMap<string, number>;
}

export async function readGivenIds(database: Sql): Promise<GivenIds> {
  const row = await database.get<{ last: number }>(sql`select last_cheese_id as last from catalogue`);
  return { cheese: row?.last ?? 0, tables: await readLastIds(database, database.engine) };
}

/**
 * Lets new ids begin later, in a restored database on SQLite.
 * @param known ids that another state of the same shop has given out
 */
export async function leaveOutIds(tx: Sql, known: GivenIds, count: number): Promise<void> {
  await skipIds(tx, known.tables, count);
  const { cheese } = await readGivenIds(tx);
  await tx.run(sql`update catalogue set last_cheese_id = ${Math.max(cheese, known.cheese) + count}`);
}
