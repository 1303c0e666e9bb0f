/** Bounds requests that stay open: streams, and long polls that wait for events. */
import type { Principal } from '../access/principal.ts';
import { AppError } from '../errors.ts';
import type { RouteRequest } from '../http/route.ts';

/** Long polls of an instance. */
const longPollsMax = 100;
/**
 * Long polls of visitors, who have no place among the others: anybody can copy a publishable key or register, and must not
 * use up those of accounts.
 */
const visitorPollsMax = 50;
/** Limit of one customer, or of a publishable key from one client IP. */
const pollsOfVisitorMax = 10;

type Kind = 'stream' | 'longPoll' | 'visitorPoll';

type PollRequest = Pick<
  RouteRequest<unknown, unknown, unknown, Principal>,
  'principal' | 'openConnection' | 'clientIp'
>;

export type LiveConnections = ReturnType<typeof createLiveConnections>;

/**
 * @param streamsMax of an instance
 * @param perAccountMax streams and long polls together, for an account and instance
 * @param stopping aborted when the server stops
 */
export function createLiveConnections(streamsMax: number, perAccountMax: number, stopping: AbortSignal) {
  const max = { stream: streamsMax, longPoll: longPollsMax, visitorPoll: visitorPollsMax };
  const counts = { stream: 0, longPoll: 0, visitorPoll: 0 };
  const subjects = new Map<string, number>();

  /** Counts an open request until the returned function is called. @throws AppError rateLimited */
  function open(kind: Kind, subject: string): () => void {
    const own = subjects.get(subject) ?? 0;
    const ownMax = kind === 'visitorPoll' ? Math.min(pollsOfVisitorMax, perAccountMax) : perAccountMax;
    if (own >= ownMax || counts[kind] >= max[kind]) {
      const owner = kind === 'visitorPoll' ? 'visitor' : 'account';
      const what = own >= ownMax ? `${own} of this ${owner}` : `${counts[kind]} on this server`;
      throw new AppError(
        'rateLimited',
        `Too many streams and long polls are open: ${what}, which is the limit. Close one, or try again shortly.`,
        { details: { retryAfterMs: 1000 } },
      );
    }
    counts[kind] += 1;
    subjects.set(subject, own + 1);
    let isOpen = true;
    return () => {
      if (isOpen) {
        isOpen = false;
        counts[kind] -= 1;
        const left = (subjects.get(subject) ?? 1) - 1;
        if (left === 0) {
          subjects.delete(subject);
        } else {
          subjects.set(subject, left);
        }
      }
    };
  }

  return {
    /** Counts an open stream until the returned function is called. @throws AppError rateLimited */
    openStream: ({ accountId, id }: Principal) => open('stream', accountOf(accountId, id)),

    /**
     * Runs a long poll: counts it, ends its wait when the client is gone or the server stops, and checks the credential
     * again after the wait.
     * @throws AppError rateLimited, unauthorized, and what `wait` throws
     */
    async longPoll<T>(
      { principal, openConnection, clientIp }: PollRequest,
      wait: (signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const { accountId, kind, id } = principal;
      const release =
        kind === 'publishable'
          ? open('visitorPoll', `${id} ${clientIp()}`)
          : open(accountId === null ? 'visitorPoll' : 'longPoll', accountOf(accountId, id));
      try {
        const { closed, recheckCredential } = openConnection();
        const result = await untilAborted([closed, stopping], wait);
        await recheckCredential();
        return result;
      } finally {
        release();
      }
    },

    /** Open requests by kind; with `longPoll`, those of visitors too. */
    count: (kind: 'stream' | 'longPoll'): number =>
      counts[kind] + (kind === 'longPoll' ? counts.visitorPoll : 0),
  };
}

/** @param id of a customer, who has no account */
function accountOf(accountId: number | null, id: string): string {
  return accountId === null ? id : `account:${accountId}`;
}

/**
 * Runs `wait` with a signal that aborts with the first of these. AbortSignal.any would keep an entry of each request at a
 * signal that lives as long as the server.
 */
async function untilAborted<T>(
  signals: readonly AbortSignal[],
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const end = () => ended.abort();
  for (const signal of signals) {
    signal.addEventListener('abort', end);
  }
  if (signals.some(({ aborted }) => aborted)) {
    end();
  }
  try {
    return await wait(ended.signal);
  } finally {
    for (const signal of signals) {
      signal.removeEventListener('abort', end);
    }
  }
}
