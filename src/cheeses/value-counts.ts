/** Numbers of cheeses in ranges of prices and ages, from counters. */
import type { Database } from '../database/database.ts';
import type { Filters } from './list-query.ts';
import { listingQueries } from './listing-queries.ts';
import { bandOf, nextBelow, pricesOf } from './price-bands.ts';
import type { Status } from './schemas.ts';
import type { ValueColumn, ValueRange, ValueRanges } from './sort-segments.ts';

/** A number of cheeses: exactly `inside` and those in the ranges of `edges`. */
export interface RangeCount {
  readonly inside: number;
  readonly edges: readonly ValueRange[];
  readonly atMost: number;
  /** As if the prices of a band were evenly distributed. */
  readonly expected: number;
}

/** Returns a function that counts the cheeses with a value in a range. */
export function createValueCounts(database: Database) {
  const queries = listingQueries(database);
  let counters: { readonly version: number; readonly counts: Map<string, number> } | undefined;

  async function read(version: number): Promise<Map<string, number>> {
    if (counters?.version !== version) {
      const rows = await queries.listValueCounters();
      const counts = new Map(rows.map((row) => [`${row.kind} ${row.name} ${row.status}`, row.cheeses]));
      counters = { version, counts };
    }
    return counters.counts;
  }

  return async (
    column: ValueColumn,
    { min, max }: ValueRange,
    statuses: readonly Status[],
    version: number,
  ): Promise<RangeCount> => {
    const counts = await read(version);
    const [kind, cellOf] = column === 'price' ? ['price_band', bandOf] : ['age', (age: number) => age];
    const countOf = (cell: number) =>
      statuses.reduce((sum, status) => sum + (counts.get(`${kind} ${cell} ${status}`) ?? 0), 0);
    const [first, last] = [cellOf(min), cellOf(max)];
    let inside = 0;
    let atMost = 0;
    let expected = 0;
    const edges: ValueRange[] = [];
    for (let cell = first; cell <= last; cell += 1) {
      const cheeses = countOf(cell);
      atMost += cheeses;
      const edge = column === 'price' ? edgeOf(cell, { min, max }) : null;
      if (edge === null || cheeses === 0) {
        inside += cheeses;
        expected += cheeses;
      } else {
        const { from, below } = pricesOf(cell);
        edges.push(edge);
        expected += cheeses * Math.min(1, (edge.max - edge.min) / (below - from));
      }
    }
    return { inside, edges, atMost, expected };
  };
}

/** The part of a band that a range contains; null if it contains the whole band. */
function edgeOf(band: number, { min, max }: ValueRange): ValueRange | null {
  const { from, below } = pricesOf(band);
  const highest = Math.min(nextBelow(below), priceMax);
  return min <= from && max >= highest ? null : { min: Math.max(min, from), max: Math.min(max, highest) };
}

const priceMax = 1_000_000;
const ageMax = 120;

/** The ranges that the filters describe. */
export function rangesOf({ minPrice, maxPrice, minAge, maxAge }: Filters): ValueRanges {
  const isPriced = minPrice !== undefined || maxPrice !== undefined;
  const isAged = minAge !== undefined || maxAge !== undefined;
  return {
    ...(isPriced ? { price: { min: minPrice ?? 0, max: maxPrice ?? priceMax } } : {}),
    ...(isAged ? { age: { min: minAge ?? 0, max: maxAge ?? ageMax } } : {}),
  };
}
