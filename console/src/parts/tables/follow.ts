/** The selection of the keyboard in a list whose rows come and go. */

export interface Position<Key> {
  /** Number of the selected row, or the one that it had when it left. */
  readonly row: number;
  /** Null if no row is selected. */
  readonly key: Key | null;
}

/**
 * The selected row stays selected while others come and go. When it leaves, the row that takes its place is selected;
 * the last row of a list leaves no selection.
 */
export function follow<Key>(position: Position<Key>, keys: readonly Key[]): Position<Key> {
  if (position.key === null) {
    return position;
  }
  const row = keys.indexOf(position.key);
  if (row >= 0) {
    return row === position.row ? position : { row, key: position.key };
  }
  const next = Math.max(0, Math.min(position.row, keys.length - 1));
  return { row: next, key: keys[next] ?? null };
}
