/** What an operator does with orders: the transitions, and how the page shows them before the server confirms. */
import { useQueryClient } from '@tanstack/react-query';
import { type Curd, isCurdError, type Order } from '../../../../client/src/index.ts';
import { connection } from '../../data/connection.ts';
import { live } from '../../data/live.ts';
import { useCurd } from '../../data/queries.ts';
import { notifications, showUndo, undoMs } from '../../parts/notifications.tsx';
import { onRefused, session, toMessage } from '../../session/session.ts';
import { endHeld, heldOf, hold, sendAllHeld, undoable } from './held.ts';
import { beginMove, confirmMove, undoMove } from './moved-orders.ts';
import { keepShipment, readShipment, shipmentProblem, toShipment } from './shipping/shipment-draft.ts';

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
  /** Why the input for an order has to be corrected first; null if it is valid. */
  readonly problemOf?: (id: number) => string | null;
  readonly send: (
    curd: Curd,
    id: number,
    options?: { readonly idempotencyKey: string | undefined },
  ) => Promise<Order>;
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

export const ship: Transition = {
  key: 's',
  verb: 'Ship',
  from: ['approved'],
  to: 'shipped',
  isFinal: true,
  problemOf: shipmentProblem,
  async send(curd, id, options) {
    const fields = readShipment(id);
    const order = await curd.orders.ship(id, fields === null ? {} : toShipment(fields), options);
    keepShipment(id, null);
    return order;
  },
};

export const transitions: readonly Transition[] = [
  {
    key: 'a',
    verb: 'Approve',
    from: ['placed'],
    to: 'approved',
    send: (curd, id, options) => curd.orders.approve(id, options),
  },
  ship,
  {
    key: 'd',
    verb: 'Deliver',
    from: ['shipped'],
    to: 'delivered',
    send: (curd, id, options) => curd.orders.deliver(id, options),
  },
  cancel,
];

/** The next transition of the usual life of an order. */
export function nextOf(status: Status): Transition | undefined {
  return transitions.find((one) => one !== cancel && one.from.includes(status));
}

/** The orders that a transition applies to: to one that waits to be shipped, what follows, too. */
export const applicable = (transition: Transition, orders: readonly Order[]): readonly Order[] =>
  orders.filter(({ id, status }) => {
    const next = heldOf(id)?.to ?? status;
    return next !== transition.to && [status, next].some((one) => transition.from.includes(one));
  });

/** Says why a key does nothing. */
export function sayNotApplicable({ verb, from }: Transition, orders: readonly Order[]): void {
  const [first] = orders;
  const held = first === undefined ? undefined : heldOf(first.id);
  const isWaiting = held !== undefined && held.to !== first?.status;
  const is = isWaiting ? `will be ${held.to}` : `is ${first?.status}`;
  const found = orders.length === 1 ? `Order ${first?.id} ${is}` : 'None of these orders fits';
  notifications.show({
    color: 'red',
    message: `${found}: ${verb.toLowerCase()} is for orders that are ${from.join(' or ')}.`,
  });
}

/** The key of a column of the board. */
export const columnKey = (status: Status) => ['orders', 'board', status];

/** The last transition of each order whose request is under way, and whether it succeeds. */
const running = new Map<number, Promise<boolean>>();

/**
 * Prepares an order for another transition: a cancellation drops what waits, and any other one shows that it was meant.
 * @returns whether the transition before it has succeeded
 */
export async function settle(transition: Transition, id: number): Promise<boolean> {
  const held = heldOf(id);
  if (transition === cancel) {
    held?.undo();
  } else {
    held?.send();
  }
  const isDone = await running.get(id);
  return isDone !== false || transition === cancel;
}

session.beforeSignOut(() => {
  sendAllHeld();
  return Promise.all(running.values());
});

function drop(id: number, why: string): void {
  const held = heldOf(id);
  if (held !== undefined && !held.isSent) {
    held.undo();
    notifications.show({
      color: 'red',
      title: `Order ${id} was not ${held.to}`,
      message: why,
      autoClose: 15_000,
    });
  }
}

session.onEnd(() => {
  for (const id of undoable()) {
    drop(id, 'The session has ended before.');
  }
});

live.onEvent(({ type, subject }) => {
  const [kind, id] = subject.split(':');
  const [, change = ''] = type.split('.');
  if (kind === 'order' && ['cancelled', 'shipped', 'delivered'].includes(change)) {
    drop(Number(id), `It was ${change} elsewhere.`);
  }
});

/** A request that the server did not answer is sent again when it is back: by its key, it is carried out once. */
async function sendOnce({ send }: Transition, curd: Curd, id: number): Promise<Order> {
  let idempotencyKey: string | undefined;
  for (;;) {
    try {
      return await send(curd, id, { idempotencyKey });
    } catch (error) {
      if (!isCurdError(error, 'connection_failed') || !connection.isAway()) {
        throw error;
      }
      idempotencyKey = error.idempotencyKey;
      await new Promise<void>((resolve) => {
        const stop = connection.onReturn(() => {
          stop();
          resolve();
        });
      });
    }
  }
}

interface Sending {
  /** Whether the transition before it has succeeded. */
  readonly isReady: Promise<boolean>;
  /** Whether it is sent, when this is known. */
  readonly released: Promise<boolean>;
  /** The page shows it already. */
  readonly isShown: boolean;
  readonly isLast: () => boolean;
}

/**
 * Makes a transition. Those that can be taken back are shown at once, and undone with the reason if the server refuses.
 * A shipping is shown when the server has confirmed it. Transitions of one order are sent one after the other; after a
 * refusal, those that wait are not sent.
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
    order: Order,
    { isReady, released, isShown, isLast }: Sending,
  ): Promise<boolean> {
    const { id } = order;
    if (!(await isReady)) {
      heldOf(id)?.undo();
      endHeld(id, transition.to);
      return false;
    }
    if (!(await released)) {
      return false;
    }
    if (!isShown && transition.isFinal !== true) {
      beginMove(order, transition.to);
    }
    try {
      const moved = await sendOnce(transition, curd, id);
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
        message: toMessage(error),
        autoClose: 15_000,
      });
      void readAgain(id);
      return false;
    } finally {
      endHeld(id, transition.to);
    }
  }

  return async (transition, order) => {
    const { id } = order;
    if (applicable(transition, [order]).length === 0) {
      sayNotApplicable(transition, [order]);
      return;
    }
    const problem = transition.problemOf?.(id) ?? null;
    if (problem !== null) {
      notifications.show({ color: 'red', title: `${transition.verb} order ${id}`, message: problem });
      return;
    }
    const isWaiting = transition.isFinal || connection.isAway();
    const isShown = !isWaiting && !running.has(id);
    const isReady = settle(transition, id);
    const released = hold(id, transition.to, transition.isFinal ? undoMs : 0);
    if (isWaiting) {
      const when = connection.isAway() ? 'when the server is back' : `in ${undoMs / 1000} s`;
      const undo = () => heldOf(id)?.undo();
      void released.then(showUndo(`Order ${id} will be ${transition.to} ${when}.`, undo));
    } else if (isShown) {
      beginMove(order, transition.to);
    }
    const isLast = () => running.get(id) === result;
    const result = send(transition, order, { isReady, released, isShown, isLast });
    running.set(id, result);
    await result;
    if (isLast()) {
      running.delete(id);
    }
  };
}
