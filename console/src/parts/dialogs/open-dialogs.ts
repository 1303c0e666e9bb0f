/** Which dialogs are open, one over the other: Escape closes the one on top only. */
import { useEffect, useState, useSyncExternalStore } from 'react';

let open: readonly symbol[] = [];
const listeners = new Set<() => void>();

function set(next: readonly symbol[]): void {
  open = next;
  for (const listener of listeners) {
    listener();
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tells a dialog that is open as long as it is mounted whether it is the one on top. */
export function useIsOnTop(): boolean {
  const [id] = useState(Symbol);
  useEffect(() => {
    set([...open, id]);
    return () => set(open.filter((other) => other !== id));
  }, [id]);
  return useSyncExternalStore(subscribe, () => open).at(-1) === id;
}
