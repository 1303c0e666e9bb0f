/** What an operator does with orders: the transitions, and how the page shows them before the server confirms. */

import { useQueryClient } from '@tanstack/react-query';
import type { Curd, Order } from '../../../../client/src/index.ts';
import { live } from '../../data/live.ts';
import { useCurd } from '../../data/queries.ts';
import { notifications, showUndo } from '../../parts/notifications.tsx';
import { messageOf, onRefused, session } from '../../session/session.ts';
import { hold, sendAllHeld, sendHeld, undoHeld } from './held.ts';
import { beginMove, confirmMove, undoMove } from './moved-orders.ts';

export type Status = Order['status'];

export const statuses: readonly Status[] = ['placed', 'approved', 'shipped', 'delivered', 'cancelled'];

/** Nothing happens to the order any more: the newest come first. */
export const isOver = (status: Status): boolean => status === 'delivered' || status === 'cancelled';

export interface Transition {
  readonly key: 'a' | 's' | 'd' | 'x';
  readonly verb: string;
  readonly from: readonly Status[];
  readonly to: Status;
  /** It tells others at once and cannot be taken back: one order waits ten seconds, and for many it asks. */
  readonly isFinal?: true;
  readonly send: (curd: Curd, id: number) => Promise<Order>;
}

export const cancel: Transition = {
  key: 'x',
  verb: 'Cancel',
  from: ['placed', 'approved'],
  to: 'cancelled',
  async send(curd, id) {
    await curd.orders.cancel(id);
    return curd.orders.get(id);
  },
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
    isFinal: true,
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

/** The orders that a transition applies to. */
export const applicable = (transition: Transition, orders: readonly Order[]): readonly Order[] =>
  orders.filter(({ status }) => transition.from.includes(status));

/** Says why a key does nothing. */
export function sayNotApplicable({ verb, from }: Transition, orders: readonly Order[]): void {
  const [first] = orders;
  const found = orders.length === 1 ? `Order ${first?.id} is ${first?.status}` : 'None of these orders fits';
  notifications.show({
    color: 'red',
    message: `${found}: ${verb.toLowerCase()} is for orders that are ${from.join(' or ')}.`,
  });
}

/** The key of a column of the board. */
export const columnKey = (status: Status) => ['orders', 'board', status];

/** The last transition of each order whose request is under way, and whether it succeeds. */
const running = new Map<number, Promise<boolean>>();

session.beforeSignOut(() => {
  sendAllHeld();
  return Promise.all(running.values());
});

/**
 * Makes a transition: shown at once, and undone with the reason where the server refuses. Transitions of one order are
 * sent one after the other; after a refusal, those that wait are not sent.
 */
export function useTransition(): (transition: Transition, order: Order) => Promise<void> {
  const curd = useCurd();
  const queries = useQueryClient();
  const readAgain = (id: number) =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [first] }) => first === 'orders' || first === `order ${id}`,
    });

  async function send(
    transition: Transition,
    { id }: Order,
    previous: Promise<boolean> | undefined,
    released: Promise<boolean> | undefined,
    isLast: () => boolean,
  ): Promise<boolean> {
    if (previous !== undefined && !(await previous)) {
      undoHeld(id);
      return false;
    }
    if (released !== undefined && !(await released)) {
      undoMove(id);
      void readAgain(id);
      return false;
    }
    try {
      const moved = await transition.send(curd, id);
      if (isLast()) {
        confirmMove(moved);
      }
      if (live.get() !== 'live') {
        void readAgain(id);
      }
      return true;
    } catch (error) {
      onRefused(error);
      undoMove(id);
      notifications.show({
        color: 'red',
        title: `${transition.verb} order ${id}`,
        message: messageOf(error),
        autoClose: 15_000,
      });
      void readAgain(id);
      return false;
    }
  }

  return async (transition, order) => {
    const { id } = order;
    if (applicable(transition, [order]).length === 0) {
      sayNotApplicable(transition, [order]);
      return;
    }
    // The next transition shows that the one before was meant.
    sendHeld(id);
    beginMove(order, transition.to);
    const released = transition.isFinal ? hold(id) : undefined;
    const hide = transition.isFinal
      ? showUndo(`Order ${id} is ${transition.to}.`, () => undoHeld(id))
      : undefined;
    void released?.then(hide);
    const isLast = () => running.get(id) === result;
    const result = send(transition, order, running.get(id), released, isLast);
    running.set(id, result);
    await result;
    if (isLast()) {
      running.delete(id);
    }
  };
}
