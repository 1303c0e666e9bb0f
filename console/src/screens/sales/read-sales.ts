/** Reads what was sold in a range, and in the one before it. */
import type { Curd, Result } from '../../../../client/src/index.ts';
import { type Range, rangeBefore } from './range.ts';

/** Cheeses in the list of best sellers, which is the maximum. */
const cheesesMax = 100;
/** Categories in the list, which is the maximum. */
const categoriesMax = 1000;

/** A row of a table, with its values in the range before. */
export interface Part {
  readonly key: string;
  /** The name; null for cheeses without a category. */
  readonly name: string | null;
  /** Orders or kilograms. */
  readonly count: number;
  readonly value: number;
  /** Null if they are not known. */
  readonly before: { readonly count: number; readonly value: number } | null;
}

export interface Sum {
  readonly orders: number;
  readonly value: number;
  readonly newCustomers: number;
}

export interface Step {
  /** ISO 8601. */
  readonly at: string;
  readonly orders: number;
  readonly value: number;
  /** Null if the range before has fewer steps. */
  readonly ordersBefore: number | null;
  readonly valueBefore: number | null;
}

type Series = Result<'getStatisticsSeries'>['series'];

const none = { count: 0, value: 0 };

function toSteps(now: Series, before: Series): Step[] {
  const pointsOf = (series: Series, measure: 'orders.sold' | 'orders.placedValue') => series[measure] ?? [];
  const valueAt = (series: Series, measure: 'orders.sold' | 'orders.placedValue', step: number) => {
    const point = pointsOf(series, measure)[step];
    return point === undefined ? null : Number(point[1]);
  };
  return pointsOf(now, 'orders.sold').map(([at], step) => ({
    at: String(at),
    orders: valueAt(now, 'orders.sold', step) ?? 0,
    value: valueAt(now, 'orders.placedValue', step) ?? 0,
    ordersBefore: valueAt(before, 'orders.sold', step),
    valueBefore: valueAt(before, 'orders.placedValue', step),
  }));
}

type Customers = Result<'listSalesByCustomer'>;

function toSum({ items, total }: Pick<Customers, 'items' | 'total'>): Sum {
  return { ...total, newCustomers: items.find(({ customer }) => customer === 'new')?.orders ?? 0 };
}

interface Row {
  readonly key: string;
  readonly name: string | null;
  readonly count: number;
  readonly value: number;
}

/** @param isComplete whether a row that the list of before lacks had no sales */
function compare(rows: readonly Row[], rowsBefore: readonly Row[], isComplete: boolean): Part[] {
  const before = new Map(rowsBefore.map((row) => [row.key, row]));
  return rows.map((row) => ({ ...row, before: before.get(row.key) ?? (isComplete ? none : null) }));
}

export async function readSales(curd: Curd, range: Range, signal: AbortSignal) {
  const ranges = [range, rangeBefore(range)] as const;
  const options = { signal };
  const both = <T>(read: (range: Range) => PromiseLike<T>) =>
    Promise.all(ranges.map(read)) as Promise<[T, T]>;
  const [series, customers, countries, categories, cheeses] = await Promise.all([
    both(({ from, to, step }) =>
      curd.statistics.getSeries(
        { measures: ['orders.sold', 'orders.placedValue'], from, to, step, zone: 'UTC' },
        options,
      ),
    ),
    both(({ from, to }) => curd.statistics.listSalesByCustomer({ from, to }, options)),
    both(({ from, to }) => curd.statistics.listSalesByCountry({ from, to }, options)),
    both(({ from, to }) => curd.statistics.listSalesByCategory({ from, to, limit: categoriesMax }, options)),
    curd.statistics.listBestSellers({ from: range.from, to: range.to, limit: cheesesMax }, options),
  ]);
  const cheeseIds = cheeses.items.map(({ cheeseId }) => String(cheeseId));
  const { from, to } = ranges[1];
  const cheesesBefore =
    cheeseIds.length === 0
      ? []
      : (await curd.statistics.listBestSellers({ from, to, cheeseIds, limit: cheesesMax }, options)).items;
  const ofCheeses = (items: typeof cheeses.items): Row[] =>
    items.map(({ cheeseId, cheeseName, kilograms, value }) => ({
      key: String(cheeseId),
      name: cheeseName,
      count: kilograms,
      value,
    }));
  const ofCategories = ({ items }: Pick<(typeof categories)[0], 'items'>): Row[] =>
    items.map(({ category, kilograms, value }) => ({
      key: category === null ? '' : `category ${category}`,
      name: category,
      count: kilograms,
      value,
    }));
  const ofCountries = ({ items }: Pick<(typeof countries)[0], 'items'>): Row[] =>
    items.map(({ country, orders, value }) => ({ key: country, name: country, count: orders, value }));
  const ofCustomers = ({ items }: Pick<Customers, 'items'>): Row[] =>
    items.map(({ customer, orders, value }) => ({ key: customer, name: customer, count: orders, value }));
  return {
    sum: toSum(customers[0]),
    sumBefore: toSum(customers[1]),
    steps: toSteps(series[0].series, series[1].series),
    cheeses: compare(ofCheeses(cheeses.items), ofCheeses(cheesesBefore), true),
    categories: compare(
      ofCategories(categories[0]),
      ofCategories(categories[1]),
      categories[1].items.length < categoriesMax,
    ),
    countries: compare(ofCountries(countries[0]), ofCountries(countries[1]), true),
    customers: compare(ofCustomers(customers[0]), ofCustomers(customers[1]), true),
    isCounting: series[0].asOf === null,
  };
}

export type SalesOfRange = Awaited<ReturnType<typeof readSales>>;
