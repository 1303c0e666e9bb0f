/** How often an operator may let an endpoint be tried at once: test pings, and deliveries before they are due. */
import type { Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { endpointQueries } from '../endpoint-queries.ts';

/** Pings of an endpoint. */
export const pingsMax = 5;
const minuteMs = 60_000;

/**
 * Counts one, in a transaction that has locked the endpoint, so over all instances.
 * @throws AppError rateLimited
 */
export async function countManualAttempt(tx: Sql, endpointId: number, now: number): Promise<void> {
  // A time in the future was written while a clock was ahead.
  const recent = (await endpointQueries(tx).listTestPings(endpointId)).filter(
    (at) => at > now - minuteMs && at <= now,
  );
  if (recent.length >= pingsMax) {
    throw new AppError(
      'rateLimited',
      `This endpoint was tested or delivered to by hand ${pingsMax} times within a minute. Wait as long as Retry-After says.`,
      { details: { retryAfterMs: (recent[0] ?? now) + minuteMs - now } },
    );
  }
  await endpointQueries(tx).updateTestPings(endpointId, [...recent, now]);
}
