/** Notices in the corner of the page: what was done, and what was refused and why. */
import { Notification, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';

interface Notice {
  readonly message: ReactNode;
  readonly title?: string;
  readonly color?: 'red' | 'yellow';
  /** How long it is shown, in milliseconds. */
  readonly autoClose?: number;
}

type Shown = Notice & { readonly id: number };

const shownMs = 4000;
const shownMax = 5;

let all: readonly Shown[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Shown[]): void {
  all = next;
  for (const listener of listeners) {
    listener();
  }
}

export const notifications = {
  show(notice: Notice): void {
    lastId += 1;
    set([...all, { ...notice, id: lastId }].slice(-shownMax));
  },
};

const hide = (id: number) => set(all.filter((notice) => notice.id !== id));

/** The place of the notices. */
export function Notifications() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
  );
  return (
    <Stack className="notifications no-print" gap="xs">
      {shown.map((notice) => (
        <Item key={notice.id} notice={notice} />
      ))}
    </Stack>
  );
}

function Item({ notice: { id, title, message, color, autoClose = shownMs } }: { readonly notice: Shown }) {
  useEffect(() => {
    const timer = window.setTimeout(hide, autoClose, id);
    return () => window.clearTimeout(timer);
  }, [id, autoClose]);
  return (
    <Notification
      role="alert"
      withBorder
      title={title}
      {...(color === undefined ? {} : { color })}
      closeButtonProps={{ 'aria-label': 'Close the notice' }}
      onClose={() => hide(id)}
    >
      {message}
    </Notification>
  );
}
