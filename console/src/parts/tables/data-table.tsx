/** A list of objects: a table if it fits, else cards. j and k move, Enter opens, Space selects. */
import { Box, Checkbox, Table } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useShortcuts } from '../shortcuts.ts';
import { follow, type Position } from './follow.ts';
import { keepSelectedRow, selectedRow } from './place.ts';
import { type Column, TableRow } from './table-row.tsx';

interface Props<Row> {
  /** What the rows are, for screen readers: "Orders". */
  readonly label: string;
  /** Must be one array in all renders, so that rows are not rendered again. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => number | string;
  /** The name of a row, for its check box. */
  readonly nameOf: (row: Row) => string;
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** Keys of the selected rows. Without it there are no check boxes. */
  readonly selected?: ReadonlySet<number | string> | undefined;
  readonly onSelect?: ((selected: ReadonlySet<number | string>) => void) | undefined;
  /** Selects all by a key, if the list has more rows than were read. */
  readonly onSelectAll?: (() => void) | undefined;
  /** Actions on the current row, by key. */
  readonly keys?: Readonly<Record<string, (row: Row) => void>> | undefined;
  /** Called when other rows come into view. */
  readonly onVisible?: ((first: number, last: number) => void) | undefined;
}

/** The first and the last row in the window, found by halving: rows are one below the other. */
function visibleRows(rows: HTMLCollection): readonly [first: number, last: number] {
  const firstWhere = (isAfter: (row: DOMRect) => boolean) => {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const row = rows[middle];
      if (row !== undefined && isAfter(row.getBoundingClientRect())) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  const first = firstWhere(({ bottom }) => bottom > 0);
  const last = firstWhere(({ top }) => top >= window.innerHeight) - 1;
  return [Math.min(first, Math.max(0, last)), Math.max(0, last)];
}

/**
 * Whether rows are cards: on phones, and if the table would be cut.
 * @param titles a table with other columns is measured again
 */
function useCards(box: RefObject<HTMLElement | null>, titles: string): boolean {
  const isPhone = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false });
  const [isCut, setCut] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns need another width.
  useLayoutEffect(() => {
    const element = box.current;
    const table = element?.querySelector('table');
    if (element === null || table == null || isPhone) {
      return;
    }
    let needed = 0;
    setCut(false);
    const measure = () => {
      if (needed === 0 && table.scrollWidth > element.clientWidth + 1) {
        needed = table.scrollWidth;
        setCut(true);
      } else if (needed > 0 && element.clientWidth >= needed) {
        needed = 0;
        setCut(false);
      }
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(table);
    return () => observer.disconnect();
  }, [titles, isPhone]);
  return isPhone || isCut;
}

export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, keyOf, nameOf, onOpen, selected, onSelect, onSelectAll, keys, onVisible } =
    props;
  const rowKeys = rows.map(keyOf);
  const [known, setKnown] = useState<Position<number | string>>(() => {
    const row = rowKeys.indexOf(selectedRow() ?? '');
    return { row, key: rowKeys[row] ?? null };
  });
  const position = follow(known, rowKeys);
  if (position !== known) {
    setKnown(position);
  }
  const body = useRef<HTMLTableSectionElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const isCards = useCards(box, columns.map(({ title }) => title).join());

  function select(row: number): void {
    const key = rowKeys[row];
    if (key !== undefined) {
      setKnown({ row, key });
      keepSelectedRow(key);
    }
  }

  const selectRow = (one: Row) => select(rows.indexOf(one));

  function move(by: number): void {
    const next = Math.max(0, Math.min(rows.length - 1, position.key === null ? 0 : position.row + by));
    select(next);
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

  const isAllSelected = rows.length > 0 && rowKeys.every((key) => selected?.has(key));

  function selectAllOrNone(): void {
    if (isAllSelected) {
      onSelect?.(new Set());
    } else if (onSelectAll === undefined) {
      onSelect?.(new Set(rowKeys));
    } else {
      onSelectAll();
    }
  }

  const row = position.key === null ? undefined : rows[position.row];
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    ...(selected === undefined ? {} : { A: selectAllOrNone }),
    ...(row === undefined
      ? {}
      : {
          Enter: () => onOpen?.(row),
          ...Object.fromEntries(Object.entries(keys ?? {}).map(([key, act]) => [key, () => act(row)])),
          ...(selected === undefined ? {} : { ' ': () => toggle(row) }),
        }),
  });

  const report = useRef(onVisible);
  report.current = onVisible;
  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows may be in view.
  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      if (body.current !== null) {
        report.current?.(...visibleRows(body.current.children));
      }
    };
    const onMove = () => {
      frame ||= window.requestAnimationFrame(look);
    };
    look();
    window.addEventListener('scroll', onMove, { passive: true });
    window.addEventListener('resize', onMove);
    return () => {
      window.cancelAnimationFrame(frame);
      window.removeEventListener('scroll', onMove);
      window.removeEventListener('resize', onMove);
    };
  }, [rows.length]);

  const latest = { select: selectRow, open: (one: Row) => onOpen?.(one), toggle };
  const actions = useRef(latest);
  actions.current = latest;
  return (
    <Box className="data-table" ref={box} data-cards={isCards || undefined}>
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
                  onChange={() => onSelect?.(new Set(isAllSelected ? [] : rowKeys))}
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
          {rows.map((shown, index) => (
            <TableRow
              key={rowKeys[index]}
              row={shown}
              columns={columns}
              isCurrent={position.key !== null && index === position.row}
              isSelected={selected?.has(keyOf(shown)) ?? null}
              name={nameOf(shown)}
              actions={actions}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}
