/** The facts of a request that the request log keeps and the log line of a failure contains: no text of the request. */
import type { FastifyRequest } from 'fastify';
import type { Access } from '../access/access.ts';
import { actingCustomerOf, type Principal } from '../access/principal.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { AppError, DetailsByCode, LimitState } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { traceIdOf } from '../http/trace.ts';
import { countedPrincipal } from '../limits/rate-limits.ts';
import { quotaOf, toWindow } from '../limits/schemas.ts';
import { redactedErrors, redactedMessage } from './redaction.ts';

export interface RecordedResponse {
  readonly request: FastifyRequest;
  readonly status: number;
  /** The time until the response began. */
  readonly milliseconds: number;
  readonly error: AppError | null;
}

export type RequestFacts = ReturnType<typeof factsOf>;

export interface FactOptions {
  readonly clock: Clock;
  /** The name of this server process. */
  readonly instance: string;
}

/** Called for requests that are kept or fail alone: most requests are neither. */
export function factsOf(
  { request, status, milliseconds, error: thrown }: RecordedResponse,
  { clock, instance }: FactOptions,
) {
  const { method, id } = request;
  const exchange = exchangeOf(request);
  const reply = exchange?.reply;
  const error = errorOf(exchange, thrown);
  const { errors, unlisted } = redactedErrors(error, request);
  return {
    id,
    at: timestamp(clock.now()),
    instance,
    method,
    route: routeOf(request),
    tool: exchange?.tool?.name ?? null,
    ids: idsOf(request),
    status,
    milliseconds: rounded(milliseconds),
    parts: partsOf(exchange, request.startedAt, milliseconds),
    credential: credentialOf(exchange),
    limits: limitsOf(exchange, error),
    access: accessOf(exchange, error),
    errors,
    ...(unlisted > 0 ? { moreErrors: unlisted } : {}),
    ...(exchange !== null && exchange.ignoredMembers > 0 ? { ignoredMembers: exchange.ignoredMembers } : {}),
    error: error === null ? null : { type: error.type, message: redactedMessage(error, request) },
    idempotency: {
      used: method === 'POST' && request.headers['idempotency-key'] !== undefined,
      replayed: reply?.getHeader('idempotency-replayed') === 'true',
    },
    dryRun: (exchange?.dryRun ?? null) !== null,
    simulated: reply?.getHeader('x-simulated') === 'true',
    traceId: givenTraceId(request, clock),
  };
}

/** A tool reports its error in a response with the status 200. */
export function errorOf(exchange: Exchange | null, thrown: AppError | null): AppError | null {
  return thrown ?? exchange?.tool?.error ?? null;
}

/** The framework refuses some requests before it adds an exchange. */
export function exchangeOf({ exchange }: FastifyRequest): Exchange | null {
  return exchange ?? null;
}

/** The path with parameters as in openapi.json; null where there is no such path. */
export function routeOf(request: FastifyRequest): string | null {
  const url = request.is404 ? undefined : request.routeOptions?.url;
  return url === undefined ? null : url.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}');
}

/** Only numbers, and only parameters that are ids: a username can be a number too. */
function idsOf(request: FastifyRequest): Record<string, number> {
  const params = (request.params ?? {}) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(params)
      .filter(([name, value]) => name.endsWith('Id') && /^[1-9]\d{0,14}$/.test(value))
      .map(([name, value]) => [name, Number(value)]),
  );
}

/** Hundredths of a millisecond, rounded down, so that the parts never exceed the whole. */
function rounded(milliseconds: number): number {
  return Math.floor(milliseconds * 100) / 100;
}

/** A part that the request did not reach is 0; the last one that it reached ends with the request. */
function partsOf(exchange: Exchange | null, startedAt: number, milliseconds: number) {
  const { credentialAt = 0, limitsAt = 0, handlerAt = 0 } = exchange ?? {};
  const ends = [credentialAt, limitsAt, handlerAt, startedAt + milliseconds];
  let before = startedAt;
  let isOver = false;
  const [credential = 0, limits = 0, body = 0, handler = 0] = ends.map((end) => {
    if (isOver) {
      return 0;
    }
    isOver = end === 0;
    const until = isOver ? startedAt + milliseconds : end;
    const part = rounded(Math.max(0, until - before));
    before = until;
    return part;
  });
  return { credential, limits, body, handler };
}

function credentialOf(exchange: Exchange | null) {
  const principal = exchange === null ? undefined : actorOf(exchange);
  if (principal === undefined) {
    return null;
  }
  const customer = customerOf(exchange);
  return {
    kind: principal.kind,
    id: principal.id,
    account: principal.accountId === null ? null : `account:${principal.accountId}`,
    scopes: [...principal.scopes],
    actsFor: customer === null ? null : `customer:${customer}`,
  };
}

/** The principal that may use the route; where there is none, the one that was counted. */
function actorOf({ principal, principals }: Exchange): Principal | undefined {
  return principal ?? countedPrincipal(principals);
}

/** The id of the customer for whom the request acted, permitted or not. */
export function customerOf(exchange: Exchange | null): number | null {
  const all = exchange === null ? [] : [exchange.principal, ...exchange.principals];
  return all.map((one) => (one === null ? null : actingCustomerOf(one))).find((id) => id !== null) ?? null;
}

/** Who may see the request, besides operators: the account before the customer; empty without a valid credential. */
export function ownerOfRequest(exchange: Exchange | null): string {
  const principal = countedPrincipal(exchange?.principals ?? []);
  if (principal === undefined) {
    return '';
  }
  const { accountId, customerId } = principal;
  return accountId === null ? `customer:${customerId}` : `account:${accountId}`;
}

function limitsOf(exchange: Exchange | null, error: AppError | null) {
  const status = exchange?.charge?.rateLimitStatus();
  const { limits = [], refusedBy = null } = detailsOf(error, 'rateLimited') ?? {};
  if (status !== undefined) {
    return { ...quotaOf(status), refusedBy };
  }
  const stateOf = (policy: LimitState['policy']) => limits.find((one) => one.policy === policy);
  const [hour, minute, burst] = [stateOf('hour'), stateOf('minute'), stateOf('burst')];
  const plan = countedPrincipal(exchange?.principals ?? [])?.plan ?? null;
  return {
    plan,
    hour: hour === undefined ? null : toWindow(hour),
    ...(minute === undefined ? {} : { minute: toWindow(minute) }),
    burst: burst === undefined ? null : { limit: burst.limit, remaining: burst.remaining },
    refusedBy,
  };
}

function accessOf(exchange: Exchange | null, error: AppError | null) {
  const requires = exchange === null ? [] : requirementsOf(exchange.route.access);
  const forbidden = detailsOf(error, 'forbidden');
  const isUnauthorized = detailsOf(error, 'unauthorized')?.credential === 'missing';
  const missing = isUnauthorized
    ? requires
    : forbidden === undefined
      ? []
      : forbidden.scopes.length > 0
        ? [...forbidden.scopes]
        : requires.filter((one) => one === 'session' && exchange?.principal === null);
  return { requires, missing };
}

/** Any of them is enough. */
function requirementsOf(access: Access): readonly string[] {
  if (typeof access === 'string') {
    return access === 'any credential' ? ['anyCredential'] : [];
  }
  return access.map((one) => (one.kind === 'oauth' ? one.scope : one.kind));
}

function detailsOf<C extends keyof DetailsByCode>(
  error: AppError | null,
  code: C,
): DetailsByCode[C] | undefined {
  return error?.code === code ? (error.details as DetailsByCode[C] | undefined) : undefined;
}

/** null without a valid `traceparent`. */
function givenTraceId({ headers }: FastifyRequest, clock: Clock): string | null {
  const { traceparent } = headers;
  const id = traceparent === undefined ? null : traceIdOf(traceparent, clock);
  return id !== null && String(traceparent).includes(id) ? id : null;
}
