/**
 * Uses of discount codes by orders. The number of uses changes with the order, by one conditional update that locks the
 * code: it is exact whatever orders and cancellations run at the same time.
 */
import type { Sql } from '../database/database.ts';
import { dollars } from '../decimal.ts';
import { type AppError, validationError } from '../errors.ts';
import { type DiscountRow, discountQueries } from './queries.ts';

/** A code that an order may have, as it was read. */
export interface UsableDiscount {
  readonly row: DiscountRow;
  readonly discount:
    | { readonly code: string; readonly kind: 'percent' | 'amount'; readonly value: number }
    | { readonly code: string; readonly kind: 'free_delivery' };
}

/** Whether a code is wrong, so that trying many of them is slowed down, or only of no use now. */
export interface RefusedCode {
  readonly message: string;
  readonly isWrong: boolean;
}

const wrong: RefusedCode = { message: 'there is no such code, or it is not valid now', isWrong: true };
const refuse = (message: string): RefusedCode => ({ message, isWrong: false });
const usedUp = refuse('the code is used up');

interface CodeUser {
  readonly now: number;
  readonly subtotalCents: number;
  /** null if no uses are counted together. */
  readonly customerId: number | null;
  /** An amount with the currency of the shop. */
  readonly showPrice: (cents: number) => string;
}

/** What a code takes off goods. It is not locked. @param code in upper case */
export async function findDiscount(
  sql: Sql,
  code: string,
  { now, subtotalCents, customerId, showPrice }: CodeUser,
): Promise<UsableDiscount | RefusedCode> {
  const row = await discountQueries(sql).find(code);
  if (
    row === undefined ||
    row.is_enabled === 0 ||
    (row.starts_at !== null && now < Date.parse(row.starts_at))
  ) {
    return wrong;
  }
  if (row.ends_at !== null && now >= Date.parse(row.ends_at)) {
    return refuse('the code has ended');
  }
  if (row.uses_max !== null && row.used >= row.uses_max) {
    return usedUp;
  }
  if (row.from_cents !== null && subtotalCents < row.from_cents) {
    return refuse(
      `the code is valid from ${showPrice(row.from_cents)} on: the goods cost ${showPrice(subtotalCents)}`,
    );
  }
  const used = await customerRefusal(sql, row, customerId);
  if (used !== null) {
    return refuse(used);
  }
  const { kind, value } = row;
  return {
    row,
    discount: kind === 'free_delivery' ? { code, kind } : { code, kind, value: value ?? 0 },
  };
}

const customerKeyOf = (customerId: number) => `customer:${customerId}`;

/** Why this customer has used a code often enough; null otherwise. */
async function customerRefusal(
  sql: Sql,
  { id, uses_per_customer }: DiscountRow,
  customerId: number | null,
): Promise<string | null> {
  if (uses_per_customer === null || customerId === null) {
    return null;
  }
  const uses = await discountQueries(sql).countUses(id, customerKeyOf(customerId));
  if (uses < uses_per_customer) {
    return null;
  }
  return uses_per_customer === 1
    ? 'this customer has used the code already'
    : `this customer has used the code ${uses_per_customer} times already`;
}

/**
 * Counts the use of a code by a new order, in its transaction, in which the order comes before the code.
 * @throws AppError validation if another order used it up meanwhile, or this customer has used it often enough
 */
export async function useDiscount(
  tx: Sql,
  { row }: UsableDiscount,
  orderId: number,
  customerId: number | null,
): Promise<void> {
  const queries = discountQueries(tx);
  if ((await queries.use(row)) === 0) {
    const current = await queries.find(row.code);
    throw codeError(
      current?.version === row.version ? usedUp.message : 'the code was changed at this moment: order again',
    );
  }
  // Counted again, because the code is locked now.
  const used = await customerRefusal(tx, row, customerId);
  if (used !== null) {
    throw codeError(used);
  }
  await queries.insertUse(orderId, row.id, customerId === null ? null : customerKeyOf(customerId));
}

/** Gives back the uses of cancelled orders. An order without one changes nothing. */
export async function giveBackUses(tx: Sql, orderIds: readonly number[]): Promise<void> {
  const uses = await discountQueries(tx).deleteUses(orderIds);
  if (uses.length > 0) {
    const counts = Map.groupBy(uses, ({ discount_id }) => discount_id);
    await discountQueries(tx).giveBack(new Map([...counts].map(([id, own]) => [id, own.length])));
  }
}

export type CodeUses = ReturnType<typeof codeUses>;

/** All uses, for a check of them and to count them again. */
export function codeUses(sql: Sql) {
  const queries = discountQueries(sql);
  return {
    listOf: queries.listUsesOf,
    listAfter: queries.listUsesAfter,
    listCreated: queries.listCreated,
    listWrongCounts: queries.listWrongCounts,
    countAgain: queries.countAgain,
    /** @param missing orders whose use is not counted @param excess orders whose use does not count */
    async replace(
      missing: readonly {
        readonly id: number;
        readonly code: string;
        readonly customer_id: number | null;
      }[],
      excess: readonly number[],
    ) {
      await queries.deleteUses(excess);
      await queries.insertUses(
        missing.map(({ id, code, customer_id }) => ({
          id,
          code,
          customer: customer_id === null ? null : customerKeyOf(customer_id),
        })),
      );
    },
  };
}

function codeError(message: string): AppError {
  return validationError([{ field: 'discountCode', message }]);
}

/** The amount of a code, as responses show it. */
export function shownValue({ kind, value }: Pick<DiscountRow, 'kind' | 'value'>): number | null {
  return value === null || kind === 'percent' ? value : dollars(value);
}
