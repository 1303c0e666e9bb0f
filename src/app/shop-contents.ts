/** What a shop contains, over the tables of all areas. */
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
