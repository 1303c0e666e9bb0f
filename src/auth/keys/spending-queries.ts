/** Statements on what restricted keys spent. */
import { queriesOn } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';

export interface SpendingRow {
  readonly day: string;
  readonly cents: number;
  readonly orders: number;
}

interface Addition {
  readonly keyId: number;
  readonly day: string;
  readonly cents: number;
  /** null: no limit. */
  readonly maxCents: number | null;
  readonly maxOrders: number | null;
}

export const spendingQueries = queriesOn((tx) => ({
  /** Adds an order, if its day stays within the limits: otherwise no row changes. Locks the row until the commit. */
  add: ({ keyId, day, cents, maxCents, maxOrders }: Addition) =>
    tx.run(sql`
      insert into key_spend (key_id, day, cents, orders) values (${keyId}, ${day}, ${cents}, 1)
      on conflict (key_id, day) do update
      set cents = key_spend.cents + excluded.cents, orders = key_spend.orders + 1
      where key_spend.cents + excluded.cents <= ${maxCents ?? Number.MAX_SAFE_INTEGER}
        and key_spend.orders < ${maxOrders ?? Number.MAX_SAFE_INTEGER}`),

  find: (keyId: number, day: string) =>
    tx.get<SpendingRow>(
      sql`select day, cents, orders from key_spend where key_id = ${keyId} and day = ${day}`,
    ),

  list: (keyId: number, limit: number) =>
    tx.all<SpendingRow>(
      sql`select day, cents, orders from key_spend where key_id = ${keyId} order by day desc limit ${limit}`,
    ),

  deleteBefore: (day: string, limit: number) =>
    tx.run(sql`
      delete from key_spend where (key_id, day) in (
        select key_id, day from key_spend where day < ${day} limit ${limit})`),
}));
