import type { XStatic } from 'typebox/schema';
import type { Stock, StockList } from '../../../stock/schemas.ts';
import type { Versioned } from '../../../versioned.ts';
import { type ChangeOptions, type ChangeResult, makeChange } from '../../framework/change.ts';
import type { OptionsOf } from '../../framework/options.ts';
import { type Columns, printTable } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';
import type { adjustStockOptions, listStockOptions, setStockOptions } from '../../framework/shop-options.ts';

type Item = XStatic<typeof StockList>['items'][number];

const pageSize = 100;

/** Lists the stock of all tracked cheeses. */
export function listStock(options: OptionsOf<typeof listStockOptions>): Promise<void> {
  return withShop(options, async ({ stock: { reader } }) => {
    const items: Item[] = [];
    let cursor: string | undefined;
    do {
      const low = options.low ? true : undefined;
      const page = await reader.list({
        low,
        sort: options.low ? 'level' : undefined,
        cursor,
        limit: pageSize,
      });
      items.push(...(page.items as Item[]));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    const columns: Columns<Item> = {
      id: ({ cheeseId }) => cheeseId,
      name: ({ cheeseName }) => cheeseName,
      status: ({ status }) => status,
      'on hand': ({ onHand }) => onHand,
      reserved: ({ reserved }) => reserved,
      available: ({ available }) => available,
      'low at': ({ lowAt }) => lowAt,
    };
    const none = options.low ? 'No stock is low.' : 'The stock of no cheese is tracked.';
    printTable(options, items, columns, none);
  });
}

/** Sets the counted stock of a cheese, or begins to track it. */
export function setStock(
  cheeseId: number,
  onHand: number,
  options: OptionsOf<typeof setStockOptions>,
): Promise<void> {
  return makeChange(options, async ({ stock: { service: stock } }, context) => {
    const { lowAt } = options;
    const input = { onHand, ...(lowAt === undefined ? {} : { lowAt }) };
    return shownStock(cheeseId, (await stock.replace(context, cheeseId, input)).stock);
  });
}

/** Adds to the stock of a cheese, or subtracts from it. */
export function adjustStock(
  cheeseId: number,
  deltaKg: number,
  options: OptionsOf<typeof adjustStockOptions>,
): Promise<void> {
  return makeChange(options, async ({ stock: { service: stock } }, context) => {
    const { reason } = options;
    return shownStock(cheeseId, await stock.adjust(context, cheeseId, { deltaKg, reason }));
  });
}

/** Stops tracking the stock of a cheese. */
export function untrackStock(cheeseId: number, options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ stock: { service: stock } }, context) => {
    await stock.untrack(context, cheeseId);
    return {
      value: { cheeseId, tracked: false },
      text: `The stock of cheese ${cheeseId} is not tracked any more.`,
    };
  });
}

function shownStock(cheeseId: number, { body }: Versioned): ChangeResult {
  const levels = JSON.parse(body) as XStatic<typeof Stock>;
  const { onHand, reserved, available, lowAt } = levels;
  const warning = lowAt === null ? '' : `, low at ${lowAt} kg`;
  return {
    value: { cheeseId, ...levels },
    text: `Cheese ${cheeseId}: ${onHand} kg on hand, ${reserved} kg reserved, ${available} kg available${warning}.`,
  };
}
