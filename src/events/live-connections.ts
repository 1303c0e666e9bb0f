/** Bounds requests that stay open: streams, and long polls that wait for events. */
import type { Principal } from '../access/principal.ts';
import { AppError } from '../errors.ts';
import type { OpenConnection } from '../http/route.ts';

/** Long polls of an instance. */
const longPollsMax = 100;

type Kind = 'stream' | 'longPoll';

export type LiveConnections = ReturnType<typeof createLiveConnections>;

/**
 * @param streamsMax of an instance
 * @param perAccountMax streams and long polls together, for an account (or customer) and instance
 */
export function createLiveConnections(streamsMax: number, perAccountMax: number) {
  const max = { stream: streamsMax, longPoll: longPollsMax };
  const counts = { stream: 0, longPoll: 0 };
  const accounts = new Map<string, number>();

  /** Counts an open request until the returned function is called. @throws AppError rateLimited */
  function open(kind: Kind, principal: Principal): () => void {
    // Anybody can copy a publishable key, so it uses up nothing of its account.
    const { accountId, kind: credential, id } = principal;
    const account = accountId === null || credential === 'publishable' ? id : `account:${accountId}`;
    const own = accounts.get(account) ?? 0;
    if (own >= perAccountMax || counts[kind] >= max[kind]) {
      const what = own >= perAccountMax ? `${own} of this account` : `${counts[kind]} on this server`;
      throw new AppError(
        'rateLimited',
        `Too many streams and long polls are open: ${what}, which is the limit. Close one, or try again shortly.`,
        { details: { retryAfterMs: 1000 } },
      );
    }
    counts[kind] += 1;
    accounts.set(account, own + 1);
    let isOpen = true;
    return () => {
      if (isOpen) {
        isOpen = false;
        counts[kind] -= 1;
        const left = (accounts.get(account) ?? 1) - 1;
        if (left === 0) {
          accounts.delete(account);
        } else {
          accounts.set(account, left);
        }
      }
    };
  }

  return {
    open,

    /**
     * Runs a long poll: counts it, ends its wait when the client is gone, and checks the credential again after the wait.
     * @throws AppError rateLimited, unauthorized, and what `wait` throws
     */
    async longPoll<T>(
      principal: Principal,
      openConnection: () => OpenConnection,
      wait: (signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const release = open('longPoll', principal);
      try {
        const { closed, recheckCredential } = openConnection();
        const result = await wait(closed);
        await recheckCredential();
        return result;
      } finally {
        release();
      }
    },

    /** Open requests by kind. */
    count: (kind: Kind): number => counts[kind],
  };
}
