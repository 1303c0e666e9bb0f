import { useQuery } from '@tanstack/react-query';
import { useCurd } from '../../data/queries.ts';
import { firstDay, readSales, type Sales } from './supply.ts';

const refreshMs = 30_000;

/** Undefined while the shop does not say. */
export function useSales(cheeseIds: readonly number[]): Sales | undefined {
  const curd = useCurd();
  return useQuery({
    queryKey: ['statistics', 'sales', firstDay(), cheeseIds],
    enabled: cheeseIds.length > 0,
    // The server counts a few seconds after the event that makes this stale.
    refetchInterval: refreshMs,
    queryFn: ({ signal }) => readSales(curd, cheeseIds, signal),
  }).data;
}
