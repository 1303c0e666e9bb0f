/** The reservations of orders that have not shipped, for the start and the end of the tracking of a cheese's stock. */
import { readBlocks } from '../../blocks.ts';
import type { OpenOrders } from '../../stock/service.ts';
import { gramsByCheese } from '../order.ts';
import { orderQueries } from '../queries.ts';
import { allowedFrom } from './order-status.ts';

/** A block of orders with 100 lines each takes up to 9 ms on SQLite. */
const blockSize = 100;

/**
 * Reservations change only in transactions that have locked their order. So a transition that runs at the same moment
 * ends before, or sees the change.
 */
export const reservationsOfOpenOrders: OpenOrders = {
  async reserve(tx, cheeseId) {
    const queries = orderQueries(tx);
    let total = 0;
    for await (const found of readBlocks((after) => queries.listOpenWith(cheeseId, after, blockSize))) {
      const orders = await queries.lockAll(found.map(({ id }) => id));
      const reserved = orders
        .filter(({ status }) => allowedFrom('cancelled').includes(status))
        .map(({ id, items }) => [id, gramsByCheese(JSON.parse(items)).get(cheeseId) ?? 0] as const);
      await queries.updateReserved(reserved.map(([id, grams]) => [cheeseId, id, grams]));
      total += reserved.reduce((sum, [, grams]) => sum + grams, 0);
    }
    return total;
  },

  async clearReservations(tx, cheeseId) {
    const queries = orderQueries(tx);
    for await (const found of readBlocks((after) => queries.listOpenWith(cheeseId, after, blockSize))) {
      const orders = await queries.lockAll(found.map(({ id }) => id));
      await queries.updateReserved(orders.map(({ id }) => [cheeseId, id, 0]));
    }
  },
};
