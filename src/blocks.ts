/**
 * Long lists within one transaction, in blocks. SQLite runs statements synchronously: without a pause between blocks, no
 * other request would be processed before the last one.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Calls `work` with one block after the other. */
export async function forEachBlock<Item>(
  items: readonly Item[],
  size: number,
  work: (block: readonly Item[]) => Promise<void>,
): Promise<void> {
  for (let first = 0; first < items.length; first += size) {
    await work(items.slice(first, first + size));
    await nextTurn();
  }
}

/**
 * Reads rows in blocks.
 * @param read returns the first rows after an id, in the order of their ids; or after the last row of the block before,
 * in another order
 */
export async function* readBlocks<Row extends { readonly id: number }>(
  read: (after: number, last: Row | null) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: Row | null | undefined = null; last !== undefined; ) {
    const rows: Row[] = await read(last?.id ?? 0, last);
    last = rows.at(-1);
    if (last !== undefined) {
      yield rows;
      await nextTurn();
    }
  }
}
