/**
 * Prices of a cheese in the past. Article 6a of Directive 98/6/EC: who announces a price reduction shows the lowest price
 * of the 30 days before it, and calculates percentages from that price (Court of Justice of the EU, C-330/23).
 */
import { type Clock, timestamp } from '../../clock.ts';
import { type Cursors, requireSameQuery } from '../../cursor.ts';
import type { Database } from '../../database/database.ts';
import { digitsAt, toDecimal } from '../../decimal.ts';
import type { CheeseService } from '../service.ts';
import { type PriceRow, priceQueries } from './queries.ts';
import type { CheesePriceList, PriceReduction } from './schemas.ts';

export const windowMs = 30 * 86_400_000;

export type PriceReader = ReturnType<typeof createPriceReader>;

/** What a cursor contains. */
interface Position {
  readonly cheeseId: number;
  /** When the last price of the page began, which is when the next one ended. */
  readonly before: string;
}

/** Prices that follow each other differ, so one of the two before the current price is not null. */
const newestForReduction = 3;

export function createPriceReader(
  database: Database,
  clock: Clock,
  cheeses: Pick<CheeseService, 'find'>,
  cursors: Cursors,
) {
  const queries = priceQueries(database);

  function positionOf(cheeseId: number, cursor: string | undefined): Position | undefined {
    if (cursor === undefined) {
      return undefined;
    }
    const position = cursors.decode(cursor) as Position;
    requireSameQuery(position, { cheeseId }, {});
    return position;
  }

  /** The lowest price of the 30 days that end at a time. @param last when the last price that counts began */
  function findLowest(cheeseId: number, end: number, last: string): Promise<number | null> {
    return queries.findLowest(cheeseId, timestamp(end - windowMs), last);
  }

  /** @param newest prices, the newest first */
  async function findReduction(
    cheeseId: number,
    [current, ...before]: readonly PriceRow[],
  ): Promise<PriceReduction | null> {
    const [previous] = before;
    const given = before.find(({ price }) => price !== null)?.price ?? null;
    if (!current || !previous || current.price === null || given === null || current.price >= given) {
      return null;
    }
    const { since, price } = current;
    const priorPrice = await findLowest(cheeseId, Date.parse(since), previous.since);
    return priorPrice === null ? null : { since, priorPrice, percent: percentOff(priorPrice, price) };
  }

  return {
    /** @throws AppError notFound; badRequest when the cursor belongs to another cheese */
    async list(
      cheeseId: number,
      { cursor, limit }: { readonly cursor?: string; readonly limit: number },
    ): Promise<CheesePriceList> {
      const place = positionOf(cheeseId, cursor);
      await cheeses.find(cheeseId);
      // All that is read later is of these prices or older: a change meanwhile is in the next response.
      const newest = await queries.list(cheeseId, undefined, Math.max(newestForReduction, limit + 1));
      const [current] = newest;
      const [rows, lowest30Days, reduction] = await Promise.all([
        place === undefined ? newest : queries.list(cheeseId, place.before, limit + 1),
        current === undefined ? null : findLowest(cheeseId, clock.now(), current.since),
        findReduction(cheeseId, newest),
      ]);
      const { page, ...end } = cursors.page(
        rows,
        limit,
        ({ since }): Position => ({ cheeseId, before: since }),
      );
      return {
        items: page.map(({ since, price }, index) => ({
          pricePerKg: price,
          from: since,
          until: page[index - 1]?.since ?? place?.before ?? null,
        })),
        lowest30Days,
        reduction,
        ...end,
      };
    },
  };
}

/** The percentage by which a price is below the one before, rounded down; null if it is not below it. */
export function percentOff(before: number, price: number): number | null {
  if (price >= before) {
    return null;
  }
  const decimals = [toDecimal(before), toDecimal(price)] as const;
  const scale = Math.max(...decimals.map((decimal) => decimal.scale));
  const [high, low] = [digitsAt(scale, decimals[0]), digitsAt(scale, decimals[1])];
  return Number(((high - low) * 100n) / high);
}
