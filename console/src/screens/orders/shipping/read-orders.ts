/** Orders by their ids. Those that a list has read come with it: a thousand are not read one by one. */
import type { Curd, Order } from '../../../../../client/src/index.ts';
import { queryClient } from '../../../data/queries.ts';
import { selectedMax } from '../../../parts/select-all.ts';
import { readId } from '../../../parts/text/ids.ts';

/** Requests at once. */
const atOnce = 8;

const keyOf = (id: number) => ['kept order', id];

/** Keeps orders for the screen that is opened for them: its lines and its address do not change. */
export function keepOrders(orders: readonly Order[]): void {
  for (const order of orders) {
    queryClient.setQueryData(keyOf(order.id), order);
  }
}

/** Those of some orders that were kept. */
export const keptOrders = (ids: readonly number[]): readonly Order[] =>
  ids.map((id) => queryClient.getQueryData<Order>(keyOf(id))).filter((order) => order !== undefined);

/** The ids that a URL names: `?ids=31,32`. */
export function idsIn(search: URLSearchParams): number[] {
  return (search.get('ids') ?? '')
    .split(',')
    .map(readId)
    .filter((id) => id !== undefined)
    .slice(0, selectedMax);
}

export const hrefOf = (screen: 'slips' | 'ship', orders: readonly Pick<Order, 'id'>[]): string => {
  const ids = orders.slice(0, selectedMax).map(({ id }) => id);
  return `/orders/${screen}?ids=${ids.join(',')}`;
};

export async function readOrders(curd: Curd, ids: readonly number[], signal: AbortSignal): Promise<Order[]> {
  const orders: Order[] = [];
  const waiting = [...ids.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, id] = next;
      orders[index] = queryClient.getQueryData<Order>(keyOf(id)) ?? (await curd.orders.get(id, { signal }));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return orders;
}
