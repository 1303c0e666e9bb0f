/** Sends requests: credentials, timeouts, retries. What a request means is known to `api.ts` only. */
import { ConnectionFailed } from './errors.ts';
import {
  type Attempt,
  type AttemptResult,
  type CurdOptions,
  checkOptions,
  type WriteOptions,
} from './options.ts';
import { Queue } from './queue.ts';
import { backoffMs, createIdempotencyKey, delayAfter, sleep } from './retries.ts';
import { version } from './version.ts';

/** A request as data, because each attempt sends it again. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: RequestInit['body'];
  /** Sends one attempt, if `fetch` is not enough. */
  readonly fetch?: typeof fetch | undefined;
}

/** The last response, whatever its status, and how often the request was sent. */
export interface Reply<T> {
  readonly response: Response;
  readonly value: T;
  readonly attempts: number;
  /** The key of a POST; undefined for other methods. */
  readonly idempotencyKey: string | undefined;
}

/** What all views of a client have in common. */
interface Shared {
  readonly options: ReturnType<typeof checkOptions>;
  readonly queue: Queue;
  /** The `RateLimit` header of the last response. */
  rateLimit: string | null;
}

/** The customer for whom a view of a client sends its requests. */
export interface OnBehalfOf {
  readonly token: string;
  readonly clientIp: string | undefined;
}

export class Http {
  readonly #shared: Shared;
  readonly #behalf: OnBehalfOf | undefined;

  constructor(options: CurdOptions | Http, behalf?: OnBehalfOf) {
    this.#shared = options instanceof Http ? options.#shared : share(checkOptions(options));
    this.#behalf = behalf;
  }

  get baseUrl(): string {
    return this.#shared.options.baseUrl;
  }

  /** The `RateLimit` header of the last response. */
  get rateLimit(): string | null {
    return this.#shared.rateLimit;
  }

  /** Sends with the same connections and limits, for a customer. */
  onBehalfOf(behalf: OnBehalfOf): Http {
    if ((this.#behalf ?? this.#shared.options).token !== undefined) {
      throw new TypeError('Call as() of a client with a key alone.');
    }
    return new Http(this, behalf);
  }

  /**
   * Sends a request until its response is final.
   * @param read reads the body as a part of the attempt: a body that breaks off is requested again
   * @throws ConnectionFailed, or the reason of the signal
   */
  async send<T>(
    request: OutgoingRequest,
    options: WriteOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<Reply<T>> {
    const { maxRetries, maxWaitMs, onRetry, onWarning } = this.#shared.options;
    const token = this.#behalf?.token ?? this.#shared.options.token;
    const { signal } = options;
    const headers = this.#headersOf(request, options);
    const idempotencyKey = headers['idempotency-key'];
    let refusedToken: string | undefined;
    for (let attempts = 1; ; attempts += 1) {
      signal?.throwIfAborted();
      const bearer = typeof token === 'function' ? await token(refusedToken) : token;
      // It may have aborted meanwhile, and a listener that is added later is not called.
      signal?.throwIfAborted();
      if (bearer === undefined) {
        delete headers.authorization;
      } else {
        headers.authorization = `Bearer ${bearer}`;
      }
      Object.assign(headers, options.headers);
      const attempt = { number: attempts, method: request.method, url: request.url, headers: { ...headers } };
      const result = await this.#shared.queue.run(
        () => this.#attempt(request, attempt, options, read),
        signal,
      );
      const { response, value } = result;
      let delayMs: number | null;
      if (response !== undefined) {
        const isOfFunction = typeof token === 'function' && bearer !== undefined;
        if (isOfFunction && refusedToken === undefined && isInvalidToken(response)) {
          refusedToken = bearer;
          attempts -= 1;
          continue;
        }
        delayMs = delayAfter(response, attempts);
        if (delayMs === null || delayMs > maxWaitMs || attempts > maxRetries) {
          const ignored = response.headers.get('Curd-Ignored');
          if (ignored !== null) {
            onWarning?.(attempt, { ignored: ignored.split(', ').map(decodeURIComponent) });
          }
          requireDryRun(response, request, options);
          return { response, value: value as T, attempts, idempotencyKey };
        }
      } else {
        signal?.throwIfAborted();
        if (attempts > maxRetries) {
          throw connectionFailed(request, attempts, idempotencyKey, result.error);
        }
        delayMs = backoffMs(attempts);
      }
      onRetry?.(attempt, { ...result, delayMs });
      await sleep(delayMs, signal);
    }
  }

  #headersOf({ method, headers }: OutgoingRequest, options: WriteOptions): Record<string, string> {
    const { apiKey } = this.#shared.options;
    const { ifMatch, dryRun, clientIp = this.#behalf?.clientIp } = options;
    // A change without a version would overwrite the changes of others, which is what ifMatch is to prevent.
    if (Object.hasOwn(options, 'ifMatch') && !ifMatch) {
      throw new TypeError(
        'ifMatch is empty: items of a list have no version. Read the object with get() and send its etagOf(), or leave ifMatch out.',
      );
    }
    const isPost = method === 'POST';
    const optional = {
      // Browsers send a name of their own.
      'user-agent': isServer ? `curd-client/${version}` : undefined,
      'x-api-key': apiKey,
      'if-match': ifMatch,
      'dry-run': dryRun?.toString(),
      'curd-client-ip': clientIp,
      // One key for all attempts: the server carries the operation out once.
      'idempotency-key': isPost ? (options.idempotencyKey ?? createIdempotencyKey()) : undefined,
    };
    const given = Object.entries(optional).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return { ...headers, ...Object.fromEntries(given) };
  }

  /** Sends a request once, and ends it after the timeout or when the signal aborts. */
  async #attempt<T>(
    { body, fetch = this.#shared.options.fetch ?? globalThis.fetch }: OutgoingRequest,
    attempt: Attempt,
    { signal, timeoutMs = this.#shared.options.timeoutMs }: WriteOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<AttemptResult & { readonly value?: T }> {
    const { beforeAttempt, afterAttempt } = this.#shared.options;
    await beforeAttempt?.(attempt);
    const { method, url, headers } = attempt;
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(
      () => controller.abort(new DOMException(`No response in ${timeoutMs} ms.`, 'TimeoutError')),
      timeoutMs,
    );
    const startedAt = performance.now();
    const result: { response?: Response; error?: unknown; value?: T } = {};
    try {
      // Another host must not get the API key, so a redirect is not followed.
      const init: RequestInit = { method, headers, signal: controller.signal, redirect: 'manual' };
      const response = await fetch(url, body === undefined ? init : { ...init, body });
      this.#shared.rateLimit = response.headers.get('RateLimit') ?? this.#shared.rateLimit;
      result.value = await read(response);
      result.response = response;
    } catch (error) {
      result.error = error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
    const { response, error, value } = result;
    const outcome = { response, error, durationMs: performance.now() - startedAt };
    afterAttempt?.(attempt, outcome);
    return { ...outcome, ...(response === undefined ? {} : { value: value as T }) };
  }
}

const share = (options: Shared['options']): Shared => ({
  options,
  queue: new Queue(options.maxConcurrency),
  rateLimit: null,
});

/** Node, Deno and Bun. */
const isServer = 'process' in globalThis;

/** @throws Error when a successful response does not say that nothing was changed */
function requireDryRun(response: Response, { method, url }: OutgoingRequest, { dryRun }: WriteOptions): void {
  if (dryRun !== undefined && dryRun !== false && response.ok && !response.headers.has('Dry-Run')) {
    throw new Error(
      `${method} ${new URL(url).pathname} was not a dry run: the server or a proxy does not know the header. Undo the change.`,
    );
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

function unknownOutcome(idempotencyKey: string | undefined): string {
  return idempotencyKey === undefined
    ? ''
    : ' The request may have been carried out. Send the same request again with the idempotencyKey of this error: it cannot be carried out twice.';
}

function connectionFailed(
  { method, url }: OutgoingRequest,
  attempts: number,
  idempotencyKey: string | undefined,
  cause: unknown,
): Error {
  const { origin, pathname: path } = new URL(url);
  const reason = reasonOf(cause).replace(/\.$/, '');
  return new ConnectionFailed(
    `No response from ${origin} after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}: ${reason}.${unknownOutcome(idempotencyKey)}`,
    {
      status: 0,
      type: 'connection_failed',
      requestId: undefined,
      retryAfterSeconds: undefined,
      attempts,
      idempotencyKey,
      method,
      path,
      errors: [],
    },
    { cause },
  );
}
