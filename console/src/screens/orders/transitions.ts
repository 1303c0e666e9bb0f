/** What an operator does with orders: the transitions, and how the page shows them before the server confirms. */
import { notifications } from '@mantine/notifications';
import { type InfiniteData, type QueryClient, useQueryClient } from '@tanstack/react-query';
import type { Curd, Order } from '../../../../client/src/index.ts';
import { live } from '../../live.ts';
import { useCurd } from '../../queries.ts';
import { messageOf } from '../../session.ts';

export type Status = Order['status'];

export const statuses: readonly Status[] = ['placed', 'approved', 'shipped', 'delivered', 'cancelled'];

/** Nothing happens to the order any more: the newest come first. */
export const isOver = (status: Status): boolean => status === 'delivered' || status === 'cancelled';

export interface Transition {
  readonly key: 'a' | 's' | 'd' | 'x';
  readonly verb: string;
  readonly from: readonly Status[];
  readonly to: Status;
  readonly send: (curd: Curd, id: number) => Promise<unknown>;
}

export const cancel: Transition = {
  key: 'x',
  verb: 'Cancel',
  from: ['placed', 'approved'],
  to: 'cancelled',
  send: (curd, id) => curd.orders.cancel(id),
};

export const transitions: readonly Transition[] = [
  {
    key: 'a',
    verb: 'Approve',
    from: ['placed'],
    to: 'approved',
    send: (curd, id) => curd.orders.approve(id),
  },
  {
    key: 's',
    verb: 'Ship',
    from: ['approved'],
    to: 'shipped',
    send: (curd, id) => curd.orders.ship(id),
  },
  {
    key: 'd',
    verb: 'Deliver',
    from: ['shipped'],
    to: 'delivered',
    send: (curd, id) => curd.orders.deliver(id),
  },
  cancel,
];

/** The next transition of the usual life of an order. */
export function nextOf(status: Status): Transition | undefined {
  return transitions.find((one) => one !== cancel && one.from.includes(status));
}

export interface OrderPage {
  readonly items: readonly Order[];
  readonly total: number;
}

/** The key of a column of the board. */
export const columnKey = (status: Status) => ['orders', 'board', status];

/** Shows an order with its new status in everything that was read. */
function show(queries: QueryClient, order: Order, to: Status): void {
  const moved: Order = { ...order, status: to, updatedAt: new Date().toISOString() };
  queries.setQueryData<OrderPage>(columnKey(order.status), (page) =>
    page === undefined
      ? page
      : {
          ...page,
          items: page.items.filter(({ id }) => id !== order.id),
          total: page.total - 1,
        },
  );
  queries.setQueryData<OrderPage>(columnKey(to), (page) => {
    if (page === undefined) {
      return page;
    }
    const items = [...page.items.filter(({ id }) => id !== order.id), moved];
    items.sort((one, other) => (isOver(to) ? other.id - one.id : one.id - other.id));
    return { ...page, items, total: page.total + 1 };
  });
  queries.setQueryData<Order>([`order ${order.id}`], (known) => known && moved);
  queries.setQueriesData<InfiniteData<OrderPage>>({ queryKey: ['orders', 'list'] }, (list) =>
    list === undefined
      ? list
      : {
          ...list,
          pages: list.pages.map((page) => ({
            ...page,
            items: page.items.map((one) => (one.id === order.id ? moved : one)),
          })),
        },
  );
}

/** Makes a transition: shown at once, and undone with the reason where the server refuses. */
export function useTransition(): (transition: Transition, order: Order) => Promise<void> {
  const curd = useCurd();
  const queries = useQueryClient();
  const readAgain = (id: number) =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [first] }) => first === 'orders' || first === `order ${id}`,
    });
  return async (transition, order) => {
    if (!transition.from.includes(order.status)) {
      notifications.show({
        color: 'red',
        message: `Order ${order.id} is ${order.status}: ${transition.verb.toLowerCase()} is for orders that are ${transition.from.join(' or ')}.`,
      });
      return;
    }
    // A response that is on its way would show the status before.
    await queries.cancelQueries({ queryKey: ['orders'] });
    show(queries, order, transition.to);
    try {
      await transition.send(curd, order.id);
      if (live.get() !== 'live') {
        await readAgain(order.id);
      }
    } catch (error) {
      notifications.show({
        color: 'red',
        title: `${transition.verb} order ${order.id}`,
        message: messageOf(error),
        autoClose: 15_000,
      });
      await readAgain(order.id);
    }
  };
}
