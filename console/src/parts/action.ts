/** Runs an action of a button: its result and its error are shown in words, and lists are read again. */

import { useState } from 'react';
import { type CallOptions, isCurdError } from '../../../client/src/index.ts';
import { queryClient } from '../data/queries.ts';
import { onRefused, toMessage } from '../session/session.ts';
import type { Effects } from './dialogs/confirm.tsx';
import { notifications } from './notifications.tsx';

/** Reads queries again whose key begins with one of these. */
export function invalidate(...keys: string[]): Promise<void> {
  return queryClient.invalidateQueries({ predicate: ({ queryKey }) => keys.includes(String(queryKey[0])) });
}

export function useAction() {
  const [isRunning, setRunning] = useState(false);
  /** @returns whether it succeeded */
  async function run(
    done: string | null,
    action: () => PromiseLike<unknown>,
    ...stale: string[]
  ): Promise<boolean> {
    setRunning(true);
    try {
      await action();
      if (done !== null) {
        notifications.show({ message: done, autoClose: 3000 });
      }
      return true;
    } catch (error) {
      onRefused(error);
      notifications.show({ color: 'red', title: 'This was not done', message: toMessage(error) });
      return false;
    } finally {
      setRunning(false);
      await invalidate(...stale);
    }
  }
  return { run, isRunning };
}

/** What a request would change: it is sent as a dry run. */
export async function readEffects(send: (options: CallOptions) => PromiseLike<unknown>): Promise<Effects> {
  return (await send({ headers: { 'Dry-Run': 'effects' } })) as Effects;
}

/** The messages of a validation error by field, for forms; null for other errors. */
export function fieldErrors(error: unknown): Record<string, string> | null {
  return isCurdError(error, 'validation_error')
    ? Object.fromEntries(error.errors.map(({ field, message }) => [field, message]))
    : null;
}
