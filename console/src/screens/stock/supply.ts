/** How long the available kilograms last at the pace of the last 28 days, or of the days of a younger shop. */
import type { Curd, Stock } from '../../../../client/src/index.ts';

const dayMs = 86_400_000;
const averageDays = 28;
/** Fewer orders say nothing about a pace. */
const ordersMin = 3;
const shownDaysMax = 365;

export const isSoldOut = ({ available }: Pick<Stock, 'available'>): boolean => available <= 0;

export const isLow = (stock: Pick<Stock, 'available' | 'lowAt'>): boolean =>
  stock.lowAt !== null && stock.available <= stock.lowAt;

/** Days are counted as a whole, today as well. */
const daysAgo = (days: number, now: number) => new Date(now - days * dayMs).toISOString().slice(0, 10);

export const firstDay = (now = Date.now()): string => daysAgo(averageDays - 1, now);

export interface Sales {
  /** How many days the sales are of. */
  readonly days: number;
  readonly byCheese: ReadonlyMap<number, { readonly orders: number; readonly kilograms: number }>;
}

/** What was ordered in the last 28 days, by cheese. */
export async function readSales(
  curd: Curd,
  cheeseIds: readonly number[],
  signal?: AbortSignal,
): Promise<Sales> {
  if (cheeseIds.length === 0) {
    return { days: 1, byCheese: new Map() };
  }
  const filters = { from: firstDay(), cheeseIds: cheeseIds.map(String), limit: 100 };
  const { items, since } = await curd.statistics.listBestSellers(filters, { signal });
  return { days: countAveragedDays(since), byCheese: new Map(items.map((item) => [item.cheeseId, item])) };
}

/** @param since the first day of which orders are counted; null without one */
export function countAveragedDays(since: string | null, now = Date.now()): number {
  const age = since === null ? 1 : Math.round((Date.parse(daysAgo(0, now)) - Date.parse(since)) / dayMs) + 1;
  return Math.min(averageDays, Math.max(1, age));
}

/** "12 days", "no sales", "few sales", or "-" while the sales are not known. */
export function showSupply(available: number, cheeseId: number, sales: Sales | undefined | null): string {
  if (sales === undefined || sales === null) {
    return '-';
  }
  const { orders, kilograms } = sales.byCheese.get(cheeseId) ?? { orders: 0, kilograms: 0 };
  if (orders < ordersMin) {
    return orders === 0 ? 'no sales' : 'few sales';
  }
  const days = Math.floor(Math.max(0, available) / (kilograms / sales.days));
  return days > shownDaysMax ? 'over a year' : days === 1 ? '1 day' : `${days} days`;
}
