/**
 * Keeps the screens current. One tab of the browser reads the event stream and tells the others; if the stream is
 * refused, the data is read again every 15 seconds.
 */
import type { QueryClient } from '@tanstack/react-query';
import { type Curd, type CurdEvent, NotFound } from '../../../client/src/index.ts';
import { connection } from './connection.ts';

const pollMs = 15_000;
/** A list is read again at most twice a second. */
const refreshMs = 500;
/** The events of one change come together. */
const gatherMs = 30;

/** A stream that was not refused within this time is open. */
const settleMs = 500;

type LiveState = 'connecting' | 'live' | 'polling';

/** What ticks the first steps of Home, in their order. */
export const firstSteps = ['api_key.created', 'cheese.created', 'cheese.image_uploaded', 'order.placed'];

/** The beginnings of query keys that an event makes stale. */
function staleKeys({ type, subject }: Pick<CurdEvent, 'type' | 'subject'>): string[] {
  const [kind = ''] = type.split('.');
  const id = subject.split(':')[1] ?? '';
  switch (kind) {
    case 'order':
      return ['orders', `order ${id}`, 'statistics', 'stock'];
    case 'cheese':
      return ['cheeses', `cheese ${id}`];
    case 'stock':
      return ['stock', `cheese ${id}`];
    case 'customer':
      return ['customers', `customer ${id}`];
    case 'shop':
      return ['shop', 'quote', 'taxes'];
    case 'delivery_method':
      return ['delivery', `delivery_method ${id}`, 'quote', 'taxes'];
    case 'tax_rate':
      return ['taxes', `tax_rate ${id}`, 'quote'];
    case 'discount':
      return ['discounts', `discount ${id}`, 'quote'];
    case 'approval':
      return ['approvals'];
    case 'webhook_endpoint':
      return ['webhooks'];
    case 'api_key':
    case 'account':
    case 'oauth_client':
      return ['access'];
    default:
      return [];
  }
}

/** What an open page of a deleted object shows, without a request that would be a 404. */
function showDeleted(queries: QueryClient, key: string): void {
  const error = new NotFound('It was deleted.', {
    status: 404,
    type: 'not_found',
    requestId: undefined,
    retryAfterSeconds: undefined,
    attempts: 0,
    idempotencyKey: undefined,
    method: 'GET',
    path: key,
    errors: [],
  });
  const query = queries.getQueryCache().find({ queryKey: [key] });
  // A response that is under way may be from before the deletion, and would show the object again. Nothing reads it again,
  // which would be a 404.
  query?.cancel({ silent: true });
  query?.setState({ status: 'error', error, fetchStatus: 'idle', isInvalidated: false });
}

type Listener = (event: CurdEvent) => void;

let state: LiveState = 'connecting';
const stateListeners = new Set<() => void>();
const eventListeners = new Set<Listener>();

export const live = {
  get: (): LiveState => state,
  subscribe(listener: () => void): () => void {
    stateListeners.add(listener);
    return () => stateListeners.delete(listener);
  },
  /** Calls a function for each new event. */
  onEvent(listener: Listener): () => void {
    eventListeners.add(listener);
    return () => eventListeners.delete(listener);
  },
};

function setState(next: LiveState): void {
  state = next;
  for (const listener of stateListeners) {
    listener();
  }
}

/** Waits, unless the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      window.clearTimeout(timer);
      resolve();
    });
  });
}

/** Begins to listen. Returns how to end. */
export function listen(curd: Curd, queries: QueryClient): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const channel = new BroadcastChannel('curd.console');
  const stale = new Set<string>();
  let timer: number | undefined;
  let isReading = false;
  /** The last event that any tab has seen: a tab that takes the stream over continues after it. */
  let position: string | undefined;

  let refreshedAt = 0;

  function refresh(): void {
    timer = undefined;
    refreshedAt = Date.now();
    const keys = new Set(stale);
    stale.clear();
    void queries.invalidateQueries({ predicate: ({ queryKey }) => keys.has(String(queryKey[0])) });
  }

  function receive(event: CurdEvent): void {
    position = event.id;
    const others = firstSteps.includes(event.type) ? ['events', 'checklist'] : ['events'];
    const own = event.subject.replace(':', ' ');
    const isDeleted = event.type.endsWith('.deleted');
    if (isDeleted) {
      showDeleted(queries, own);
      // A deleted customer has no name any more, also in the events that are shown.
      queries.setQueryData(['name', event.subject], null);
    }
    for (const key of [...staleKeys(event), ...others]) {
      stale.add(key);
    }
    if (isDeleted) {
      // Also if an event shortly before has made it stale: reading it again would be a 404.
      stale.delete(own);
    }
    timer ??= window.setTimeout(refresh, Math.max(gatherMs, refreshedAt + refreshMs - Date.now()));
    for (const listener of eventListeners) {
      listener(event);
    }
  }

  channel.onmessage = ({ data }) => {
    if (data.question === 'state') {
      if (isReading) {
        channel.postMessage({ state, position });
      }
    } else if (data.state !== undefined) {
      setState(data.state);
      position = data.position;
      if (data.state === 'polling') {
        void queries.invalidateQueries();
      }
    } else {
      receive(data.event);
    }
  };

  // A tab that opens later asks for the state.
  channel.postMessage({ question: 'state' });

  const announce = (next: LiveState) => {
    setState(next);
    channel.postMessage({ state: next, position });
  };

  async function stream(): Promise<void> {
    isReading = true;
    while (!signal.aborted) {
      // The client waits longer after each lost connection: this page knows when the server is back.
      const attempt = new AbortController();
      const abort = () => attempt.abort();
      signal.addEventListener('abort', abort, { signal: attempt.signal });
      const stopWatching = connection.onReturn(abort);
      let settling: number | undefined;
      try {
        position ??= (await curd.events.list({ since: 'latest', limit: 1 }, { signal: attempt.signal })).next;
        settling = window.setTimeout(announce, settleMs, 'live');
        for await (const event of curd.events.stream({ since: position, signal: attempt.signal })) {
          receive(event);
          channel.postMessage({ event });
        }
      } catch {
        window.clearTimeout(settling);
        if (!attempt.signal.aborted) {
          // Events may be missed, or be gone from the log.
          position = undefined;
          announce('polling');
          void queries.invalidateQueries();
          await pause(pollMs, attempt.signal);
        }
      } finally {
        window.clearTimeout(settling);
        stopWatching();
        abort();
      }
    }
  }

  // No locks exist outside of a secure context: then each tab has its own stream.
  void (navigator.locks === undefined
    ? stream()
    : navigator.locks.request('curd.console.stream', { signal }, stream).catch(() => {}));

  return () => {
    ending.abort();
    channel.close();
    window.clearTimeout(timer);
  };
}
