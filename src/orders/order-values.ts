/** What orders are worth, in total and of each cheese: for statistics. These columns of an order never change. */

import { tryParseJson } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { totalCents } from './money.ts';
import { kilogramsByCheese } from './order.ts';
import { firstRealId, orderQueries } from './queries.ts';
import type { OrderItem } from './schemas.ts';

export interface OrderValue {
  readonly createdAt: string;
  readonly cents: number;
  /** Parses the lines of the order. */
  cheeses(): readonly CheeseOfOrder[];
}

/** All lines of an order with one cheese. */
export interface CheeseOfOrder {
  readonly cheeseId: number;
  /** The cheese's name on the order. */
  readonly name: string;
  readonly kilograms: number;
  /** Rounded once, so the sum over the cheeses can differ from the total of the order by some cents. */
  readonly cents: number;
}

/** Reads the values of orders, by their ids. */
export async function readOrderValues(
  sql: Sql,
  ids: readonly number[],
): Promise<ReadonlyMap<number, OrderValue>> {
  const rows = ids.length === 0 ? [] : await orderQueries(sql).listValues(ids);
  return new Map(
    rows.map(({ id, items, total_cents, created_at }) => [
      id,
      { createdAt: created_at, cents: total_cents, cheeses: () => cheesesOfLines(tryParseJson(items) ?? []) },
    ]),
  );
}

function cheesesOfLines(lines: readonly OrderItem[]): CheeseOfOrder[] {
  const linesOf = Map.groupBy(lines, ({ cheeseId }) => cheeseId);
  return [...kilogramsByCheese(lines)].map(([cheeseId, kilograms]) => {
    const own = linesOf.get(cheeseId) ?? [];
    return { cheeseId, name: own[0]?.cheeseName ?? '', kilograms, cents: totalCents(own) };
  });
}

/** The order of a subject of events; null for a test order. */
export function realOrderOf(subject: string): number | null {
  const id = Number(subject.slice('order:'.length));
  return id >= firstRealId ? id : null;
}
