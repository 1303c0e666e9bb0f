/**
 * Notices that the server does not respond, and that it is back. Every request of the page is watched.
 * While the server is away, changes are refused at once: what a person writes stays in the form.
 */

const probeMs = 1000;
const send = globalThis.fetch.bind(globalThis);

let isAway = false;
const listeners = new Set<() => void>();
const returns = new Set<() => void>();

export const connection = {
  isAway: (): boolean => isAway,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  /** Calls a function when the server responds again. */
  onReturn(listener: () => void): () => void {
    returns.add(listener);
    return () => returns.delete(listener);
  },
};

function set(next: boolean): void {
  isAway = next;
  for (const listener of listeners) {
    listener();
  }
}

async function probe(): Promise<void> {
  while (isAway) {
    await new Promise((resolve) => window.setTimeout(resolve, probeMs));
    const isBack = await send('/healthz', { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isBack) {
      set(false);
      for (const listener of returns) {
        listener();
      }
    }
  }
}

/** Replaces `fetch`, by which the client of the API sends its requests. */
export function watchRequests(): void {
  globalThis.fetch = async (input, init) => {
    if (isAway && init?.method !== undefined && init.method !== 'GET') {
      throw new TypeError('The server does not respond');
    }
    try {
      return await send(input, init);
    } catch (error) {
      if (init?.signal?.aborted !== true && !isAway) {
        set(true);
        void probe();
      }
      throw error;
    }
  };
}
