/** A row of a list. It is rendered again only when it changes, because a list may have thousands. */
import { Checkbox, Table, Text } from '@mantine/core';
import { memo, type ReactNode, type RefObject } from 'react';

export interface Column<Row> {
  readonly title: string;
  readonly show: (row: Row) => ReactNode;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
  /** Not shown in the cards of phones. */
  readonly isWideOnly?: boolean;
}

export interface RowActions<Row> {
  readonly select: (row: Row) => void;
  readonly open: (row: Row) => void;
  readonly toggle: (row: Row) => void;
}

interface Props<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly isCurrent: boolean;
  /** Null where rows cannot be selected. */
  readonly isSelected: boolean | null;
  readonly name: string;
  readonly actions: RefObject<RowActions<Row>>;
}

function Row<T>({ row, columns, isCurrent, isSelected, name, actions }: Props<T>) {
  // The heading of a card.
  const heading = columns.find(({ isWideOnly }) => !isWideOnly);
  return (
    <Table.Tr
      data-current={isCurrent || undefined}
      onClick={() => actions.current.select(row)}
      onDoubleClick={() => actions.current.open(row)}
    >
      {isSelected === null ? null : (
        <Table.Td>
          <Checkbox
            size="xs"
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={() => actions.current.toggle(row)}
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
            {show(row)}
          </Table.Td>
        );
      })}
    </Table.Tr>
  );
}

export const TableRow = memo(Row) as typeof Row;
