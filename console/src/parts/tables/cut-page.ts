/** Pages of a list that changes while it is shown. */

/**
 * The part of a page that was read again, up to the beginning of the page after it. Rows may have come and gone since:
 * a row that two pages have is shown once.
 */
export function cutPage<Item>(
  items: readonly Item[],
  before: readonly Item[],
  next: readonly Item[],
  idOf: (item: Item) => number | string,
  pageSize: number,
): readonly Item[] {
  const last = before.at(-1);
  const afterLast = items.findIndex((item) => last !== undefined && idOf(item) === idOf(last)) + 1;
  const ids = new Set(next.map(idOf));
  const firstOfNext = items.findIndex((item) => ids.has(idOf(item)));
  const end = Math.max(afterLast, firstOfNext);
  return items.slice(0, end > 0 ? end : pageSize);
}
