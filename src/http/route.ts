/**
 * What a route is: data. A route file reads as the contract, and everything else is derived from it: the request
 * pipeline (pipeline.ts), the OpenAPI document (openapi.ts) and the tests that walk over every route.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { XStatic } from 'typebox/schema';
import type { Access } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Context } from '../database/context.ts';
import type { ReceivedFile } from '../files/received-file.ts';
import type { ReplayTime } from '../idempotency/store.ts';
import type { RateLimitGroup, RateLimitStatus } from '../limits/rate-limits.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { BatchEntry } from '../schema/batch.ts';
import type { Parameters, ParameterValues, Schema } from '../schema/schema.ts';
import type { CorsPolicy } from './cors.ts';
import type { DocumentedResponses, RouteResponse } from './response.ts';

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
export interface RouteRequest<Q, B, F, P> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  /** The caller; its type follows from the access of the route. */
  readonly principal: P;
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

/** Every route knows its caller, except those that do not ask for a credential. */
type PrincipalOf<A extends Access> = A extends 'operational'
  ? null
  : A extends 'open'
    ? Principal | null
    : Principal;

/** The value of a body: of a batch, the value or the errors of each entry. */
type BodyOf<B extends Schema> = B extends { readonly isBatch: true; readonly items: infer I }
  ? readonly BatchEntry<XStatic<I>>[]
  : XStatic<B>;

export interface RouteDefinition<
  Q extends Parameters,
  B extends Schema,
  F extends Parameters = Record<never, never>,
  A extends Access = Access,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to /v2, with parameters as `:name`; operational routes give the whole path. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: A;
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
  /** The limit by client IP for requests without a valid credential: `any` by default, `public` for operational routes. */
  readonly rateLimitGroup?: RateLimitGroup;
  /** Whether scripts of the origins in CURD_CORS_ORIGINS may read the responses: `public` by default. */
  readonly cors?: CorsPolicy;
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
    request: RouteRequest<ParameterValues<Q>, BodyOf<B>, ParameterValues<F>, PrincipalOf<A>>,
  ) => MaybePromise<RouteResponse>;
}

/** A route whose types are no longer of interest. */
export type Route = Omit<RouteDefinition<Parameters, Schema, Parameters>, 'handle'> & {
  // biome-ignore lint/suspicious/noExplicitAny: the values were checked against the schemas that gave the types.
  readonly handle: (request: RouteRequest<any, any, any, any>) => MaybePromise<RouteResponse>;
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

/** Does a request to the route change something? */
export function isChange({ method, mutatesOnGet }: Pick<Route, 'method' | 'mutatesOnGet'>): boolean {
  return method !== 'GET' || mutatesOnGet === true;
}

/** Ties the types of a handler to the schemas beside it. */
export function route<
  const Q extends Parameters = Record<never, never>,
  const B extends Schema = Record<never, never>,
  const F extends Parameters = Record<never, never>,
  const A extends Access = Access,
>(definition: RouteDefinition<Q, B, F, A>): Route {
  return definition;
}
