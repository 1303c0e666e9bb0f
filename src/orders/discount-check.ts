/**
 * Compares the uses of discount codes with the orders: an order with a code has a use until it is cancelled, and `used` of a
 * code is the number of its uses. A use stays when its code is deleted, so that a code with the same text begins with none.
 */
import { commandName } from '../command-name.ts';
import { type Finding, Findings, readInPages, tryParseJson } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { type CodeUses, codeUses } from '../discounts/uses.ts';
import type { Breakdown } from './pricing/schemas.ts';
import { type DiscountedRow, orderQueries } from './queries.ts';

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
  for (const { code, used, uses: counted } of await codeUses(database).listWrongCounts(listedMax)) {
    counts.add(`${code}: ${used} instead of ${counted}`);
  }
  return [uses, counts].flatMap((findings) => findings.found());
}

/** Counts the uses of all codes again, in a transaction without others. */
export async function recountUses(tx: Sql): Promise<void> {
  for await (const { missing, excess } of differences(tx)) {
    await codeUses(tx).replace(missing, excess);
  }
  await codeUses(tx).countAgain();
}

interface Differences {
  readonly missing: readonly (DiscountedRow & { readonly code: string })[];
  /** The orders of uses that are none. */
  readonly excess: readonly number[];
}

async function* differences(database: Sql): AsyncGenerator<Differences> {
  const queries = orderQueries(database);
  const uses = codeUses(database);
  for await (const page of readInPages(queries.listDiscounted)) {
    yield await compare(uses, page);
  }
  for await (const page of readInPages(uses.listAfter)) {
    const ids = page.map(({ id }) => id);
    const known = new Set((await queries.listWithBreakdown(ids)).map(({ id }) => id));
    yield { missing: [], excess: ids.filter((id) => !known.has(id)) };
  }
}

async function compare(uses: CodeUses, page: readonly DiscountedRow[]): Promise<Differences> {
  const orders = page.map((order) => ({ ...order, code: codeOf(order) }));
  const used = new Map(
    (await uses.listOf(page.map(({ id }) => id))).map(({ order_id, code }) => [order_id, code]),
  );
  const isRight = ({ id, code }: (typeof orders)[number]) =>
    code === null ? !used.has(id) : used.get(id) === null || used.get(id) === code;
  const wrong = orders.filter((order) => !isRight(order));
  const created = new Map(
    (await uses.listCreated(wrong.flatMap(({ code }) => code ?? []))).map((row) => [
      row.code,
      row.created_at,
    ]),
  );
  return {
    // An order is older than another code with the text of its own.
    missing: wrong.flatMap((order) => {
      const { code, created_at } = order;
      return code !== null && (created.get(code) ?? '~') <= created_at ? [{ ...order, code }] : [];
    }),
    excess: wrong.filter(({ id }) => used.has(id)).map(({ id }) => id),
  };
}

/** The code that must be counted; null without one, and after a cancellation. */
function codeOf({ status, breakdown }: DiscountedRow): string | null {
  const code = tryParseJson<Breakdown>(breakdown)?.discount?.code;
  return status === 'cancelled' ? null : (code ?? null);
}
