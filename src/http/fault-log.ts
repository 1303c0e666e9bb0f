/** The log of requests that failed on our side. */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { AppError } from '../errors.ts';
import type { Log } from '../log.ts';

const silenceMs = 1000;

/**
 * A fault of ours is written each time, with its cause. A 503 for the same reason comes by the thousand: of those, one
 * a second is written, with the number of those `before` it that were not.
 */
export function createFaultLog(log: Log, clock: Clock): (error: AppError, request: FastifyRequest) => void {
  const recent = new Map<string, { readonly until: number; unwritten: number }>();

  return (error, request) => {
    const facts = { requestId: request.id, route: request.routeOptions?.url };
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
