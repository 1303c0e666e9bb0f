/** A series of 400 days in a shop with orders in every quarter of an hour. */
import { performance } from 'node:perf_hooks';
import type { ComposedShop } from '../src/app/compose.ts';

const days = 400;
const quartersADay = 96;
const rounds = 20;
const from = Date.UTC(2025, 0, 1);

/** Milliseconds of a series with a point for each day. */
export async function benchSeries({
  database,
  statistics: { service: statistics },
}: ComposedShop): Promise<number> {
  const rows = Array.from({ length: days * quartersADay }, (_, index) => [
    'orders.placed',
    new Date(from + index * 15 * 60_000).toISOString().slice(0, 16),
    1 + (index % 50),
  ]);
  await database.transaction((tx) => tx.insert('statistic', ['measure', 'quarter', 'value'], rows));
  const query = {
    measures: ['orders.placed'],
    from: '2025-01-01',
    to: new Date(from + days * 24 * 60 * 60_000).toISOString().slice(0, 10),
    step: 'day',
    zone: 'Europe/Zurich',
  } as const;
  await statistics.readSeries(query);
  const startedAt = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    await statistics.readSeries(query);
  }
  return (performance.now() - startedAt) / rounds;
}
