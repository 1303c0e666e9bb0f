/**
 * A route is data: method, path, schemas, access and every response, with one handler. The request pipeline
 * (pipeline.ts), the OpenAPI document (openapi.ts) and the tests that visit every route are derived from it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { XStatic } from 'typebox/schema';
import type { Access, PublishableAccess } from '../access/access.ts';
import type { Audience, Principal } from '../access/principal.ts';
import type { Context } from '../database/context.ts';
import type { AppError } from '../errors.ts';
import type { ReceivedFile } from '../files/received-file.ts';
import type { RateLimitGroup } from '../limits/client-ip-limits.ts';
import type { RateLimitStatus } from '../limits/usage-counter.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { BatchEntry } from '../schema/batch.ts';
import type { Parameters, ParameterValues, Schema } from '../schema/schema.ts';
import type { ReplayTime } from '../stored-responses/store.ts';
import type { CorsPolicy } from './cors.ts';
import type { DocumentedResponses, RouteResponse } from './responses/response.ts';

/** A body that is a form with one file and text fields. */
export interface FormWithFile<F extends Parameters> {
  /** The name of the file's field. */
  readonly fileField: string;
  readonly fileBytesMax: number;
  readonly description: string;
  readonly fields: F;
  /** Fields that are not declared are errors, because without them the request would do something else. */
  readonly refusesOthers?: true;
}

/** A received form. The handler decides when it is validated, because other refusals can come first. */
export interface ReceivedUpload<F> {
  readonly file: ReceivedFile | null;
  /** @throws AppError validation when the file is missing or in another part, or when a field is invalid */
  readonly validated: () => { readonly file: ReceivedFile; readonly fields: F };
}

/** The connection of a request whose response stays open. */
export interface OpenConnection {
  readonly httpVersion: string;
  /** Aborted when the client has closed the connection. */
  readonly closed: AbortSignal;
  /** Checks the credential again. @throws AppError unauthorized, forbidden */
  readonly recheckCredential: () => Promise<void>;
  /** Ends the connection at once. */
  readonly destroy: () => void;
}

/** The request of a route that another one runs. */
export interface InnerRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: URLSearchParams;
  /** Names are in lower case. */
  readonly headers?: IncomingHttpHeaders;
  readonly body?: unknown;
  readonly isDryRun?: boolean;
}

/** A tool that a request runs. The response has the status 200 also if the tool fails. */
export interface ToolUse {
  readonly name: string;
  /** Runs on behalf of the tool. */
  readonly route: Route;
  /** The schema of the arguments. */
  readonly input: Schema;
  readonly error: AppError | null;
}

/** What a handler receives: validated values, the principal, and the context for services. */
export interface RouteRequest<Q, B, F, P> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  /** Its type follows from the access of the route. */
  readonly principal: P;
  /** null when the request has no valid credential. */
  readonly rateLimitStatus: () => RateLimitStatus | null;
  /** The client IP as limits count it. A function, because most routes do not need it. */
  readonly clientIp: () => string;
  /**
   * The client IP of a visitor; null for a server with a secret credential that does not state one, because it sends
   * requests of all its visitors.
   */
  readonly visitorIp: () => string | null;
  /** Counts a request without a valid credential as several. @throws AppError rateLimited */
  readonly countAs: (requests: number) => MaybePromise<void>;
  /** Called by routes whose response stays open: a long poll or a stream. */
  readonly openConnection: () => OpenConnection;
  readonly context: Context;
  /** Checks whether the credential of this request permits another route. @throws AppError forbidden */
  readonly authorizeFor: (route: Route) => void;
  /** Runs another route with the credential of this request. @throws AppError forbidden, and those of the route */
  readonly runRoute: (route: Route, request: InnerRequest) => Promise<RouteResponse>;
  /** Names the tool in the request log. */
  readonly noteTool: (tool: ToolUse) => void;
  /** Reads the form of a route that declares one. @throws AppError unsupportedMediaType, payloadTooLarge, validation */
  readonly receive: () => Promise<ReceivedUpload<F>>;
  /**
   * Runs a verb of a service once for each Idempotency-Key, and returns the response that `respond` makes of its
   * result. The verb must return the result of its transaction, because the response is stored in that transaction.
   */
  readonly withIdempotency: <T>(
    verb: (context: Context) => Promise<T>,
    respond: (result: T) => RouteResponse,
  ) => Promise<RouteResponse>;
}

/** A route always has a principal, unless it permits requests without a credential. */
type PrincipalOf<A extends Access> = A extends 'operational'
  ? null
  : A extends 'open'
    ? Principal | null
    : Principal;

/** The validated value of a body. A batch has one `BatchEntry` for each entry. */
type BodyOf<B extends Schema> = B extends { readonly isBatch: true; readonly items: infer I }
  ? readonly BatchEntry<XStatic<I>>[]
  : XStatic<B>;

export interface RouteDefinition<
  Q extends Parameters,
  B extends Schema,
  F extends Parameters = Record<never, never>,
  A extends Access = Access,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to /v2, with parameters as `:name`; `*` at its end is the rest of the path. Operational routes and those with `isAtRoot` state the whole path. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly access: A;
  /**
   * Permits confined requests: those with an API key, and the session or token of a person, whose data alone they may
   * reach (auth/guard.ts). Every other route that checks credentials refuses them, whatever the key permits.
   */
  readonly permitsConfined?: true;
  /** Permits publishable keys, which every other route refuses. test/auth/route-access.ts lists these routes. */
  readonly publishable?: PublishableAccess;
  /** A request with the same result that any API key may send. The 403 for a missing scope names it. */
  readonly alternative?: string;
  readonly query?: Q;
  /** Invalid query values are 400 by default, and 422 with `validation`. */
  readonly queryFailsAs?: 'badRequest' | 'validation';
  readonly headers?: Parameters;
  readonly body?: B;
  readonly bodyIsOptional?: boolean;
  /**
   * Fields of the resource that the route cannot change: sending one in the query or the body is 422, because the client
   * expects a change. Unknown names are ignored.
   */
  readonly unchangeable?: {
    readonly fields: readonly string[];
    readonly remedy: (params: Readonly<Record<string, string>>) => string;
  };
  /** The media types of a JSON body, if not every JSON type is accepted. */
  readonly bodyTypes?: readonly string[];
  /** Invalid bodies are 422 by default. */
  readonly bodyFailsAs?: 'badRequest';
  /** The largest body, if it is not that of every route. */
  readonly bodyBytesMax?: number;
  /** Members and elements of the largest JSON body, if not those of every route. */
  readonly bodyValuesMax?: number;
  /** The body may be a form or JSON. */
  readonly takesForms?: boolean;
  /** The body is this form. The handler calls `receive` to read it. */
  readonly upload?: FormWithFile<F>;
  readonly responses: DocumentedResponses;
  /** The limit by client IP for requests without a valid credential: `any` by default, `public` for operational routes. */
  readonly rateLimitGroup?: RateLimitGroup;
  /** Reads the header Curd-Client-IP, if the request has an API key: limits then count the client IP that it states. */
  readonly acceptsClientIp?: true;
  /** The route is a protected resource of its own: it accepts only tokens that were requested for it. */
  readonly resource?: {
    readonly audience: Audience;
    /** The URL of its metadata (RFC 9728), which its challenges name. */
    readonly metadataUrl: () => string;
  };
  /** The values of Origin that are not refused, if a page of another site must not send requests. */
  readonly origins?: () => readonly string[];
  /** Which scripts may read the responses: `public` by default. */
  readonly cors?: CorsPolicy;
  /** When the stored response of an Idempotency-Key is looked up: `inTransaction` by default. */
  readonly replay?: ReplayTime;
  /**
   * The route says that its responses contain neither a secret nor personal data: under an Idempotency-Key they are
   * stored unencrypted. Responses to a person's own credential are always encrypted.
   */
  readonly storesPlainResponse?: true | ((query: ParameterValues<Q>) => boolean);
  /**
   * `none` if a route that changes something refuses the header Dry-Run, because it returns a secret or writes
   * outside of one transaction. All other changes must be in one transaction of `context`.
   */
  readonly dryRun?: 'none';
  /** A GET that changes something. HEAD is 405. */
  readonly mutatesOnGet?: boolean;
  /** Example values of parameters, if the common ones in app/api-info.ts do not fit. */
  readonly examples?: Readonly<Record<string, string | number>>;
  /** The path is not under /v2. */
  readonly isAtRoot?: boolean;
  /** The media type of the response, if it is not JSON. */
  readonly mediaType?: string;
  /** The day from which the route is deprecated (ISO date), and the path that replaces it. */
  readonly deprecated?: { readonly since: string; readonly successor: string };
  readonly handle: (
    request: RouteRequest<ParameterValues<Q>, BodyOf<B>, ParameterValues<F>, PrincipalOf<A>>,
  ) => MaybePromise<RouteResponse>;
}

/** A route without the types of its values, for lists of routes. */
export type Route = Omit<
  RouteDefinition<Parameters, Schema, Parameters>,
  'handle' | 'storesPlainResponse'
> & {
  // biome-ignore lint/suspicious/noExplicitAny: as for the handler.
  readonly storesPlainResponse?: true | ((query: any) => boolean);
  // biome-ignore lint/suspicious/noExplicitAny: the values were checked against the schemas that gave the types.
  readonly handle: (request: RouteRequest<any, any, any, any>) => MaybePromise<RouteResponse>;
};

/** What the OpenAPI document states about a route. */
export type Described = Omit<Route, 'handle'>;

/** The path of a route on the server. */
export function fullPath(route: Pick<Route, 'path' | 'access' | 'isAtRoot'>): string {
  return route.access === 'operational' || route.isAtRoot ? route.path : `/v2${route.path}`;
}

/** The names of the parameters in a path. The rest of a path is named `path`. */
export const parametersIn = (path: string) =>
  [...path.matchAll(/:(\w+)|\*$/g)].map(([, name = 'path']) => name);

/** Does a request to the route change something? */
export function isChange({ method, mutatesOnGet }: Pick<Route, 'method' | 'mutatesOnGet'>): boolean {
  return method !== 'GET' || mutatesOnGet === true;
}

/** Can a request to the route be a dry run? */
export function hasDryRun(route: Pick<Route, 'method' | 'mutatesOnGet' | 'access' | 'dryRun'>): boolean {
  return isChange(route) && route.access !== 'operational' && route.dryRun !== 'none';
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
