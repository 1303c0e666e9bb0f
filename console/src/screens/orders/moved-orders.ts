/**
 * Orders that this page has moved. A list that was read just before a transition shows the status before it, so what the
 * transition returned replaces what was read, until a newer version is read.
 */
import { useSyncExternalStore } from 'react';
import type { Order } from '../../../../client/src/index.ts';
import { connection } from '../../data/connection.ts';
import { session } from '../../session/session.ts';

interface Move {
  /** The order with its new status. */
  readonly order: Order;
  /** When the server confirmed it; null before. */
  readonly confirmedAt: number | null;
}

/** A list that was read within this time after a confirmation may have been read at the server before it. */
const readMs = 2000;

/** A new map after each change. */
let moves: ReadonlyMap<number, Move> = new Map();
const listeners = new Set<() => void>();

function set(next: ReadonlyMap<number, Move>): void {
  moves = next;
  for (const listener of listeners) {
    listener();
  }
}

session.onEnd(() => set(new Map()));

/** Shows an order with another status, before the server has confirmed it. */
export function beginMove(order: Order, status: Order['status']): void {
  const moved = { ...order, status, updatedAt: new Date().toISOString() };
  set(new Map(moves).set(order.id, { order: moved, confirmedAt: null }));
}

/** @param order as the server returned it */
export function confirmMove(order: Order): void {
  set(new Map(moves).set(order.id, { order, confirmedAt: Date.now() }));
}

export function undoMove(id: number): void {
  const next = new Map(moves);
  next.delete(id);
  set(next);
}

function latest(order: Order, known: ReadonlyMap<number, Move>): Order {
  const move = known.get(order.id);
  const isNewer =
    move !== undefined && (move.confirmedAt === null || move.order.updatedAt >= order.updatedAt);
  return isNewer ? move.order : order;
}

export interface Column {
  readonly items: readonly Order[];
  readonly total: number;
}

/**
 * A column of the board, without the orders that have left it, and with those that have come.
 * @param readAt when it was read
 */
function columnOf(
  status: Order['status'],
  { items, total }: Column,
  readAt: number,
  known: ReadonlyMap<number, Move>,
): Column {
  const stayed = items.map((order) => latest(order, known)).filter((order) => order.status === status);
  const come = [...known.values()].filter(
    ({ order, confirmedAt }) =>
      order.status === status &&
      (confirmedAt === null || readAt < confirmedAt + readMs) &&
      items.every(({ id }) => id !== order.id),
  );
  return {
    items: [...stayed, ...come.map(({ order }) => order)],
    total: total - (items.length - stayed.length) + come.length,
  };
}

/** How the page shows orders and columns that it has read. */
export function useMoves() {
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => moves,
  );
  const isAway = useSyncExternalStore(connection.subscribe, connection.isAway);
  // The server may never have received what it has not confirmed.
  const known = isAway ? new Map([...all].filter(([, { confirmedAt }]) => confirmedAt !== null)) : all;
  return {
    latest: (order: Order) => latest(order, known),
    columnOf: (status: Order['status'], column: Column, readAt: number) =>
      columnOf(status, column, readAt, known),
  };
}
