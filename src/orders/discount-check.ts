/**
 * Compares the uses of discount codes with the orders: an order with a code has a use until it is cancelled, and `used` of a
 * code is the number of its uses. A use stays when its code is deleted, so that a code with the same text begins with none.
 */
import { commandName } from '../command-name.ts';
import { type Finding, Findings, readInPages, tryParseJson } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { rowsFromJson, selectIntegers, sql } from '../database/sql.ts';
import { customerKeyOf } from '../discounts/uses.ts';
import type { Breakdown } from './pricing/schemas.ts';
import type { OrderStatus } from './transitions/order-status.ts';

interface DiscountedOrder {
  readonly id: number;
  readonly status: OrderStatus;
  readonly customer_id: number | null;
  readonly created_at: string;
  readonly breakdown: string;
}

interface Use {
  readonly order_id: number;
  /** null if the code was deleted. */
  readonly code: string | null;
}

const countAgain = `run "${commandName} doctor --repair", which counts again`;
const listedMax = 1000;

/** @param database a snapshot, because the compared rows must not change meanwhile */
export async function checkUses(database: Sql): Promise<Finding[]> {
  const uses = new Findings('orders whose discount code is not counted, or counted after all', countAgain);
  const counts = new Findings('discount codes whose number of uses is not that of their orders', countAgain);
  for await (const { missing, excess } of differences(database)) {
    for (const id of [...missing.map((order) => order.id), ...excess]) {
      uses.add(`order ${id}`);
    }
  }
  const wrong = await database.all<{ code: string; used: number; uses: number }>(sql`
    select code, used, ${usesOfCode} as uses from discount where used <> ${usesOfCode} order by id limit ${listedMax}`);
  for (const { code, used, uses: counted } of wrong) {
    counts.add(`${code}: ${used} instead of ${counted}`);
  }
  return [uses, counts].flatMap((findings) => findings.found());
}

/** Counts the uses of all codes again, in a transaction without others. */
export async function recountUses(tx: Sql): Promise<void> {
  for await (const { missing, excess } of differences(tx)) {
    await tx.run(sql`delete from discount_use where order_id in (${selectIntegers(excess)})`);
    const rows = missing.map(({ id, code, customer_id }) => ({
      id,
      code,
      customer: customer_id === null ? null : customerKeyOf(customer_id),
    }));
    await tx.run(sql`
      insert into discount_use (order_id, discount_id, customer_key)
      select given.id, discount.id, customer from (
        select cast(value->>'id' as bigint) as id, value->>'code' as code, value->>'customer' as customer
        from ${rowsFromJson(rows)}) given
      join discount on discount.code = given.code`);
  }
  await tx.run(sql`update discount set used = ${usesOfCode} where used <> ${usesOfCode}`);
}

const usesOfCode = sql`(select count(*) from discount_use where discount_id = discount.id)`;

interface Differences {
  readonly missing: readonly (DiscountedOrder & { readonly code: string })[];
  /** The orders of uses that are none. */
  readonly excess: readonly number[];
}

async function* differences(database: Sql): AsyncGenerator<Differences> {
  for await (const page of readInPages((after, limit) => ordersAfter(database, after, limit))) {
    yield await compare(database, page);
  }
  const loose = await database.all<{ order_id: number }>(sql`
    select order_id from discount_use left join orders on orders.id = order_id
    where breakdown is null order by order_id limit ${listedMax}`);
  yield { missing: [], excess: loose.map(({ order_id }) => order_id) };
}

async function compare(database: Sql, page: readonly DiscountedOrder[]): Promise<Differences> {
  const orders = page.map((order) => ({ ...order, code: codeOf(order) }));
  const uses = await database.all<Use>(sql`
    select order_id, code from discount_use left join discount on discount.id = discount_id
    where order_id in (${selectIntegers(page.map(({ id }) => id))})`);
  const codeOfUse = new Map(uses.map(({ order_id, code }) => [order_id, code]));
  const known = await createdAt(
    database,
    orders.flatMap(({ code }) => code ?? []),
  );
  const isRight = ({ id, code }: (typeof orders)[number]) => {
    const used = codeOfUse.get(id);
    return code === null ? used === undefined : used === null || used === code;
  };
  const wrong = orders.filter((order) => !isRight(order));
  return {
    // An order is older than a code with the text of the one that it had.
    missing: wrong.flatMap((order) => {
      const { code, created_at } = order;
      return code !== null && (known.get(code) ?? '~') <= created_at ? [{ ...order, code }] : [];
    }),
    excess: wrong.filter(({ id }) => codeOfUse.has(id)).map(({ id }) => id),
  };
}

/** The code that must be counted; null without one, and after a cancellation. */
function codeOf({ status, breakdown }: DiscountedOrder): string | null {
  const code = tryParseJson<Breakdown>(breakdown)?.discount?.code;
  return status === 'cancelled' ? null : (code ?? null);
}

async function createdAt(database: Sql, codes: readonly string[]): Promise<Map<string, string>> {
  const rows = await database.all<{ code: string; created_at: string }>(sql`
    select code, created_at from discount
    where code in (select value->>'code' from ${rowsFromJson(codes.map((code) => ({ code })))})`);
  return new Map(rows.map(({ code, created_at }) => [code, created_at]));
}

function ordersAfter(database: Sql, after: number, limit: number): Promise<DiscountedOrder[]> {
  return database.all<DiscountedOrder>(sql`
    select id, status, customer_id, created_at, breakdown from orders
    where id > ${after} and breakdown is not null order by id limit ${limit}`);
}
