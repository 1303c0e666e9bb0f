/**
 * Transitions that the server has not confirmed. A shipping waits ten seconds, so that it can be undone. While the server
 * is away, every transition waits until it is back. When the page is hidden or left, those of the ten seconds are sent.
 */
import { useSyncExternalStore } from 'react';
import type { Order } from '../../../../client/src/index.ts';
import { connection } from '../../data/connection.ts';

interface Held {
  /** The status that the transition leads to. */
  readonly to: Order['status'];
  /** Its request may have arrived: it cannot be undone any more. */
  readonly isSent: boolean;
  /** Ends the ten seconds. */
  readonly send: () => void;
  readonly undo: () => void;
}

/** Keys are orders. A new map after each change. */
let held: ReadonlyMap<number, Held> = new Map();
const listeners = new Set<() => void>();

function set(id: number, next: Held | null): void {
  const changed = new Map(held);
  changed.delete(id);
  held = next === null ? changed : changed.set(id, next);
  for (const listener of listeners) {
    listener();
  }
}

/**
 * Waits some milliseconds, and then until the server is there.
 * @returns whether the transition is to be sent
 */
export async function hold(id: number, to: Held['to'], ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let isDue = false;
  const sendIfDue = () => {
    if (isDue && !connection.isAway()) {
      resolve(true);
    }
  };
  const send = () => {
    isDue = true;
    sendIfDue();
  };
  const entry = { to, isSent: false, send, undo: () => resolve(false) };
  set(id, entry);
  const stopWaiting = connection.onReturn(sendIfDue);
  const timer = window.setTimeout(send, ms);
  if (ms === 0) {
    send();
  }
  const isSent = await promise;
  window.clearTimeout(timer);
  stopWaiting();
  // The next transition of the order has taken its place.
  if (held.get(id) === entry) {
    set(id, isSent ? { ...entry, isSent } : null);
  }
  return isSent;
}

/** The server has confirmed or refused it. */
export function endHeld(id: number, to: Held['to']): void {
  if (held.get(id)?.to === to) {
    set(id, null);
  }
}

export const heldOf = (id: number): Held | undefined => held.get(id);

/** The orders with a transition that can be undone. */
export const undoable = (): readonly number[] =>
  [...held].filter(([, { isSent }]) => !isSent).map(([id]) => id);

export function sendAllHeld(): void {
  for (const id of undoable()) {
    heldOf(id)?.send();
  }
}

window.addEventListener('beforeunload', (event) => {
  if (undoable().length > 0) {
    sendAllHeld();
    // The requests are sent while the browser asks.
    event.preventDefault();
  }
});
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') {
    sendAllHeld();
  }
});

/** The transition of an order that the server has not confirmed. */
export function useHeld(id: number): Held | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => held.get(id),
  );
}
