/**
 * The event log as a stream (server-sent events, WHATWG HTML section 9.2). The position is the only state: a client that
 * reconnects with Last-Event-ID, to any instance, misses nothing and gets nothing twice.
 */
import type { OpenConnection } from '../http/route.ts';
import type { EventHub } from './hub.ts';
import type { EventFilter, EventService } from './service.ts';

/** A comment with the position where no event was sent for so long: proxies close silent connections. */
const heartbeatMs = 15_000;
/** How often the credential is checked again. */
const recheckMs = 15_000;
/** Waits for a client to read. Then it is gone. */
const stallMs = 30_000;
/** A page from the database. */
const pageEvents = 500;
/** Clients wait so long before they reconnect. */
const retryMs = 2000;

interface StreamOptions {
  readonly events: EventService;
  readonly hub: EventHub;
  /** The number after which the stream begins. */
  readonly after: number;
  readonly filter: EventFilter;
  readonly connection: OpenConnection;
  /** Called once, when the stream ends. */
  readonly onEnd: () => void;
}

/** The blocks of a stream. It ends when the server stops, the credential ends, or the client leaves or does not read. */
export async function* createEventStream(options: StreamOptions): AsyncGenerator<string> {
  const { connection, onEnd } = options;
  let stall: NodeJS.Timeout | undefined;
  try {
    for await (const block of blocksOf(options)) {
      // The generator is suspended here while the client does not read.
      stall = setTimeout(connection.destroy, stallMs);
      yield block;
      clearTimeout(stall);
    }
  } finally {
    clearTimeout(stall);
    onEnd();
  }
}

async function* blocksOf({ events, hub, after, filter, connection }: StreamOptions): AsyncGenerator<string> {
  const { closed: signal, recheckCredential } = connection;
  yield `retry: ${retryMs}\n\n`;
  let position = after;
  let checkedAt = performance.now();
  let sentAt = checkedAt;
  while (!signal.aborted) {
    if (performance.now() - checkedAt >= recheckMs) {
      try {
        await recheckCredential();
      } catch {
        return;
      }
      checkedAt = performance.now();
    }
    const page = await events.list(position, filter, pageEvents);
    position = page.nextSequence;
    if (page.items.length > 0) {
      sentAt = performance.now();
      for (const item of page.items) {
        yield eventBlock(item);
      }
    }
    if (page.hasMore) {
      continue;
    }
    const now = performance.now();
    if (now - sentAt >= heartbeatMs) {
      const id = await events.positionAt(position);
      // The comment is for clients that do not report a block without data.
      yield `: ${id}\nid: ${id}\n\n`;
      sentAt = now;
    }
    const waitMs = Math.max(1, Math.min(sentAt + heartbeatMs, checkedAt + recheckMs) - now);
    const isNew = await hub.wait(position, waitMs, signal);
    if (!isNew && hub.isStopped()) {
      return;
    }
  }
}

function eventBlock(item: string): string {
  const { id, type } = JSON.parse(item) as { readonly id: string; readonly type: string };
  return `id: ${id}\nevent: ${type}\ndata: ${item}\n\n`;
}
