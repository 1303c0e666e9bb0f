/** The list of cheeses as a CSV file whose columns the import knows. */

import { useState } from 'react';
import { csvRowsMax, download, toCsv } from '../../parts/csv.ts';
import { showNumber } from '../../parts/format.ts';
import { notifications } from '../../parts/notifications.tsx';
import { useCurd } from '../../queries.ts';
import { messageOf } from '../../session.ts';
import type { CheeseFilters } from './filters.ts';

const columns = [
  'id',
  'name',
  'category',
  'tags',
  'status',
  'origin',
  'pricePerKg',
  'ageMonths',
  'organic',
  'photoUrls',
  'createdAt',
  'updatedAt',
] as const;

export function useCsv(filters: CheeseFilters) {
  const curd = useCurd();
  const [isRunning, setRunning] = useState(false);

  async function run(): Promise<void> {
    setRunning(true);
    try {
      const rows = [];
      for await (const cheese of curd.cheeses.list({ ...filters, limit: 100 }).take(csvRowsMax + 1)) {
        rows.push(
          columns.map((column) => {
            switch (column) {
              case 'category':
                return cheese.category?.name;
              case 'tags':
                return cheese.tags.map(({ name }) => name).join(',');
              case 'photoUrls':
                return cheese.photoUrls.join('\n');
              default:
                return cheese[column];
            }
          }),
        );
      }
      download('cheeses.csv', toCsv(columns, rows.slice(0, csvRowsMax)));
      if (rows.length > csvRowsMax) {
        notifications.show({
          color: 'yellow',
          title: `The file has the first ${showNumber(csvRowsMax)} cheeses`,
          message: 'For all of them, run: curd export cheeses cheeses.csv',
        });
      }
    } catch (error) {
      notifications.show({ color: 'red', title: 'The file was not made', message: messageOf(error) });
    } finally {
      setRunning(false);
    }
  }

  return { isRunning, run };
}
