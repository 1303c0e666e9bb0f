/** Statements on the row of the shop. */
import { queriesOn } from '../database/database.ts';
import { forUpdate, sql } from '../database/sql.ts';

export interface ShopRow {
  readonly version: number;
  /** JSON of the response. */
  readonly body: string;
  /** Whether an order was placed, whose amounts another currency would change. */
  readonly currency_fixed: 0 | 1;
}

export const shopStatement = sql`select version, body, currency_fixed from shop_profile`;

export const shopQueries = queriesOn((tx) => ({
  find: () => tx.get<ShopRow>(shopStatement),

  lock: () => tx.get<ShopRow>(sql`${shopStatement}${forUpdate}`),

  /** Does nothing if there is a row. */
  insert: (body: string) =>
    tx.run(sql`insert into shop_profile (id, body) values (1, ${body}) on conflict (id) do nothing`),

  update: ({ version, body }: Pick<ShopRow, 'version' | 'body'>) =>
    tx.run(sql`update shop_profile set version = ${version}, body = ${body}`),

  fixCurrency: () => tx.send(sql`update shop_profile set currency_fixed = 1 where currency_fixed = 0`),
}));
