/** Selects all rows that match the filters of a list, also those that were not read yet. */
import { useState } from 'react';
import { toMessage } from '../session/session.ts';
import { notifications } from './notifications.tsx';
import { showNumber } from './text/format.ts';

/** More ids do not fit into a URL, or into a change of many cheeses. */
export const selectedMax = 1000;

interface List<Row> {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  readonly toBegin: (() => void) | null;
  readonly total: number | undefined;
}

/** The button that selects those that were not read yet, too. */
export interface Rest {
  readonly label: string;
  readonly isReading: boolean;
  readonly onSelect: () => void;
}

/**
 * @param list what `usePages` returns
 * @param filters of the list
 * @param read the rows that match, from the first one
 * @returns `all`: what was read to select it, until the filters change
 */
export function useSelectAll<Row extends { readonly id: number }>(
  list: List<Row>,
  filters: object,
  onSelect: (ids: ReadonlySet<number>) => void,
  read: (max: number) => AsyncIterable<Row>,
) {
  const key = JSON.stringify(filters);
  const [known, setKnown] = useState<{ readonly key: string; readonly rows: readonly Row[] }>();
  const [isReading, setReading] = useState(false);
  const isMoreThanRead = list.hasNextPage || list.toBegin !== null;

  async function selectAll(): Promise<void> {
    if (!isMoreThanRead) {
      onSelect(new Set(list.rows.map(({ id }) => id)));
      return;
    }
    setReading(true);
    try {
      const rows = await Array.fromAsync(read(selectedMax));
      setKnown({ key, rows });
      onSelect(new Set(rows.map(({ id }) => id)));
    } catch (error) {
      notifications.show({ color: 'red', title: 'Not all were selected', message: toMessage(error) });
    } finally {
      setReading(false);
    }
  }

  const total = list.total ?? 0;
  const restOf = (selected: number): Rest | null =>
    isMoreThanRead && selected < Math.min(total, selectedMax)
      ? {
          label:
            total > selectedMax
              ? `Select the first ${showNumber(selectedMax)}`
              : `Select all ${showNumber(total)}`,
          isReading,
          onSelect: () => void selectAll(),
        }
      : null;
  return { all: known?.key === key ? known.rows : [], restOf, selectAll };
}
