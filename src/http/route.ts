/**
 * What a route is: data. A route file reads as the contract, and everything else is derived from it: the handler
 * chain (mount.ts), the OpenAPI document (openapi.ts) and the tests that walk over every route.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { XStatic } from 'typebox/schema';
import type { Access } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Context } from '../database/context.ts';
import type { ReceivedFile } from '../files/received-file.ts';
import type { ReplayTime } from '../idempotency/store.ts';
import type { RateLimitStatus } from '../limits/rate-limits.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Parameters, ParameterValues, Schema } from '../schema/schema.ts';
import type { Asset } from './asset.ts';

/** Text that goes out as it is, JSON unless the route says otherwise. */
export class TextBody {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Text that is made piece by piece, as quickly as the client reads it: not for HEAD. No piece is empty. */
export class TextStream {
  readonly open: () => AsyncIterable<string>;

  constructor(open: () => AsyncIterable<string>) {
    this.open = open;
  }
}

/** Bytes that are read only where they are sent: not for HEAD, and not where the client has them already. */
export class FileBody {
  readonly open: () => Promise<Readable>;

  constructor(open: () => Promise<Readable>) {
    this.open = open;
  }
}

/** What a handler answers. `body` is a value to be serialised, ready text, a stream of text, bytes, static content, or nothing. */
export interface RouteResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?:
    | TextBody
    | TextStream
    | FileBody
    | Asset
    | Readonly<Record<string, unknown>>
    | readonly unknown[];
}

/** A body that is a form with one file, and text fields beside it. */
export interface FormWithFile<F extends Parameters> {
  /** The name of the file's field. */
  readonly fileField: string;
  readonly fileBytesMax: number;
  readonly description: string;
  readonly fields: F;
}

/** A form as it was received. The handler decides when it is validated: other refusals can come first. */
export interface ReceivedUpload<F> {
  readonly file: ReceivedFile | null;
  /** @throws AppError validation where the file is missing or in another part, or a field is invalid */
  readonly validated: () => { readonly file: ReceivedFile; readonly fields: F };
}

/** What a handler gets: checked values, who is calling, and the context for services. */
export interface RouteRequest<Q, B, F> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  /** null where nobody in particular is calling. */
  readonly principal: Principal | null;
  /** Where the caller stands, where a valid credential came along. */
  readonly rateLimitStatus: () => RateLimitStatus | null;
  /** The address that the call came from. */
  readonly clientIp: () => string;
  /** Counts the request as several where it is counted by client IP. @throws AppError rateLimited */
  readonly countAs: (requests: number) => void;
  readonly context: Context;
  /** Reads the form of a route that declares one. @throws AppError unsupportedMediaType, payloadTooLarge, validation */
  readonly receive: () => Promise<ReceivedUpload<F>>;
  /**
   * Runs a verb that writes once for each Idempotency-Key and answers with what `render` makes of its result.
   * The result of the verb must be that of its transaction: the answer is stored with it.
   */
  readonly withIdempotency: <T>(
    verb: (context: Context) => Promise<T>,
    render: (result: T) => RouteResponse,
  ) => Promise<RouteResponse>;
}

/** What a route may answer, by status: a schema of JSON, other media types, or words alone where there is no body. */
export type DocumentedResponses = Readonly<
  Record<
    number,
    {
      readonly description: string;
      readonly schema?: Schema;
      /** Other than JSON. */
      readonly mediaTypes?: readonly string[];
      /** Where the schema has none of its own. */
      readonly example?: unknown;
    }
  >
>;

export interface RouteDefinition<
  Q extends Parameters,
  B extends Schema,
  F extends Parameters = Record<never, never>,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to /v2, with parameters as `:name`; operational routes give the whole path. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** A request with the same result that any API key may send: the 403 for a missing scope names it. */
  readonly alternative?: string;
  readonly query?: Q;
  /** Query values that fail are 400, unless the contract of the route says 422. */
  readonly queryFailsAs?: 'badRequest' | 'validation';
  readonly headers?: Parameters;
  readonly body?: B;
  readonly bodyIsOptional?: boolean;
  /**
   * Fields of the resource that the route cannot change: naming one in the query or the body is 422, because the client
   * expects a change. Unknown names are ignored.
   */
  readonly unchangeable?: { readonly fields: readonly string[]; readonly remedy: string };
  /** The body may be a form as well as JSON. */
  readonly takesForms?: boolean;
  /** The body is this form and nothing else; the handler reads it when it is ready to. */
  readonly upload?: FormWithFile<F>;
  readonly responses: DocumentedResponses;
  /** Whoever logs in or registers: without a valid credential, an address may do so less often than anything else. */
  readonly isForAccounts?: boolean;
  /** When the stored response of an Idempotency-Key is looked up, unless in the transaction. */
  readonly replay?: ReplayTime;
  /** A GET that changes something: it does not answer HEAD. */
  readonly mutatesOnGet?: boolean;
  /** Values of parameters with which to try the operation, where those that openapi.ts knows are not fit for it. */
  readonly examples?: Readonly<Record<string, string | number>>;
  /** Not under /v2, where the contract is. */
  readonly isAtRoot?: boolean;
  /** Answers may be long: they are compressed for whoever accepts it, and carry weak tags for that. */
  readonly compressible?: boolean;
  /** Of the answer, where it is not JSON. */
  readonly mediaType?: string;
  /** Since when (ISO date) the route is deprecated, and the path that takes its place. */
  readonly deprecated?: { readonly since: string; readonly successor: string };
  readonly handle: (
    call: RouteRequest<ParameterValues<Q>, XStatic<B>, ParameterValues<F>>,
  ) => MaybePromise<RouteResponse>;
}

/** A route whose types are no longer of interest. */
export type Route = Omit<RouteDefinition<Parameters, Schema, Parameters>, 'handle'> & {
  // biome-ignore lint/suspicious/noExplicitAny: the values were checked against the schemas that gave the types.
  readonly handle: (call: RouteRequest<any, any, any>) => MaybePromise<RouteResponse>;
};

/** What the OpenAPI document says of a route. */
export type Described = Omit<Route, 'handle'> & {
  /** Media types of the body; JSON by default. */
  readonly bodyTypes?: readonly string[];
};

/** The path of a route on the server. */
export function fullPath(route: Pick<Route, 'path' | 'access' | 'isAtRoot'>): string {
  return route.access === 'operational' || route.isAtRoot ? route.path : `/v2${route.path}`;
}

/** Ties the types of a handler to the schemas beside it. */
export function route<
  const Q extends Parameters = Record<never, never>,
  const B extends Schema = Record<never, never>,
  const F extends Parameters = Record<never, never>,
>(definition: RouteDefinition<Q, B, F>): Route {
  return definition;
}
