/** Which card of the board is selected for the keyboard. */
import { useState } from 'react';
import type { Order } from '../../../../client/src/index.ts';
import { follow, type Position } from '../../parts/tables/follow.ts';

interface BoardPosition extends Position<number> {
  readonly column: number;
}

type Columns = readonly (readonly Order[])[];

/** Keys that move the selection take the focus from what is outside the board. */
function releaseFocus(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement.closest('.board') === null) {
    activeElement.blur();
  }
}

export function usePosition(columns: Columns) {
  const [known, setKnown] = useState<BoardPosition>({ column: 0, row: 0, key: null });
  const cardsOf = (column: number) => columns[column] ?? [];
  const ids = cardsOf(known.column).map(({ id }) => id);
  const followed = follow(known, ids);
  const position = followed === known ? known : { ...followed, column: known.column };
  if (position !== known) {
    setKnown(position);
  }
  const isFilled = (column: number) => cardsOf(column).length > 0;
  const filled = columns.map((_, column) => column).filter(isFilled);

  function select(column: number, row: number): void {
    const cards = cardsOf(column);
    const inside = Math.max(0, Math.min(row, cards.length - 1));
    const key = cards[inside]?.id ?? null;
    if (key !== position.key || column !== position.column) {
      setKnown({ column, row: inside, key });
    }
  }

  return {
    current: cardsOf(position.column).find(({ id }) => id === position.key),
    select,
    moveRow(by: number): void {
      releaseFocus();
      const column = isFilled(position.column)
        ? position.column
        : (filled.find((one) => one > position.column) ?? filled.at(-1));
      if (column !== undefined) {
        select(column, position.key === null ? 0 : position.row + by);
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
