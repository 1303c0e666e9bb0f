/** Which card of the board is selected for the keyboard. */
import { useState } from 'react';
import type { Order } from '../../../../client/src/index.ts';

interface Position {
  readonly column: number;
  /** Where the card is, or where it was when it left. */
  readonly row: number;
  /** The selected order; null where no card is selected. */
  readonly id: number | null;
}

type Columns = readonly (readonly Order[])[];

/**
 * The same order stays selected while others come and go. When it leaves its column, the card that takes its place is
 * selected; the last card of a column leaves no selection.
 */
function follow(position: Position, columns: Columns): Position {
  const cards = columns[position.column] ?? [];
  const row = cards.findIndex(({ id }) => id === position.id);
  if (row >= 0) {
    return row === position.row ? position : { ...position, row };
  }
  if (position.id === null) {
    return position;
  }
  const next = Math.max(0, Math.min(position.row, cards.length - 1));
  return { column: position.column, row: next, id: cards[next]?.id ?? null };
}

/** Keys that move the selection take the focus from what is outside the board. */
function releaseFocus(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement.closest('.board') === null) {
    activeElement.blur();
  }
}

export function usePosition(columns: Columns) {
  const [known, setKnown] = useState<Position>({ column: 0, row: 0, id: null });
  const position = follow(known, columns);
  if (position !== known) {
    setKnown(position);
  }
  const cardsOf = (column: number) => columns[column] ?? [];
  const isFilled = (column: number) => cardsOf(column).length > 0;
  const filled = columns.map((_, column) => column).filter(isFilled);

  function select(column: number, row: number): void {
    const cards = cardsOf(column);
    const inside = Math.max(0, Math.min(row, cards.length - 1));
    const id = cards[inside]?.id ?? null;
    if (id !== position.id || column !== position.column) {
      setKnown({ column, row: inside, id });
    }
  }

  return {
    current: cardsOf(position.column).find(({ id }) => id === position.id),
    select,
    moveRow(by: number): void {
      releaseFocus();
      const column = isFilled(position.column)
        ? position.column
        : (filled.find((one) => one > position.column) ?? filled.at(-1));
      if (column !== undefined) {
        select(column, position.id === null ? 0 : position.row + by);
      }
    },
    moveColumn(by: number): void {
      releaseFocus();
      const next =
        by > 0
          ? filled.find((one) => one > position.column)
          : filled.findLast((one) => one < position.column);
      if (next !== undefined) {
        select(next, position.row);
      }
    },
  };
}
