/** What the log says of requests: those that failed on our side, and at the level debug all. */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { traceIdOf } from './trace.ts';

const silenceMs = 1000;

/** By which a request is found again, here and in the systems of others. */
function factsOf({ id, headers, routeOptions, principal }: FastifyRequest, clock: Clock) {
  const { traceparent } = headers;
  return {
    requestId: id,
    ...(traceparent === undefined ? {} : { traceId: traceIdOf(traceparent, clock) }),
    route: routeOptions?.url,
    ...(principal === null || principal === undefined ? {} : { principal: principal.id }),
  };
}

/** Every answer, with how long it took. */
export function createAnswerLog(log: Log, clock: Clock) {
  return (request: FastifyRequest, status: number, milliseconds: number): void => {
    const durationMs = Math.round(milliseconds * 100) / 100;
    const { method } = request;
    log.debug({ ...factsOf(request, clock), method, status, durationMs }, 'answered');
  };
}

/**
 * A fault of ours is written each time, with its cause. A 503 for the same reason comes by the thousand: of those, one
 * a second is written, with the number of those `before` it that were not.
 */
export function createFaultLog(log: Log, clock: Clock): (error: AppError, request: FastifyRequest) => void {
  const recent = new Map<string, { readonly until: number; unwritten: number }>();

  return (error, request) => {
    const facts = factsOf(request, clock);
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
