/** Chooses the columns of a list. The first column names the rows, and is always shown. */
import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import type { Column } from './table-row.tsx';
import { useColumns } from './use-columns.ts';

interface Props<Row> {
  /** Its label: "Orders". */
  readonly list: string;
  readonly columns: readonly Column<Row>[];
}

export function ColumnsButton<Row>({ list, columns }: Props<Row>) {
  const { shown, toggle } = useColumns(list, columns);
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button size="xs" variant="default" visibleFrom="sm">
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
              onChange={() => toggle(column.title)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
