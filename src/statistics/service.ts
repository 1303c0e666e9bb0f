/** Reads statistics: series of measures, and the cheeses that sold best. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { XStatic } from 'typebox/schema';
import { forEachBlock } from '../blocks.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Database, Sql } from '../database/database.ts';
import { dollars, gramsToKilograms } from '../decimal.ts';
import { readLogState } from '../event-log/reading/log-reader.ts';
import { positionAt } from '../event-log/reading/positions.ts';
import { isMoney, type Measure } from './measures.ts';
import { listBoundaries, parseDays, type SeriesStep } from './periods.ts';
import { type CheeseSum, statisticsQueries } from './queries.ts';
import type { BestSellerList } from './schemas.ts';

/** Periods of one statement: 100 weeks or 20 months have 67,200 quarters at most, which SQLite adds up in some milliseconds. */
const periodsMax = { hour: 100, day: 100, week: 100, month: 20 } as const;
/** Rows of one statement, which SQLite reads in 1.4 ms. 5000 took 5 ms, and 13 ms on a busy machine. */
const cheeseDaysMax = 2000;
/** Cheeses of one statement: 400 days of five cheeses are 1.1 ms on SQLite. */
const idsMax = 5;

export interface SeriesQuery {
  readonly measures: readonly Measure[];
  readonly from: string;
  readonly to?: string | undefined;
  readonly step: SeriesStep;
  readonly zone: string;
}

export interface Series {
  readonly from: string;
  readonly to: string;
  readonly step: SeriesStep;
  readonly zone: string;
  readonly series: Readonly<Partial<Record<Measure, readonly (readonly [start: string, value: number])[]>>>;
  /** The last event that is counted; null while counting begins. */
  readonly asOf: string | null;
}

export interface BestSellerQuery {
  readonly from: string;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cheeseIds?: readonly number[] | undefined;
}

export type BestSellers = XStatic<typeof BestSellerList>;

export type StatisticsService = ReturnType<typeof createStatisticsService>;

export function createStatisticsService(database: Database, clock: Clock) {
  const now = () => timestamp(clock.now());
  return {
    /** @throws AppError badRequest for an empty period, and one with too many steps */
    async readSeries({ measures, from, to = now(), step, zone }: SeriesQuery): Promise<Series> {
      const boundaries = listBoundaries({ from, to, zone }, step);
      const starts = boundaries.slice(0, -1);
      // Rounded to the minute, like the stored quarters.
      const periods = starts.map((start, index) => ({
        index,
        from: start.slice(0, 16),
        to: (boundaries[index + 1] ?? '').slice(0, 16),
      }));
      // One snapshot: all values are of the same position.
      return database.snapshot(async (snapshot) => {
        const series: Partial<Record<Measure, [string, number][]>> = {};
        for (const measure of measures) {
          const points = starts.map((start): [string, number] => [start, 0]);
          await forEachBlock(periods, periodsMax[step], async (block) => {
            for (const { period, total } of await statisticsQueries(snapshot).sumFigures(measure, block)) {
              const point = points[period];
              if (point !== undefined && total !== null) {
                point[1] = isMoney(measure) ? dollars(total) : total;
              }
            }
          });
          series[measure] = points;
        }
        const ends = { from: boundaries[0] ?? '', to: boundaries.at(-1) ?? '' };
        return { ...ends, step, zone, series, asOf: await readAsOf(snapshot) };
      });
    },

    /** Those of the cheeses that were ordered, also if the orders were cancelled, some seconds ago or before. */
    async listOrdered(tx: Sql, cheeseIds: readonly number[]): Promise<number[]> {
      const rows = await statisticsQueries(tx).listCounted(cheeseIds);
      return rows.map(({ cheese_id }) => cheese_id);
    },

    /** @throws AppError badRequest for an empty period */
    async listBestSellers({ from, to = now(), limit, cheeseIds }: BestSellerQuery): Promise<BestSellers> {
      const [first, before] = parseDays(from, to);
      return database.snapshot(async (snapshot) => {
        const sums =
          cheeseIds === undefined
            ? await sumAllCheeses(snapshot, first, before)
            : await sumSome(snapshot, cheeseIds, first, before);
        const best = sums
          .filter(({ orders }) => orders > 0)
          .sort((a, b) => b.cents - a.cents || a.cheese_id - b.cheese_id)
          .slice(0, limit);
        const ids = best.map(({ cheese_id }) => cheese_id);
        const names = ids.length === 0 ? [] : await statisticsQueries(snapshot).listNames(ids, before);
        const nameOf = new Map(names.map(({ cheese_id, name }) => [cheese_id, name]));
        const items = best.map(({ cheese_id, orders, grams, cents }) => ({
          cheeseId: cheese_id,
          cheeseName: nameOf.get(cheese_id) ?? '',
          orders,
          kilograms: gramsToKilograms(grams),
          value: dollars(cents),
        }));
        const since = await statisticsQueries(snapshot).findFirstDay();
        return { items, since, asOf: await readAsOf(snapshot) };
      });
    },
  };
}

/** The last event that is counted; null while counting begins. */
export async function readAsOf(sql: Sql): Promise<string | null> {
  const position = await statisticsQueries(sql).findPosition();
  if (position === undefined || position.history_id !== null) {
    return null;
  }
  return positionAt(position.sequence, (await readLogState(sql)).epochs);
}

/** The sums of all cheeses of a period. Rows are read in blocks, because one statement over a year would block other requests. */
export async function sumAllCheeses(sql: Sql, from: string, before: string): Promise<CheeseSum[]> {
  const sums = new Map<number, { -readonly [K in keyof CheeseSum]: CheeseSum[K] }>();
  let after: readonly [string, number] | null = [from, 0];
  while (after !== null) {
    const rows: readonly (CheeseSum & { readonly day: string })[] = await statisticsQueries(
      sql,
    ).listCheeseDays(after, before, cheeseDaysMax);
    for (const { cheese_id, orders, grams, cents } of rows) {
      const sum = sums.get(cheese_id);
      if (sum === undefined) {
        sums.set(cheese_id, { cheese_id, orders, grams, cents });
      } else {
        sum.orders += orders;
        sum.grams += grams;
        sum.cents += cents;
      }
    }
    const last = rows.at(-1);
    after = last === undefined || rows.length < cheeseDaysMax ? null : [last.day, last.cheese_id];
    await nextTurn();
  }
  return [...sums.values()];
}

async function sumSome(
  sql: Sql,
  cheeseIds: readonly number[],
  from: string,
  before: string,
): Promise<CheeseSum[]> {
  const sums: CheeseSum[] = [];
  await forEachBlock(cheeseIds, idsMax, async (ids) => {
    sums.push(...(await statisticsQueries(sql).sumCheeses(ids, from, before)));
  });
  return sums;
}
