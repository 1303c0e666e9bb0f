/** A list of objects: a table on wide screens, cards on phones. j and k move, Enter opens, Space selects. */
import { Box, Checkbox, Table, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useShortcuts } from '../shortcuts.ts';

export interface Column<Row> {
  readonly title: string;
  readonly show: (row: Row) => ReactNode;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
  /** Not shown in the cards of phones. */
  readonly isWideOnly?: boolean;
}

interface Props<Row> {
  /** What the rows are, for screen readers: "Orders". */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => number | string;
  /** The name of a row, for its check box. */
  readonly nameOf: (row: Row) => string;
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** Keys of the selected rows. Without it there are no check boxes. */
  readonly selected?: ReadonlySet<number | string> | undefined;
  readonly onSelect?: ((selected: ReadonlySet<number | string>) => void) | undefined;
  /** Actions on the current row, by key. */
  readonly keys?: Readonly<Record<string, (row: Row) => void>> | undefined;
  /** Called when the end of the list comes into view. */
  readonly onEnd?: (() => void) | undefined;
}

export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, keyOf, nameOf, onOpen, selected, onSelect, keys, onEnd } = props;
  const [current, setCurrent] = useState(-1);
  const body = useRef<HTMLTableSectionElement>(null);
  const end = useRef<HTMLDivElement>(null);

  function move(by: number): void {
    const next = Math.max(0, Math.min(rows.length - 1, current + by));
    setCurrent(next);
    body.current?.children[next]?.scrollIntoView({ block: 'nearest' });
  }

  function toggle(row: Row): void {
    const key = keyOf(row);
    const next = new Set(selected);
    if (!next.delete(key)) {
      next.add(key);
    }
    onSelect?.(next);
  }

  const row = rows[current];
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    ...(row === undefined
      ? {}
      : {
          Enter: () => onOpen?.(row),
          ...Object.fromEntries(Object.entries(keys ?? {}).map(([key, act]) => [key, () => act(row)])),
          ...(selected === undefined ? {} : { ' ': () => toggle(row) }),
        }),
  });

  const reachEnd = useRef(onEnd);
  reachEnd.current = onEnd;
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) {
        reachEnd.current?.();
      }
    });
    if (end.current !== null) {
      observer.observe(end.current);
    }
    return () => observer.disconnect();
  }, []);

  // The heading of a card.
  const heading = columns.find(({ isWideOnly }) => !isWideOnly);
  const isAllSelected = rows.length > 0 && rows.every((one) => selected?.has(keyOf(one)));
  return (
    <Box className="data-table">
      <Table highlightOnHover verticalSpacing={6} horizontalSpacing={8} aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {selected === undefined ? null : (
              <Table.Th w={36}>
                <Checkbox
                  size="xs"
                  aria-label="Select all"
                  checked={isAllSelected}
                  indeterminate={!isAllSelected && selected.size > 0}
                  onChange={() => onSelect?.(new Set(isAllSelected ? [] : rows.map(keyOf)))}
                />
              </Table.Th>
            )}
            {columns.map(({ title, isNumber }) => (
              <Table.Th key={title} ta={isNumber ? 'right' : undefined} className="column-title">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody ref={body}>
          {rows.map((one, index) => (
            <Table.Tr
              key={keyOf(one)}
              data-current={index === current || undefined}
              onClick={() => setCurrent(index)}
              onDoubleClick={() => onOpen?.(one)}
            >
              {selected === undefined ? null : (
                <Table.Td>
                  <Checkbox
                    size="xs"
                    aria-label={`Select ${nameOf(one)}`}
                    checked={selected.has(keyOf(one))}
                    onChange={() => toggle(one)}
                  />
                </Table.Td>
              )}
              {columns.map((column) => {
                const { title, show, isNumber, isWideOnly } = column;
                return (
                  <Table.Td
                    key={title}
                    data-heading={column === heading || undefined}
                    ta={isNumber ? 'right' : undefined}
                    className={isNumber ? 'figure' : undefined}
                    data-wide={isWideOnly || undefined}
                  >
                    <Text component="span" className="card-label" size="xs" c="dimmed">
                      {title}
                    </Text>
                    {show(one)}
                  </Table.Td>
                );
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <div ref={end} />
    </Box>
  );
}
