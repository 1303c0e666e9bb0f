/** Statements on discount codes and on the orders that have one. */
import { queriesOn } from '../database/database.ts';
import { newId } from '../database/dry-run.ts';
import { advisoryLock, forUpdate, rowsFromJson, selectIntegers, sql } from '../database/sql.ts';
import type { DiscountKind } from './schemas.ts';

export interface DiscountRow {
  readonly id: number;
  readonly code: string;
  readonly version: number;
  readonly kind: DiscountKind;
  /** Percent or cents; null for free delivery. */
  readonly value: number | null;
  readonly from_cents: number | null;
  readonly starts_at: string | null;
  readonly ends_at: string | null;
  readonly uses_max: number | null;
  readonly uses_per_customer: number | null;
  readonly is_enabled: 0 | 1;
  /** Orders that have it and are not cancelled. */
  readonly used: number;
  readonly created_at: string;
}

const columns = sql`id, code, version, kind, value, from_cents, starts_at, ends_at, uses_max, uses_per_customer, is_enabled,
  used, created_at`;

/** A use of a code, as it is counted again. */
export interface DiscountUse {
  readonly id: number;
  readonly code: string;
  readonly customer: string | null;
}

const countedUses = sql`(select count(*) from discount_use where discount_id = discount.id)`;

export const discountQueries = queriesOn((tx) => ({
  /** The newest before an id. */
  list: (before: number, limit: number) =>
    tx.all<DiscountRow>(
      sql`select ${columns} from discount where id < ${before} order by id desc limit ${limit}`,
    ),

  find: (code: string) => tx.get<DiscountRow>(sql`select ${columns} from discount where code = ${code}`),

  lock: (code: string) =>
    tx.get<DiscountRow>(sql`select ${columns} from discount where code = ${code}${forUpdate}`),

  /** Locks the creation of codes until the transaction ends, so that their number is exact. */
  lockNumber: () => tx.get(advisoryLock('number of', 'discounts')),

  count: async () =>
    (await tx.get<{ count: number }>(sql`select count(*) as count from discount`))?.count ?? 0,

  /** Returns undefined if the code exists. */
  insert: (row: Omit<DiscountRow, 'id' | 'version' | 'used'>) =>
    tx.get<DiscountRow>(sql`
      insert into discount (id, code, kind, value, from_cents, starts_at, ends_at, uses_max, uses_per_customer, is_enabled,
        created_at)
      values (${newId(tx)}, ${row.code}, ${row.kind}, ${row.value}, ${row.from_cents}, ${row.starts_at}, ${row.ends_at}, ${row.uses_max},
        ${row.uses_per_customer}, ${row.is_enabled}, ${row.created_at})
      on conflict (code) do nothing returning ${columns}`),

  update: (row: DiscountRow) =>
    tx.run(sql`
      update discount set version = ${row.version}, value = ${row.value}, from_cents = ${row.from_cents},
        starts_at = ${row.starts_at}, ends_at = ${row.ends_at}, uses_max = ${row.uses_max},
        uses_per_customer = ${row.uses_per_customer}, is_enabled = ${row.is_enabled}
      where id = ${row.id}`),

  delete: (id: number) => tx.run(sql`delete from discount where id = ${id}`),

  /** Counts a use of the code as it was read, if one is left, and locks it. Returns the number of changed rows. */
  use: ({ id, version }: DiscountRow) =>
    tx.run(sql`
      update discount set used = used + 1
      where id = ${id} and version = ${version} and (uses_max is null or used < uses_max)`),

  /** Orders of a customer that have the code and are not cancelled. */
  countUses: async (id: number, customerKey: string) =>
    (
      await tx.get<{ count: number }>(
        sql`select count(*) as count from discount_use where discount_id = ${id} and customer_key = ${customerKey}`,
      )
    )?.count ?? 0,

  insertUse: (orderId: number, discountId: number, customerKey: string | null) =>
    tx.send(sql`
      insert into discount_use (order_id, discount_id, customer_key) values (${orderId}, ${discountId}, ${customerKey})`),

  /** Deletes the uses of orders, and returns their codes. */
  deleteUses: (orderIds: readonly number[]) =>
    tx.all<{ discount_id: number }>(
      sql`delete from discount_use where order_id in (${selectIntegers(orderIds)}) returning discount_id`,
    ),

  /** The uses of orders; the code is null if it was deleted. */
  listUsesOf: (orderIds: readonly number[]) =>
    tx.all<{ order_id: number; code: string | null }>(sql`
      select order_id, code from discount_use left join discount on discount.id = discount_id
      where order_id in (${selectIntegers(orderIds)})`),

  listUsesAfter: (after: number, limit: number) =>
    tx.all<{ id: number }>(
      sql`select order_id as id from discount_use where order_id > ${after} order by order_id limit ${limit}`,
    ),

  /** When codes were created. */
  listCreated: (codes: readonly string[]) =>
    tx.all<{ code: string; created_at: string }>(sql`
      select code, created_at from discount
      where code in (select value->>'code' from ${rowsFromJson(codes.map((code) => ({ code })))})`),

  /** Codes whose number of uses is not that of their rows. */
  listWrongCounts: (limit: number) =>
    tx.all<{ code: string; used: number; uses: number }>(sql`
      select code, used, ${countedUses} as uses from discount where used <> ${countedUses} order by id limit ${limit}`),

  insertUses: (uses: readonly DiscountUse[]) =>
    tx.run(sql`
      insert into discount_use (order_id, discount_id, customer_key)
      select given.id, discount.id, customer from (
        select cast(value->>'id' as bigint) as id, value->>'code' as code, value->>'customer' as customer
        from ${rowsFromJson(uses.map((use) => ({ ...use })))}) given
      join discount on discount.code = given.code`),

  countAgain: () => tx.run(sql`update discount set used = ${countedUses} where used <> ${countedUses}`),

  /** Lowers the numbers of uses. Locks the codes by their ids. */
  giveBack: async (counts: ReadonlyMap<number, number>) => {
    const rows = [...counts].map(([id, count]) => ({ id, count }));
    const values = sql`select cast(value->>'id' as bigint) as id, cast(value->>'count' as bigint) as count
      from ${rowsFromJson(rows)}`;
    await tx.all(
      sql`select id from discount where id in (${selectIntegers([...counts.keys()])}) order by id${forUpdate}`,
    );
    await tx.run(sql`
      update discount set used = used - (select count from (${values}) given where given.id = discount.id)
      where id in (${selectIntegers([...counts.keys()])})`);
  },
}));
