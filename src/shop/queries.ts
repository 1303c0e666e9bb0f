/** Statements on the row of the shop. */
import { queriesOn } from '../database/database.ts';
import { forUpdate, sql } from '../database/sql.ts';

export interface ShopRow {
  readonly version: number;
  /** JSON of the shop. */
  readonly body: string;
  readonly settings_version: number;
  /** JSON of what only its owner reads. */
  readonly settings: string;
  /** Whether an order was placed, whose amounts another currency would change. */
  readonly currency_fixed: 0 | 1;
}

export const shopStatement = sql`select version, body, settings_version, settings, currency_fixed from shop_profile`;

export const shopQueries = queriesOn((tx) => ({
  find: () => tx.get<ShopRow>(shopStatement),

  lock: () => tx.get<ShopRow>(sql`${shopStatement}${forUpdate}`),

  /** Does nothing if there is a row. */
  insert: (body: string, settings: string) =>
    tx.run(sql`
      insert into shop_profile (id, body, settings) values (1, ${body}, ${settings}) on conflict (id) do nothing`),

  update: ({ version, body, settings_version, settings }: ShopRow) =>
    tx.run(sql`
      update shop_profile set version = ${version}, body = ${body}, settings_version = ${settings_version},
        settings = ${settings}`),

  /** A read that follows sees what it has waited for. */
  fixCurrency: () => tx.run(sql`update shop_profile set currency_fixed = 1 where currency_fixed = 0`),
}));
