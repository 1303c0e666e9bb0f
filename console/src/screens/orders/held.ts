/**
 * Transitions that are sent ten seconds after an operator made them, so that they can be undone. They are shown at once.
 * When the page is hidden or left, they are sent: what was shown as done must be done.
 */
import { useSyncExternalStore } from 'react';
import { undoMs } from '../../parts/notifications.tsx';

/**
 * Keys are orders. The function ends the wait, and says whether the transition is sent. A new map after each change.
 */
let held: ReadonlyMap<number, (isSent: boolean) => void> = new Map();
const listeners = new Set<() => void>();

function set(next: typeof held): void {
  held = next;
  for (const listener of listeners) {
    listener();
  }
}

/** @returns whether the transition is to be sent, when this is known */
export function hold(id: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = window.setTimeout(() => end(true), undoMs);
  function end(isSent: boolean): void {
    window.clearTimeout(timer);
    const others = new Map(held);
    others.delete(id);
    set(others);
    resolve(isSent);
  }
  set(new Map(held).set(id, end));
  return promise;
}

export function sendHeld(id: number): void {
  held.get(id)?.(true);
}

export function undoHeld(id: number): void {
  held.get(id)?.(false);
}

export function sendAllHeld(): void {
  for (const id of held.keys()) {
    sendHeld(id);
  }
}

window.addEventListener('beforeunload', (event) => {
  if (held.size > 0) {
    sendAllHeld();
    // While the browser asks, the requests are sent.
    event.preventDefault();
  }
});
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') {
    sendAllHeld();
  }
});

/** The orders whose last transition can be undone. */
export function useHeld(): ReadonlyMap<number, unknown> {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => held,
  );
}
