/** How long the available kilograms last at the pace of the last 28 days. */
import { useQuery } from '@tanstack/react-query';
import type { Curd, Stock } from '../../../../client/src/index.ts';
import { useCurd } from '../../queries.ts';

const dayMs = 86_400_000;
const averageDays = 28;
const refreshMs = 30_000;

export const isLow = ({ available, lowAt }: Pick<Stock, 'available' | 'lowAt'>): boolean =>
  lowAt !== null && available <= lowAt;

/** Days are counted as a whole, today as well. */
const firstDay = () => new Date(Date.now() - (averageDays - 1) * dayMs).toISOString().slice(0, 10);

/** Kilograms ordered in the last 28 days, by cheese. */
export async function readSales(
  curd: Curd,
  cheeseIds: readonly number[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  if (cheeseIds.length === 0) {
    return new Map();
  }
  const filters = { from: firstDay(), cheeseIds: cheeseIds.map(String), limit: 100 };
  const { items } = await curd.statistics.listBestSellers(filters, { signal });
  return new Map(items.map(({ cheeseId, kilograms }) => [cheeseId, kilograms]));
}

/** Undefined while the shop does not say. */
export function useSales(cheeseIds: readonly number[]): ReadonlyMap<number, number> | undefined {
  const curd = useCurd();
  return useQuery({
    queryKey: ['statistics', 'sales', firstDay(), cheeseIds],
    enabled: cheeseIds.length > 0,
    // The server counts a few seconds after the event that makes this stale.
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => readSales(curd, cheeseIds, signal),
  }).data;
}

/** "12 days", "no sales", or "-" while the sales are not known. */
export function showSupply(available: number, sold: number | undefined, isKnown: boolean): string {
  if (!isKnown) {
    return '-';
  }
  if (sold === undefined || sold <= 0) {
    return 'no sales';
  }
  const days = Math.floor(Math.max(0, available) / (sold / averageDays));
  return days === 1 ? '1 day' : `${days} days`;
}
