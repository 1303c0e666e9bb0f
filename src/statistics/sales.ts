/**
 * What was sold in a period of days in UTC, by category, country and customer: of the orders that were placed, without
 * those that were cancelled since.
 *
 * Countries and customers are counted with the value of an order: its event names neither, but the order keeps its
 * country and whether it was the first of its customer, also when the customer is deleted. Categories are not counted:
 * cheeses are, and each belongs to the category that it has now. So a cheese that moves takes its past with it, and two
 * periods can be compared.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachBlock } from '../blocks.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Database, Sql } from '../database/database.ts';
import { dollars, gramsToKilograms } from '../decimal.ts';
import { customerKinds } from '../orders/order-values.ts';
import { parseSalesDays } from './periods.ts';
import { type SaleKey, type SaleRow, statisticsQueries } from './queries.ts';
import { readAsOf, sumAllCheeses } from './service.ts';

/** Rows of one statement: like those of cheeses. */
const rowsMax = 2000;
/** Cheeses whose categories are read by one statement. */
const cheesesMax = 500;

export interface SalesQuery {
  readonly from: string;
  readonly to?: string | undefined;
}

interface Sales<Item, Total> {
  readonly items: readonly Item[];
  /** The sum of all items, also of those that the list does not have. */
  readonly total: Total;
  /** The last event that is counted; null while counting begins. */
  readonly asOf: string | null;
}

interface Turnover {
  readonly orders: number;
  readonly value: number;
}

interface Sum {
  /** Orders or grams. */
  count: number;
  cents: number;
}

/** @throws AppError badRequest for an empty period, and for one with too many days */
export type SalesReader = ReturnType<typeof createSalesReader>;

export function createSalesReader(
  database: Database,
  clock: Clock,
  cheeses: Pick<CheeseService, 'listCategories'>,
) {
  const daysOf = ({ from, to = timestamp(clock.now()) }: SalesQuery) => parseSalesDays(from, to);

  return {
    /** The largest value first. Cheeses without a category, and deleted ones, have the category null. */
    listByCategory(query: SalesQuery & { readonly limit: number }) {
      const [first, before] = daysOf(query);
      return database.snapshot(async (snapshot) => {
        const sums = await sumAllCheeses(snapshot, first, before);
        const byCategory = new Map<string | null, Sum>();
        await forEachBlock(sums, cheesesMax, async (block) => {
          const ids = block.map(({ cheese_id }) => cheese_id);
          const categories = await cheeses.listCategories(snapshot, ids);
          for (const { cheese_id, grams, cents } of block) {
            add(byCategory, categories.get(cheese_id) ?? null, grams, cents);
          }
        });
        const items = ranked(byCategory).map(([category, { count, cents }]) => ({
          category,
          kilograms: gramsToKilograms(count),
          value: dollars(cents),
        }));
        const total = totalOf(byCategory);
        return {
          items: items.slice(0, query.limit),
          total: { kilograms: gramsToKilograms(total.count), value: dollars(total.cents) },
          asOf: await readAsOf(snapshot),
        };
      });
    },

    /** The largest value first. */
    listByCountry(query: SalesQuery): Promise<Sales<Turnover & { readonly country: string }, Turnover>> {
      const [first, before] = daysOf(query);
      return database.snapshot(async (snapshot) => {
        const sums = await sumSales(snapshot, first, before, ({ country }) => country);
        return {
          items: ranked(sums).map(([country, sum]) => ({ country, ...turnoverOf(sum) })),
          total: turnoverOf(totalOf(sums)),
          asOf: await readAsOf(snapshot),
        };
      });
    },

    /** Each kind of customer, also without orders. */
    listByCustomer(query: SalesQuery) {
      const [first, before] = daysOf(query);
      return database.snapshot(async (snapshot) => {
        const sums = await sumSales(snapshot, first, before, ({ customer }) => customer);
        return {
          items: customerKinds.map((customer) => ({
            customer,
            ...turnoverOf(sums.get(customer) ?? { count: 0, cents: 0 }),
          })),
          total: turnoverOf(totalOf(sums)),
          asOf: await readAsOf(snapshot),
        };
      });
    },
  };
}

const turnoverOf = ({ count, cents }: Sum): Turnover => ({ orders: count, value: dollars(cents) });

function add<Key>(sums: Map<Key, Sum>, key: Key, count: number, cents: number): void {
  const sum = sums.get(key) ?? { count: 0, cents: 0 };
  sums.set(key, sum);
  sum.count += count;
  sum.cents += cents;
}

/** Rows are read in blocks, because one statement over ten years would block other requests. */
async function sumSales<Key>(
  sql: Sql,
  first: string,
  before: string,
  keyOf: (row: SaleRow) => Key,
): Promise<Map<Key, Sum>> {
  const sums = new Map<Key, Sum>();
  let after: SaleKey = { day: first, country: '', customer: '' };
  for (let isLast = false; !isLast; ) {
    const rows: readonly SaleRow[] = await statisticsQueries(sql).listSales(after, before, rowsMax);
    for (const row of rows) {
      add(sums, keyOf(row), row.orders, row.cents);
    }
    after = rows.at(-1) ?? after;
    isLast = rows.length < rowsMax;
    await nextTurn();
  }
  return sums;
}

/** Sums with orders that are left, the largest value first. */
function ranked<Key extends string | null>(sums: ReadonlyMap<Key, Sum>): [Key, Sum][] {
  return [...sums]
    .filter(([, { count }]) => count > 0)
    .sort(([a, one], [b, other]) => other.cents - one.cents || ((a ?? '') < (b ?? '') ? -1 : 1));
}

function totalOf(sums: ReadonlyMap<unknown, Sum>): Sum {
  const total = { count: 0, cents: 0 };
  for (const { count, cents } of sums.values()) {
    total.count += count;
    total.cents += cents;
  }
  return total;
}
