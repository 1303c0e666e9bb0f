/**
 * What orders are worth, in total and of each cheese, the country to which they go, and who ordered: for statistics. None of
 * it ever changes, also when the customer is deleted.
 */

import { tryParseJson } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { wholeCents } from '../decimal.ts';
import { gramsByCheese } from './order.ts';
import { totalCents } from './pricing/lines.ts';
import type { Breakdown } from './pricing/schemas.ts';
import { split } from './pricing/shares.ts';
import { firstRealId, orderQueries } from './queries.ts';
import type { OrderItem, ShippingAddress } from './schemas.ts';

/** Who ordered: a customer for the first time, a customer again, or a key or an application without a customer. */
export const customerKinds = ['new', 'returning', 'none'] as const;
export type CustomerKind = (typeof customerKinds)[number];

export interface OrderValue {
  readonly createdAt: string;
  /** What the goods cost after the discount. */
  readonly cents: number;
  /** Country of the shipping address, ISO 3166-1. */
  readonly country: string;
  readonly customer: CustomerKind;
  /** Parses the lines of the order. */
  cheeses(): readonly CheeseOfOrder[];
}

/** All lines of an order with one cheese. */
export interface CheeseOfOrder {
  readonly cheeseId: number;
  /** The cheese's name on the order. */
  readonly name: string;
  readonly grams: number;
  /** What they cost after the discount, rounded once: so the sum over the cheeses can differ from that of the order by some cents. */
  readonly cents: number;
}

/** Reads the values of orders, by their ids. */
export async function readOrderValues(
  sql: Sql,
  ids: readonly number[],
): Promise<ReadonlyMap<number, OrderValue>> {
  const rows = ids.length === 0 ? [] : await orderQueries(sql).listSold(ids);
  return new Map(
    rows.map(({ id, items, address, goods_cents, breakdown, created_at, is_first }) => [
      id,
      {
        createdAt: created_at,
        cents: goods_cents,
        country: tryParseJson<Partial<ShippingAddress>>(address)?.country ?? '',
        customer: is_first === null ? 'none' : is_first === 1 ? 'new' : 'returning',
        cheeses: () => cheesesOfLines(tryParseJson(items) ?? [], discountOf(breakdown)),
      },
    ]),
  );
}

function discountOf(breakdown: string | null): number {
  return wholeCents(tryParseJson<Breakdown>(breakdown ?? '{}')?.discount?.amount ?? 0);
}

/** @param discount of the order, in cents, which is split over its cheeses */
function cheesesOfLines(lines: readonly OrderItem[], discount: number): CheeseOfOrder[] {
  const linesOf = Map.groupBy(lines, ({ cheeseId }) => cheeseId);
  const cheeses = [...gramsByCheese(lines)].map(([cheeseId, grams]) => {
    const own = linesOf.get(cheeseId) ?? [];
    return { cheeseId, name: own[0]?.cheeseName ?? '', grams, cents: totalCents(own) };
  });
  if (discount === 0) {
    return cheeses;
  }
  const sum = cheeses.reduce((total, { cents }) => total + cents, 0);
  const parts = split(
    Math.min(discount, sum),
    cheeses.map(({ cents }) => cents),
  );
  return cheeses.map((cheese, index) => ({ ...cheese, cents: cheese.cents - (parts[index] ?? 0) }));
}

/** The order of a subject of events; null for a test order. */
export function findRealOrder(subject: string): number | null {
  const id = Number(subject.slice('order:'.length));
  return id >= firstRealId ? id : null;
}
