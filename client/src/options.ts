/** The options of the client and of each operation. */
import type { components } from './schema.ts';

/**
 * A token, or a function that returns the current one, or undefined for none. It is called before each request, and once
 * more with the token that the server refused as invalid; the request is then sent again.
 */
export type TokenSource = string | ((refused?: string) => string | undefined | Promise<string | undefined>);

export interface CurdOptions {
  /** URL of the shop: `https://shop.example`. */
  readonly baseUrl: string;
  /** An API key, for servers only. */
  readonly apiKey?: string | undefined;
  /** An OAuth token, or a function such as those of `@curd/client/oauth`. */
  readonly token?: TokenSource | undefined;
  /** The token of a customer's login. With an API key, the key then acts for this customer. */
  readonly session?: string | undefined;
  /** Permits live API keys in pages, where every visitor can read them. */
  readonly allowKeysInBrowsers?: boolean | undefined;
  /** How often a request is repeated. 3 by default. */
  readonly maxRetries?: number | undefined;
  /** The longest delay before a repetition, in milliseconds. Longer ones are errors. 20 s by default. */
  readonly maxWaitMs?: number | undefined;
  /** How long an attempt may take, in milliseconds. 60 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Requests at once; more wait in a queue. 32 by default. */
  readonly maxConcurrency?: number | undefined;
  /** Sends requests instead of the global `fetch`: with a proxy, a custom certificate, or a recorder in tests. */
  readonly fetch?: typeof fetch | undefined;
  /** Called before each attempt, which waits for it. */
  readonly beforeAttempt?: ((attempt: Attempt) => void | Promise<void>) | undefined;
  /** Called after each attempt, for logs and metrics. */
  readonly afterAttempt?: ((attempt: Attempt, result: AttemptResult) => void) | undefined;
  /** Called before the delay of a repetition. */
  readonly onRetry?: ((attempt: Attempt, retry: Retry) => void) | undefined;
  /** Called if the server ignored members of the body that it does not know: they are misspelt, or it is older. */
  readonly onWarning?: ((attempt: Attempt, warning: Warning) => void) | undefined;
}

/** One sending of a request. */
export interface Attempt {
  /** Counts from 1. */
  readonly number: number;
  readonly method: string;
  readonly url: string;
  /** Names in lower case. `beforeAttempt` may change them. They contain the credentials. */
  readonly headers: Record<string, string>;
}

/** What became of an attempt. */
export interface AttemptResult {
  /** undefined if none arrived. Its body is not for hooks. */
  readonly response: Response | undefined;
  /** Why no response arrived. */
  readonly error: unknown;
  readonly durationMs: number;
}

/** Why and when a request is sent again. */
export interface Retry extends AttemptResult {
  readonly delayMs: number;
}

/** What a response says that is no error. */
export interface Warning {
  /** Paths of members of the body, such as `items[0].colour`: the first ten at most. */
  readonly ignored: readonly string[];
}

/** What every operation accepts as its last argument. */
export interface CallOptions {
  /** Aborts the operation: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** How long each attempt may take, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** The key by which the server recognizes a repeated POST. Random by default. */
  readonly idempotencyKey?: string | undefined;
  /**
   * The version that may be changed: `etagOf` of an object that `get` or a change returned. Items of a list have none. The
   * operation rejects, and sends nothing, if the option is given and undefined.
   */
  readonly ifMatch?: string | undefined;
  /**
   * The IP address of the visitor for whom a server logs in or registers a customer. With an API key, limits count it and
   * not the address of the server.
   */
  readonly clientIp?: string | undefined;
  /** More headers, such as `Prefer`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What operations accept that can be tried without an effect. */
export interface WriteOptions extends CallOptions {
  /**
   * `true` returns what the operation would return, and changes nothing. `'effects'` returns everything that it would
   * change. A server that does not know dry runs makes the change: the operation then rejects, and says so.
   */
  readonly dryRun?: boolean | 'effects' | undefined;
}

/** The result of an operation with these options. */
export type Outcome<Options extends WriteOptions, T> = Options extends { readonly dryRun: 'effects' }
  ? components['schemas']['DryRunResult']
  : T;

/** The options with their defaults, after they were checked. */
export function checkOptions(options: CurdOptions = { baseUrl: '' }) {
  const { baseUrl, apiKey, token, session, allowKeysInBrowsers = false } = options;
  if (!/^https?:\/\/[^/?#]/.test(baseUrl)) {
    throw new TypeError(
      `baseUrl is "${baseUrl}", but must be the URL of a shop, such as https://shop.example.`,
    );
  }
  if (/\/v2\/*$/.test(baseUrl)) {
    throw new TypeError(`baseUrl is "${baseUrl}". Leave out /v2.`);
  }
  for (const [name, value] of Object.entries({ apiKey, session, token })) {
    if (typeof value === 'string' && !/^[\x20-\x7e]*$/.test(value.trim())) {
      throw new TypeError(`${name} contains characters that no credential has. Copy it again.`);
    }
  }
  if (Object.hasOwn(options, 'session') && session === undefined && apiKey?.startsWith('sk_')) {
    throw new TypeError(
      'session is undefined: with the secret key alone, the shop itself would read and order. Leave it out, or ask the customer to log in.',
    );
  }
  if (token !== undefined && session !== undefined) {
    throw new TypeError('token and session are sent in the same header. Give one of them.');
  }
  if (apiKey?.startsWith('sk_live_') && 'document' in globalThis && !allowKeysInBrowsers) {
    throw new TypeError(
      'Every visitor of this page can read the live API key in it. Sign in with @curd/client/oauth, or use a ' +
        'customer session. For a page on your own machine, set allowKeysInBrowsers.',
    );
  }
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    token: token ?? session,
    maxRetries: options.maxRetries ?? 3,
    maxWaitMs: options.maxWaitMs ?? 20_000,
    timeoutMs: options.timeoutMs ?? 60_000,
    maxConcurrency: options.maxConcurrency ?? 32,
    fetch: options.fetch,
    beforeAttempt: options.beforeAttempt,
    afterAttempt: options.afterAttempt,
    onRetry: options.onRetry,
    onWarning: options.onWarning,
  };
}
