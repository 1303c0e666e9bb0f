/** Log lines about requests: those that failed in the server and, at the level debug, all. */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { toTraceId } from '../trace.ts';
import type { RecentFailures } from './recent-failures.ts';

const intervalMs = 1000;

export interface RequestLogOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Whether lines contain the client IP, which privacy laws treat as personal data. */
  readonly withClientIp: boolean;
}

/** Keeps facts of requests, without text of the request. */
export interface RequestRecorder {
  /** Called once for every response: keeps those that the request log is for. @param error null if it is not an error of the API */
  record(request: FastifyRequest, status: number, milliseconds: number, error: AppError | null): void;
  /** The facts that the request log keeps, for the log line of a failure. */
  describe(request: FastifyRequest, status: number, milliseconds: number, error: AppError | null): object;
}

/** What identifies a request in this log and in those of other services. */
function identityOf(request: FastifyRequest, { clock, withClientIp }: RequestLogOptions) {
  const { id, headers, routeOptions, exchange } = request;
  const principal = exchange?.principal ?? null;
  const { traceparent } = headers;
  return {
    requestId: id,
    ...(traceparent === undefined ? {} : { traceId: toTraceId(traceparent, clock) }),
    ...(withClientIp ? { clientIp: request.ip } : {}),
    route: routeOptions?.url,
    ...(principal === null ? {} : { principal: principal.id }),
  };
}

/** Logs every response with its duration. */
export function createRequestLog(options: RequestLogOptions) {
  return (request: FastifyRequest, status: number, milliseconds: number): void => {
    const durationMs = Math.round(milliseconds * 100) / 100;
    const { method } = request;
    options.log.debug({ ...identityOf(request, options), method, status, durationMs }, 'answered');
  };
}

/**
 * Logs failures of the server, with their cause. There can be thousands of 503 for the same reason, so one of them is
 * logged per second, with the number of those `before` it that were not. What is logged is also remembered.
 */
export function createErrorLog(
  options: RequestLogOptions,
  failures: RecentFailures,
  describe: (error: AppError, request: FastifyRequest) => object,
): (error: AppError, request: FastifyRequest) => void {
  const { log, clock } = options;
  const recent = new Map<string, { readonly until: number; unlogged: number }>();

  const factsOf = (error: AppError, request: FastifyRequest) => ({
    ...identityOf(request, options),
    request: describe(error, request),
  });

  return (error, request) => {
    if (error.code !== 'unavailable') {
      const facts = factsOf(error, request);
      failures.add(error, request);
      log.error({ ...facts, err: error.cause ?? error }, error.message);
      return;
    }
    const last = recent.get(error.message);
    const now = clock.now();
    if (last !== undefined && now < last.until) {
      last.unlogged += 1;
      return;
    }
    failures.add(error, request);
    recent.set(error.message, { until: now + intervalMs, unlogged: 0 });
    const facts = factsOf(error, request);
    const more = last === undefined || last.unlogged === 0 ? {} : { before: last.unlogged };
    if (error.cause === undefined) {
      log.warn({ ...facts, ...more }, error.message);
    } else {
      log.error({ ...facts, ...more, err: error.cause }, error.message);
    }
  };
}
