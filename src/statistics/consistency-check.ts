/** Compares statistics with the stored events and orders, up to the last event that is counted. */

import { commandName } from '../command-name.ts';
import { type Finding, Findings } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { gramsToKilograms } from '../decimal.ts';
import { readLogState } from '../event-log/reading/log-reader.ts';
import { firstQuarterOfCustomers, tallyAll } from './counting.ts';
import type { Measure } from './measures.ts';
import { type SaleKey, type SaleRow, statisticsQueries } from './queries.ts';
import { cheeseDayKey, saleKey, type Tally } from './tally.ts';

const pageSize = 5000;
const countAgain = `run "${commandName} doctor --repair", which counts again`;

/**
 * @param database a snapshot, because events are counted meanwhile
 * @param onProgress receives the row of the event that was read last, and the last row
 */
export async function checkStatistics(
  database: Sql,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Finding[]> {
  const positions = new Findings('position of statistics after the last event of the log', countAgain);
  const figures = new Findings('statistics that differ from the events', countAgain);
  const cheeses = new Findings('statistics of cheeses that differ from the orders', countAgain);
  const sales = new Findings('statistics of countries and customers that differ from the orders', countAgain);
  const position = await statisticsQueries(database).findPosition();
  if (position === undefined || position.history_id !== null) {
    // A server has not counted everything yet.
    return [];
  }
  const { last } = await readLogState(database);
  if (position.sequence > last) {
    positions.add(`${position.sequence} instead of ${last} at most`);
  }
  const customersFrom = await firstQuarterOfCustomers(database);
  const expected = await tallyAll(database, position.sequence, customersFrom, onProgress);
  await compareFigures(database, expected, customersFrom, figures);
  await compareCheeses(database, expected, cheeses);
  await compareSales(database, expected, sales);
  return [positions, figures, cheeses, sales].flatMap((findings) => findings.found());
}

async function compareFigures(
  database: Sql,
  expected: Tally,
  customersFrom: string,
  figures: Findings,
): Promise<void> {
  const missing = new Map([...expected.figures].map(([measure, values]) => [measure, new Map(values)]));
  let after: readonly [string, string] | null = ['', ''];
  while (after !== null) {
    const rows: readonly { measure: string; quarter: string; value: number }[] = await statisticsQueries(
      database,
    ).listFigures(after, pageSize);
    for (const { measure, quarter, value } of rows) {
      const values = missing.get(measure as Measure);
      const right = values?.get(quarter) ?? 0;
      values?.delete(quarter);
      const isKept = measure.startsWith('customers.') && quarter < customersFrom;
      if (value !== right && !isKept) {
        figures.add(`${measure}, ${quarter}: ${value} instead of ${right}`);
      }
    }
    const last = rows.at(-1);
    after = last === undefined || rows.length < pageSize ? null : [last.measure, last.quarter];
  }
  for (const [measure, values] of missing) {
    for (const [quarter, right] of values) {
      if (right !== 0) {
        figures.add(`${measure}, ${quarter}: nothing instead of ${right}`);
      }
    }
  }
}

async function compareCheeses(database: Sql, expected: Tally, cheeses: Findings): Promise<void> {
  const missing = new Map(expected.cheeses);
  let after: readonly [string, number] | null = ['', 0];
  while (after !== null) {
    const rows = await statisticsQueries(database).listCheeseDays(after, '9999', pageSize);
    for (const { day, cheese_id, orders, grams, cents } of rows) {
      const key = cheeseDayKey(day, cheese_id);
      const right = missing.get(key) ?? { orders: 0, grams: 0, cents: 0 };
      missing.delete(key);
      if (orders !== right.orders || grams !== right.grams || cents !== right.cents) {
        cheeses.add(
          `cheese ${cheese_id}, ${day}: ${gramsToKilograms(grams)} kg instead of ${gramsToKilograms(right.grams)} kg, or another value`,
        );
      }
    }
    const last = rows.at(-1);
    after = last === undefined || rows.length < pageSize ? null : [last.day, last.cheese_id];
  }
  for (const { day, cheeseId, orders, grams } of missing.values()) {
    if (orders !== 0) {
      cheeses.add(`cheese ${cheeseId}, ${day}: nothing instead of ${gramsToKilograms(grams)} kg`);
    }
  }
}

async function compareSales(database: Sql, expected: Tally, sales: Findings): Promise<void> {
  const missing = new Map(expected.sales);
  let after: SaleKey | null = { day: '', country: '', customer: '' };
  while (after !== null) {
    const rows: readonly SaleRow[] = await statisticsQueries(database).listSales(after, '9999', pageSize);
    for (const row of rows) {
      const right = missing.get(saleKey(row)) ?? { orders: 0, cents: 0 };
      missing.delete(saleKey(row));
      if (row.orders !== right.orders || row.cents !== right.cents) {
        sales.add(`${saleKey(row)}: ${row.orders} orders instead of ${right.orders}, or another value`);
      }
    }
    after = rows.length < pageSize ? null : (rows.at(-1) ?? null);
  }
  for (const row of missing.values()) {
    if (row.orders !== 0) {
      sales.add(`${saleKey(row)}: nothing instead of ${row.orders} orders`);
    }
  }
}
