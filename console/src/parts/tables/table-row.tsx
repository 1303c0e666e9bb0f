/**
 * A row of a list. It is rendered again only when it changes, and of plain elements, because a list may have thousands:
 * with those of Mantine, fifty rows took twice as long.
 */
import { memo, type ReactNode, type RefObject } from 'react';

export interface Column<Row> {
  readonly title: string;
  readonly show: (row: Row) => ReactNode;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
  /** The cards of phones do not show it. */
  readonly isWideOnly?: boolean;
}

interface RowActions<Row> {
  readonly select: (row: Row) => void;
  readonly open: (row: Row) => void;
  readonly toggle: (row: Row) => void;
}

interface Props<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly isCurrent: boolean;
  /** Null if rows cannot be selected. */
  readonly isSelected: boolean | null;
  readonly name: string;
  readonly actions: RefObject<RowActions<Row>>;
}

function Row<T>({ row, columns, isCurrent, isSelected, name, actions }: Props<T>) {
  // The heading of a card.
  const heading = columns.find(({ isWideOnly }) => !isWideOnly);
  return (
    <tr
      data-current={isCurrent || undefined}
      onClick={() => actions.current.select(row)}
      onDoubleClick={() => actions.current.open(row)}
    >
      {isSelected === null ? null : (
        <td>
          <input
            type="checkbox"
            className="check"
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={() => actions.current.toggle(row)}
          />
        </td>
      )}
      {columns.map((column) => {
        const { title, show, isNumber, isWideOnly } = column;
        return (
          <td
            key={title}
            data-label={title}
            data-heading={column === heading || undefined}
            className={isNumber ? 'figure' : undefined}
            data-wide={isWideOnly || undefined}
          >
            {show(row)}
          </td>
        );
      })}
    </tr>
  );
}

export const TableRow = memo(Row) as typeof Row;
