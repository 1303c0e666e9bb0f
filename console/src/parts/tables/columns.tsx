/** Which columns of a list are shown. The choice is kept in the browser, by the name of the list. */
import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Column } from './table-row.tsx';

const storageKey = 'curd.console.columns';

type Hidden = Readonly<Record<string, readonly string[]>>;

function readHidden(): Hidden {
  try {
    return (JSON.parse(localStorage.getItem(storageKey) ?? '{}') ?? {}) as Hidden;
  } catch {
    return {};
  }
}

/** @param list its label: "Orders" */
export function useColumns<Row>(list: string, columns: readonly Column<Row>[]) {
  const [hidden, setHidden] = useState<readonly string[]>(() => readHidden()[list] ?? []);
  const [first] = columns;
  const shown = useMemo(
    () => columns.filter((column) => column === first || !hidden.includes(column.title)),
    [columns, first, hidden],
  );
  function toggle(title: string): void {
    const next = hidden.includes(title) ? hidden.filter((one) => one !== title) : [...hidden, title];
    setHidden(next);
    localStorage.setItem(storageKey, JSON.stringify({ ...readHidden(), [list]: next }));
  }
  return { shown, toggle };
}

interface Props<Row> {
  readonly columns: readonly Column<Row>[];
  readonly shown: readonly Column<Row>[];
  readonly onToggle: (title: string) => void;
}

/** The first column names the rows, and is always shown. */
export function ColumnsButton<Row>({ columns, shown, onToggle }: Props<Row>) {
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button size="compact-xs" variant="subtle" color="gray" visibleFrom="sm">
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        <Stack gap={6}>
          {columns.slice(1).map((column) => (
            <Checkbox
              key={column.title}
              size="xs"
              label={column.title}
              checked={shown.includes(column)}
              onChange={() => onToggle(column.title)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
