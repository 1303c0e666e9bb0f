/** Reads a page of the stock: of all tracked cheeses, or of those with a word in their name. */
import type { Curd, Result } from '../../../../client/src/index.ts';

type StockPage = Result<'listStock'>;
export type StockRow = StockPage['items'][number];

export interface StockView {
  /** Lists cheeses that are sold out or low. */
  readonly isLowOnly: boolean;
  /** '' for all. */
  readonly q: string;
}

interface PageRequest {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/** Cheeses that are found may not be tracked: so many pages of them are looked through for a page of stock. */
const searchedMax = 10;
const searchedAtOnce = 100;

type Page = Pick<StockPage, 'items' | 'nextCursor'> & { readonly total?: number };

export async function readStockPage(
  curd: Curd,
  { isLowOnly, q }: StockView,
  request: PageRequest,
): Promise<Page> {
  const { signal } = request;
  const filters = { sort: 'level', ...(isLowOnly ? ({ low: true } as const) : {}) } as const;
  if (q === '') {
    const { cursor, limit } = request;
    return await curd.stock.list({ ...filters, cursor, limit }, { signal });
  }
  let cursor = request.cursor;
  for (let searched = 1; ; searched += 1) {
    const found = await curd.cheeses.list({ q, cursor, limit: searchedAtOnce }, { signal });
    const cheeseIds = found.items.map(({ id }) => String(id));
    const { items } =
      cheeseIds.length === 0
        ? { items: [] }
        : await curd.stock.list({ ...filters, cheeseIds, limit: searchedAtOnce }, { signal });
    cursor = found.nextCursor ?? undefined;
    if (items.length > 0 || cursor === undefined || searched === searchedMax) {
      return { items, nextCursor: found.nextCursor };
    }
  }
}

/** All rows of a view, for a file. */
export async function* readAllStock(
  curd: Curd,
  view: StockView,
  max: number,
): AsyncGenerator<StockPage['items'][number]> {
  let cursor: string | undefined;
  let left = max;
  do {
    const { items, nextCursor } = await readStockPage(curd, view, { cursor, limit: 100 });
    yield* items.slice(0, left);
    left -= items.length;
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined && left > 0);
}
