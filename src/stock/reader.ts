/** Lists the stock of tracked cheeses. */
import { parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import type { Database } from '../database/database.ts';
import { type StockFilters, type StockPosition, type StockRow, stockQueries } from './queries.ts';
import type { StockSort } from './schemas.ts';
import { toStock } from './service.ts';

export interface StockRequest extends StockFilters {
  /** Default: `cheeseId`. */
  readonly sort?: StockSort | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface StockPage {
  /** Items of the list. */
  readonly items: readonly object[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  readonly total: number;
}

/** What a cursor contains. */
interface Position {
  readonly filters: StockFilters & { readonly sort?: StockSort | undefined };
  readonly after: StockPosition;
}

const beginning: StockPosition = { level: -1, cheeseId: 0 };

export type StockReader = ReturnType<typeof createStockReader>;

export function createStockReader(
  database: Database,
  cheeses: Pick<CheeseService, 'findIfThere'>,
  cursors: Cursors,
) {
  function positionOf(cursor: string | undefined, requested: Position['filters']): Position {
    if (cursor === undefined) {
      return { filters: requested, after: beginning };
    }
    const position = cursors.decode(cursor) as Position;
    requireSameQuery(position.filters, requested, {});
    return position;
  }

  /** undefined if the cheese was deleted after its stock was read. */
  async function toItem(row: StockRow): Promise<object | undefined> {
    const cheese = await cheeses.findIfThere(row.cheese_id);
    if (cheese === undefined) {
      return undefined;
    }
    const { name, status } = parseCheese(cheese.body);
    return { cheeseId: row.cheese_id, cheeseName: name, status, ...toStock(row) };
  }

  return {
    /** @throws AppError badRequest when the cursor belongs to another query */
    async list({ cursor, limit, ...rest }: StockRequest): Promise<StockPage> {
      const { filters, after } = positionOf(cursor, canonicalFilters(rest));
      const queries = stockQueries(database);
      const [rows, total] = await Promise.all([
        queries.list(filters, filters.sort ?? 'cheeseId', after, limit + 1),
        queries.count(filters),
      ]);
      const { page, ...end } = cursors.page(
        rows,
        limit,
        ({ level, cheese_id }): Position => ({ filters, after: { level, cheeseId: cheese_id } }),
      );
      const items = await Promise.all(page.map(toItem));
      return { items: items.filter((item) => item !== undefined), ...end, total };
    },
  };
}
