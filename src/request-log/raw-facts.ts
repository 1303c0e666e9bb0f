/** What the request log stores of a request: no text of it, and unformatted. facts.ts formats it for readers. */
import type { FastifyRequest } from 'fastify';
import { findActingCustomer } from '../access/principal.ts';
import type { Clock } from '../clock.ts';
import type { AppError, DetailsByCode } from '../errors.ts';
import { toTraceId } from '../http/trace.ts';
import { countedPrincipal } from '../limits/rate-limits.ts';
import { redactedErrors, redactedMessage } from './redaction.ts';

export interface RecordedResponse {
  readonly request: FastifyRequest;
  readonly status: number;
  /** The time until the response began. */
  readonly milliseconds: number;
  readonly error: AppError | null;
}

export interface FactOptions {
  readonly clock: Clock;
  /** The name of this server process. */
  readonly instance: string;
}

export type RawFacts = ReturnType<typeof readFacts>;

/** Called for requests that are kept or fail alone. Every change is one, so it formats nothing and calls little. */
export function readFacts(
  { request, status, milliseconds, error: thrown }: RecordedResponse,
  { clock, instance }: FactOptions,
) {
  const { method, id, startedAt, headers } = request;
  // The framework refuses some requests before it adds an exchange.
  const exchange = request.exchange ?? null;
  const principals = exchange?.principals ?? [];
  const counted = countedPrincipal(principals);
  // The principal that may use the route; without one, the one that was counted.
  const actor = exchange?.principal ?? counted;
  // A tool reports its error in a response with the status 200.
  const error = thrown ?? exchange?.tool?.error ?? null;
  let customer: number | null = null;
  for (const principal of actor === undefined ? principals : [actor, ...principals]) {
    customer ??= findActingCustomer(principal);
  }
  return {
    id,
    at: clock.now(),
    instance,
    method,
    url: request.is404 ? null : (request.routeOptions?.url ?? null),
    tool: exchange?.tool?.name ?? null,
    ids: idsOf(request.params ?? {}),
    status,
    milliseconds,
    // The ends of the parts of the request after its start; 0 or less for a part that it did not reach.
    ends: [
      (exchange?.credentialAt ?? 0) - startedAt,
      (exchange?.limitsAt ?? 0) - startedAt,
      (exchange?.handlerAt ?? 0) - startedAt,
    ],
    actor: actor && { kind: actor.kind, id: actor.id, accountId: actor.accountId, scopes: [...actor.scopes] },
    customer,
    left: exchange?.charge?.rateLimitStatus() ?? null,
    plan: counted?.plan ?? null,
    access: exchange?.route.access ?? null,
    hasPrincipal: exchange === null || exchange.principal !== null,
    refusal: error === null ? null : refusalOf(error, request),
    ignoredMembers: exchange?.ignoredMembers ?? 0,
    hasKey: method === 'POST' && headers['idempotency-key'] !== undefined,
    isReplayed: exchange?.reply.getHeader('idempotency-replayed') === 'true',
    dryRun: (exchange?.dryRun ?? null) !== null,
    simulated: exchange?.reply.getHeader('x-simulated') === 'true',
    traceId: headers.traceparent === undefined ? null : givenTraceId(String(headers.traceparent), clock),
  };
}

/** The parameters that are ids, if they are numbers. A username can be a number too. */
function idsOf(params: unknown): Record<string, number> {
  const ids: Record<string, number> = {};
  for (const [name, value] of Object.entries(params as Record<string, string>)) {
    if (name.endsWith('Id') && /^[1-9]\d{0,14}$/.test(value)) {
      ids[name] = Number(value);
    }
  }
  return ids;
}

/** Called for errors only. */
function refusalOf(error: AppError, request: FastifyRequest) {
  const limited = detailsOf(error, 'rateLimited');
  return {
    type: error.type,
    message: redactedMessage(error, request),
    ...redactedErrors(error, request),
    limits: limited?.limits ?? [],
    refusedBy: limited?.refusedBy ?? null,
    scopes: detailsOf(error, 'forbidden')?.scopes ?? null,
    isCredentialMissing: detailsOf(error, 'unauthorized')?.credential === 'missing',
  };
}

function detailsOf<C extends keyof DetailsByCode>(error: AppError, code: C): DetailsByCode[C] | undefined {
  return error.code === code ? (error.details as DetailsByCode[C] | undefined) : undefined;
}

/** null for a `traceparent` that is not valid. */
function givenTraceId(traceparent: string, clock: Clock): string | null {
  const id = toTraceId(traceparent, clock);
  return traceparent.includes(id) ? id : null;
}
