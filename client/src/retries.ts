/** When a request is sent again, and how long the client waits before that. */

const retriedStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const firstDelayMs = 500;
const delayMaxMs = 8000;

/** The delay before the next attempt, or null if the response is final. */
export function delayAfter(response: Response, attempts: number): number | null {
  const seconds = retryAfterSeconds(response.headers);
  // A 409 with Retry-After: the first request with this idempotency key still runs.
  const isRetried =
    retriedStatuses.has(response.status) || (response.status === 409 && seconds !== undefined);
  if (!isRetried) {
    return null;
  }
  return seconds === undefined ? backoffMs(attempts) : seconds * 1000;
}

/** A random part of 0.5 s, 1 s, 2 s ... 8 s: clients that failed together do not return together. */
export function backoffMs(attempts: number): number {
  return Math.random() * Math.min(firstDelayMs * 2 ** (attempts - 1), delayMaxMs);
}

/** `Retry-After` in seconds. A proxy may send a date. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const value = headers.get('Retry-After');
  if (value === null) {
    return undefined;
  }
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Resolves after a time, or rejects with the reason of the signal. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** 128 random bits. Not `randomUUID`, which pages without https do not have. */
export function createIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
