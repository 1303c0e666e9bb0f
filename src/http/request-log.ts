/** What the log says of requests: those that failed on our side, and at the level debug all. */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { traceIdOf } from './trace.ts';

const silenceMs = 1000;

export interface RequestLogOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Whether lines contain the client IP, which privacy laws treat as personal data. */
  readonly withClientIp: boolean;
}

/** What identifies a request in our log and in those of others. */
function factsOf(request: FastifyRequest, { clock, withClientIp }: RequestLogOptions) {
  const { id, headers, routeOptions, exchange } = request;
  const principal = exchange?.principal ?? null;
  const { traceparent } = headers;
  return {
    requestId: id,
    ...(traceparent === undefined ? {} : { traceId: traceIdOf(traceparent, clock) }),
    ...(withClientIp ? { clientIp: request.ip } : {}),
    route: routeOptions?.url,
    ...(principal === null ? {} : { principal: principal.id }),
  };
}

/** Every answer, with how long it took. */
export function createRequestLog(options: RequestLogOptions) {
  return (request: FastifyRequest, status: number, milliseconds: number): void => {
    const durationMs = Math.round(milliseconds * 100) / 100;
    const { method } = request;
    options.log.debug({ ...factsOf(request, options), method, status, durationMs }, 'answered');
  };
}

/**
 * A fault of ours is written each time, with its cause. A 503 for the same reason comes by the thousand: of those, one
 * a second is written, with the number of those `before` it that were not.
 */
export function createErrorLog(
  options: RequestLogOptions,
): (error: AppError, request: FastifyRequest) => void {
  const { log, clock } = options;
  const recent = new Map<string, { readonly until: number; unwritten: number }>();

  return (error, request) => {
    const facts = factsOf(request, options);
    if (error.code !== 'unavailable') {
      log.error({ ...facts, err: error.cause ?? error }, error.message);
      return;
    }
    const last = recent.get(error.message);
    const now = clock.now();
    if (last !== undefined && now < last.until) {
      last.unwritten += 1;
      return;
    }
    recent.set(error.message, { until: now + silenceMs, unwritten: 0 });
    const more = last === undefined || last.unwritten === 0 ? {} : { before: last.unwritten };
    if (error.cause === undefined) {
      log.warn({ ...facts, ...more }, error.message);
    } else {
      log.error({ ...facts, ...more, err: error.cause }, error.message);
    }
  };
}
