/** Lists the stock of tracked cheeses. */
import { parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Cursors, canonicalFilters, requireSameQuery } from '../cursor.ts';
import type { Database } from '../database/database.ts';
import { type StockFilters, type StockRow, stockQueries } from './queries.ts';
import { toStock } from './service.ts';

export interface StockRequest extends StockFilters {
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

export interface StockReader {
  /** By cheese id. @throws AppError badRequest when the cursor belongs to another query */
  list(request: StockRequest): Promise<StockPage>;
}

/** The position that a cursor contains. */
interface Position {
  readonly filters: StockFilters;
  /** The cheese id after which the next page begins. */
  readonly after: number;
}

export function createStockReader(
  database: Database,
  cheeses: Pick<CheeseService, 'findIfThere'>,
  cursors: Cursors,
): StockReader {
  function positionOf(cursor: string | undefined, requested: StockFilters): Position {
    if (cursor === undefined) {
      return { filters: requested, after: 0 };
    }
    const position = cursors.decode(cursor) as Position;
    requireSameQuery(position.filters, requested, {});
    return position;
  }

  /** undefined where the cheese was deleted after its stock was read. */
  async function toItem(row: StockRow): Promise<object | undefined> {
    const cheese = await cheeses.findIfThere(row.cheese_id);
    if (cheese === undefined) {
      return undefined;
    }
    const { name, status } = parseCheese(cheese.body);
    return { cheeseId: row.cheese_id, cheeseName: name, status, ...toStock(row) };
  }

  return {
    async list({ cursor, limit, ...rest }) {
      const { filters, after } = positionOf(cursor, canonicalFilters(rest));
      const queries = stockQueries(database);
      const [rows, total] = await Promise.all([
        queries.list(filters, after, limit + 1),
        queries.count(filters),
      ]);
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      const items = await Promise.all(page.map(toItem));
      return {
        items: items.filter((item) => item !== undefined),
        nextCursor:
          last === undefined ? null : cursors.encode({ filters, after: last.cheese_id } satisfies Position),
        hasMore: last !== undefined,
        total,
      };
    },
  };
}
