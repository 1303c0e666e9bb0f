/** Figures of some events, before they are added to the stored ones. */
import type { TimedHeadRow } from '../event-log/reading/log-reader.ts';
import type { OrderValue } from '../orders/order-values.ts';
import { findMeasure, type Measure, toQuarterHour, toUtcDay } from './measures.ts';
import type { CheeseDayRow, FigureRow, SaleKey, SaleRow } from './queries.ts';

/** The name is empty if only cancellations were counted. */
type CheeseDay = { -readonly [Column in keyof CheeseDayRow]: CheeseDayRow[Column] };

/** The key of a cheese on a day. */
export function cheeseDayKey(day: string, cheeseId: number): string {
  return `${day} ${cheeseId}`;
}

/** The key of the orders of a country and a kind of customer on a day. */
export function saleKey({ day, country, customer }: SaleKey): string {
  return `${day} ${country} ${customer}`;
}

export type Tally = ReturnType<typeof createTally>;

export function createTally() {
  const figures = new Map<Measure, Map<string, number>>();
  const cheeses = new Map<string, CheeseDay>();
  const sales = new Map<string, SaleRow>();
  return {
    /** Values by measure and quarter. */
    figures,
    /** Keys are day and id. */
    cheeses,
    /** Keys are day, country and kind of customer. */
    sales,
    add(measure: Measure, time: string, value: number) {
      const quarter = toQuarterHour(time);
      const values = figures.get(measure) ?? new Map<string, number>();
      values.set(quarter, (values.get(quarter) ?? 0) + value);
      figures.set(measure, values);
    },
    /** Adds what was ordered. @param sign 1 for a placement, -1 for a cancellation */
    addOrder(order: OrderValue, sign: 1 | -1) {
      const day = toUtcDay(order.createdAt);
      const { country, customer } = order;
      const sale = { day, country, customer };
      const { orders, cents } = sales.get(saleKey(sale)) ?? { orders: 0, cents: 0 };
      sales.set(saleKey(sale), { ...sale, orders: orders + sign, cents: cents + sign * order.cents });
      for (const { cheeseId, name, grams, cents } of order.cheeses()) {
        const key = cheeseDayKey(day, cheeseId);
        const row = cheeses.get(key) ?? { day, cheeseId, name: '', orders: 0, grams: 0, cents: 0 };
        row.name = sign === 1 ? name : row.name;
        row.orders += sign;
        row.grams += sign * grams;
        row.cents += sign * cents;
        cheeses.set(key, row);
      }
    },
    // Sorted by the primary keys, which is the cheapest to write.
    figureRows: (): FigureRow[] =>
      [...figures]
        .flatMap(([measure, values]) =>
          [...values].map(([quarter, value]): FigureRow => ({ measure, quarter, value })),
        )
        .sort((a, b) => compare(a.measure, b.measure) || compare(a.quarter, b.quarter)),
    cheeseRows: (): CheeseDayRow[] =>
      [...cheeses.values()].sort((a, b) => compare(a.day, b.day) || a.cheeseId - b.cheeseId),
    saleRows: (): SaleRow[] => [...sales.values()].sort((a, b) => compare(saleKey(a), saleKey(b))),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether an event of a type adds values of its order. */
export function needsOrder(type: string): boolean {
  return type === 'order.placed' || type === 'order.cancelled' || type === 'order.delivered';
}

/**
 * Adds an event. A cancellation also subtracts the order from the time of its placement, so what was placed is what
 * remains of it.
 * @param order undefined for events that need none
 */
export function addHead(
  tally: Tally,
  { type, created_at }: Pick<TimedHeadRow, 'type' | 'created_at'>,
  order: OrderValue | undefined,
): void {
  const measure = findMeasure(type);
  if (measure === undefined) {
    return;
  }
  tally.add(measure, created_at, 1);
  if (order === undefined) {
    return;
  }
  if (type === 'order.placed') {
    tally.add('orders.sold', order.createdAt, 1);
    tally.add('orders.placedValue', order.createdAt, order.cents);
    tally.addOrder(order, 1);
  } else if (type === 'order.cancelled') {
    tally.add('orders.sold', order.createdAt, -1);
    tally.add('orders.placedValue', order.createdAt, -order.cents);
    tally.addOrder(order, -1);
  } else if (type === 'order.delivered') {
    tally.add('orders.deliveredValue', created_at, order.cents);
  }
}
