/** Sends requests: credentials, timeouts, retries. What a request means is known to `api.ts` only. */
import { ConnectionFailed } from './errors.ts';
import { type CallOptions, type CurdOptions, checkOptions } from './options.ts';
import { Queue } from './queue.ts';
import { backoffMs, createIdempotencyKey, delayAfter, sleep } from './retries.ts';

/** A request as data, because each attempt sends it again. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: RequestInit['body'];
  /** Sends one attempt, where `fetch` is not enough. */
  readonly fetch?: typeof fetch | undefined;
}

/** The last response, whatever its status, and how often the request was sent. */
export interface Reply<T> {
  readonly response: Response;
  readonly value: T;
  readonly attempts: number;
}

export class Http {
  readonly baseUrl: string;
  /** The `RateLimit` header of the last response. */
  rateLimit: string | null = null;
  readonly #options: ReturnType<typeof checkOptions>;
  readonly #queue: Queue;

  constructor(options: CurdOptions) {
    this.#options = checkOptions(options);
    this.baseUrl = this.#options.baseUrl;
    this.#queue = new Queue(this.#options.maxConcurrency);
  }

  /**
   * Sends a request until its response is final.
   * @param read reads the body as a part of the attempt: a body that breaks off is requested again
   * @throws ConnectionFailed, or the reason of the signal
   */
  async send<T>(
    request: OutgoingRequest,
    options: CallOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<Reply<T>> {
    const { maxRetries, maxWaitMs, apiKey, token } = this.#options;
    const { signal } = options;
    const headers: Record<string, string> = { ...request.headers };
    if (apiKey !== undefined) {
      headers['x-api-key'] = apiKey;
    }
    if (options.ifMatch !== undefined) {
      headers['if-match'] = options.ifMatch;
    }
    if (request.method === 'POST') {
      // One key for all attempts: the server carries the operation out once.
      headers['idempotency-key'] = options.idempotencyKey ?? createIdempotencyKey();
    }
    let refusedToken: string | undefined;
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      const bearer = typeof token === 'function' ? await token(refusedToken) : token;
      // It may have aborted meanwhile, and a listener that is added later is not called.
      signal?.throwIfAborted();
      if (bearer !== undefined) {
        headers.authorization = `Bearer ${bearer}`;
      }
      Object.assign(headers, options.headers);
      let delayMs: number | null;
      try {
        const reply = await this.#queue.run(() => this.#attempt(request, headers, options, read), signal);
        const { response } = reply;
        if (typeof token === 'function' && refusedToken === undefined && isInvalidToken(response)) {
          refusedToken = bearer;
          attempts -= 1;
          continue;
        }
        delayMs = delayAfter(response, attempts);
        if (delayMs === null || delayMs > maxWaitMs || attempts > maxRetries) {
          return { ...reply, attempts };
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (attempts > maxRetries) {
          throw connectionFailed(request, attempts, error);
        }
        delayMs = backoffMs(attempts);
      }
      await sleep(delayMs, signal);
    }
  }

  /** Sends a request once, and ends it after the timeout or when the signal aborts. */
  async #attempt<T>(
    { method, url, body, fetch = globalThis.fetch }: OutgoingRequest,
    headers: Readonly<Record<string, string>>,
    { signal, timeoutMs = this.#options.timeoutMs }: CallOptions,
    read: (response: Response) => Promise<T>,
  ) {
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(
      () => controller.abort(new DOMException(`No response in ${timeoutMs} ms.`, 'TimeoutError')),
      timeoutMs,
    );
    try {
      // Another host must not get the API key, so a redirect is not followed.
      const init: RequestInit = { method, headers, signal: controller.signal, redirect: 'manual' };
      const response = await fetch(url, body === undefined ? init : { ...init, body });
      this.rateLimit = response.headers.get('RateLimit') ?? this.rateLimit;
      return { response, value: await read(response) };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }
}

function isInvalidToken(response: Response): boolean {
  return response.status === 401 && /invalid_token/.test(response.headers.get('WWW-Authenticate') ?? '');
}

/** `fetch` of Node says "fetch failed", and its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const { message, cause } = error;
  return cause instanceof Error && cause.message !== '' ? `${message}, ${cause.message}` : message;
}

function connectionFailed({ method, url }: OutgoingRequest, attempts: number, cause: unknown): Error {
  const { origin, pathname: path } = new URL(url);
  const reason = reasonOf(cause).replace(/\.$/, '');
  return new ConnectionFailed(
    `No response from ${origin} after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}: ${reason}.`,
    {
      status: 0,
      type: 'connection_failed',
      requestId: undefined,
      retryAfterSeconds: undefined,
      attempts,
      method,
      path,
      errors: [],
    },
    { cause },
  );
}
