/** Notices in the corner of the page: what was done, and what was refused and why. */
import { Button, Group, Notification, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react';
import { type Opener, returnFocus } from './dialogs/return-focus.ts';
import { useShortcuts } from './shortcuts.ts';

interface Notice {
  readonly message: ReactNode;
  readonly title?: string;
  readonly color?: 'red' | 'yellow';
  /** How long it is shown, in milliseconds. */
  readonly autoClose?: number;
  /** A button. The key `u` presses that of the newest notice. */
  readonly action?: { readonly label: string; readonly run: () => unknown };
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

const hide = (id: number) => set(all.filter((notice) => notice.id !== id));

export const notifications = {
  /** @returns hides it */
  show(notice: Notice): () => void {
    lastId += 1;
    const id = lastId;
    set([...all, { ...notice, id }].slice(-shownMax));
    return () => hide(id);
  },
};

/** How long a change can be undone. */
export const undoMs = 10_000;

/** Says what was done, with a button that undoes it. */
export function showUndo(message: ReactNode, undo: () => unknown): () => void {
  return notifications.show({ message, autoClose: undoMs, action: { label: 'Undo', run: undo } });
}

function act({ id, action }: Shown): void {
  hide(id);
  void action?.run();
}

/** The place of the notices. */
export function Notifications() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
  );
  useShortcuts({
    u: () => {
      const newest = shown.findLast(({ action }) => action !== undefined);
      if (newest !== undefined) {
        act(newest);
      }
    },
  });
  return (
    <Stack className="notifications no-print" gap="xs">
      {shown.map((notice) => (
        <Item key={notice.id} notice={notice} />
      ))}
    </Stack>
  );
}

function Item({ notice }: { readonly notice: Shown }) {
  const { id, title, message, color, action, autoClose = shownMs } = notice;
  const opener = useRef<Opener | null>(null);
  useEffect(
    () => () => {
      const { current } = opener;
      if (current !== null) {
        window.setTimeout(returnFocus, 0, current);
      }
    },
    [],
  );
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
      onFocus={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget)) {
          opener.current = { element: relatedTarget, before: null };
        }
      }}
    >
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <span className="notice-text">{message}</span>
        {action === undefined ? null : (
          <Button size="compact-sm" variant="default" flex="none" onClick={() => act(notice)}>
            {action.label}
          </Button>
        )}
      </Group>
    </Notification>
  );
}
