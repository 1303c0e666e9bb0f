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

/** Reads rows in blocks, in the order of their ids. @param read returns the first rows after an id */
export async function* readBlocks<Row extends { readonly id: number }>(
  read: (after: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows = await read(after);
    after = rows.at(-1)?.id;
    if (after !== undefined) {
      yield rows;
      await nextTurn();
    }
  }
}
