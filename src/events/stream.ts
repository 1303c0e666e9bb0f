/**
 * The event log as a stream (server-sent events, WHATWG HTML section 9.2). The position is the only state: a client that
 * reconnects with Last-Event-ID, to any instance, misses nothing and gets nothing twice.
 */

import type { EventFilter } from '../event-log/reading/event-filter.ts';
import type { EventHub } from '../event-log/reading/hub.ts';
import type { EventItem } from '../event-log/reading/log-reader.ts';
import type { EventService } from '../event-log/reading/service.ts';
import type { OpenConnection } from '../http/route.ts';

/** Intervals of a stream. Tests shorten them. */
export interface StreamTimes {
  /** A comment with the position if no event was sent for so long: proxies close silent connections. */
  readonly heartbeatMs: number;
  /** How often the credential is checked again. */
  readonly recheckMs: number;
  /** Waits for a client to read. Then it is gone. */
  readonly stallMs: number;
}

export const streamTimes: StreamTimes = { heartbeatMs: 15_000, recheckMs: 15_000, stallMs: 30_000 };

/** A page. With what waits in the socket, a stream uses at most 2 MiB. */
const pageEvents = 500;
const pageBytes = 1024 * 1024;
/** Clients wait so long before they reconnect. */
const retryMs = 2000;
/** How long a client may take to read the event that is being sent while the server stops. */
const stopMs = 500;

interface StreamOptions {
  readonly events: EventService;
  readonly hub: EventHub;
  /** The number after which the stream begins. */
  readonly after: number;
  readonly filter: EventFilter;
  readonly connection: OpenConnection;
  readonly times: StreamTimes;
  /** Called once, when the stream ends. */
  readonly onEnd: () => void;
}

/**
 * The blocks of a stream. It ends when the server stops, the credential ends, the position is not in the log any more, or
 * the client leaves or does not read.
 */
export async function* createEventStream(options: StreamOptions): AsyncGenerator<string> {
  const { hub, connection, times, onEnd } = options;
  let stall: NodeJS.Timeout | undefined;
  let stop: NodeJS.Timeout | undefined;
  const endSoon = () => {
    stop = setTimeout(connection.destroy, stopMs);
  };
  hub.stopping.addEventListener('abort', endSoon);
  try {
    for await (const block of blocksOf(options)) {
      // The generator is suspended here while the client does not read.
      stall = setTimeout(connection.destroy, times.stallMs);
      yield block;
      clearTimeout(stall);
    }
  } finally {
    clearTimeout(stall);
    clearTimeout(stop);
    hub.stopping.removeEventListener('abort', endSoon);
    onEnd();
  }
}

async function* blocksOf(options: StreamOptions): AsyncGenerator<string> {
  const { events, hub, after, filter, connection, times } = options;
  const { closed, recheckCredential } = connection;
  let checkedAt = performance.now();
  let sentAt = checkedAt;

  /** Whether the stream may continue. Nothing is sent after the credential was found invalid. */
  async function isOpen(): Promise<boolean> {
    if (performance.now() - checkedAt >= times.recheckMs) {
      try {
        await recheckCredential();
      } catch {
        return false;
      }
      checkedAt = performance.now();
    }
    return !closed.aborted && !hub.stopping.aborted;
  }

  yield `retry: ${retryMs}\n\n`;
  const pages = events.follow(after, filter, pageEvents, pageBytes);
  while (await isOpen()) {
    const page = await pages.next().catch(() => null);
    if (page === null || page.done) {
      // The position has expired, or an epoch has begun: the client gets the error when it reconnects.
      return;
    }
    const { items, next, nextSequence, hasMore } = page.value;
    for (const item of items) {
      if (!(await isOpen())) {
        return;
      }
      yield eventBlock(item);
      sentAt = performance.now();
    }
    if (hasMore) {
      continue;
    }
    const now = performance.now();
    if (now - sentAt >= times.heartbeatMs) {
      // The comment is for clients that do not report a block without data.
      yield `: ${next}\nid: ${next}\n\n`;
      sentAt = now;
    }
    const waitMs = Math.max(1, Math.min(sentAt + times.heartbeatMs, checkedAt + times.recheckMs) - now);
    await hub.wait(nextSequence, waitMs, closed);
  }
}

function eventBlock({ id, type, text }: EventItem): string {
  return `id: ${id}\nevent: ${type}\ndata: ${text}\n\n`;
}
