/** How well an endpoint responds: when it is paused, and when it is disabled. */
import { timestamp } from '../clock.ts';
import type { EndpointHealth, EndpointRow } from './queries.ts';

/** Requests to one endpoint at once, over all instances. */
export const requestsMax = 8;
/** Failures in a row after which an endpoint gets one request at a time. */
const failuresForOneAtATime = 10;
const pauseMs = 30_000;
const pauseMsMax = 600_000;
/** Time in which a failed delivery is sent again in any case. */
const recoveryMs = 5000;
/** Too many requests, and gateways whose server is not there. */
const pausing: readonly (number | null)[] = [429, 502, 504];

/** How many requests to an endpoint may run now. */
export function chooseRunningMax(endpoint: EndpointRow, now: number): number {
  if (endpoint.status === 'disabled' || isPaused(endpoint, now)) {
    return 0;
  }
  return endpoint.failures_in_row >= failuresForOneAtATime ? 1 : requestsMax;
}

export function isPaused({ paused_until }: EndpointHealth, now: number): boolean {
  return paused_until !== null && Date.parse(paused_until) > now;
}

export function afterSuccess({ id }: EndpointHealth): EndpointHealth {
  return { id, failing_since: null, failures_in_row: 0, paused_until: null, pause_ms: 0 };
}

/** A test ping was accepted, but no delivery yet: the endpoint still counts as failing. */
export function afterTest({ id, failing_since }: EndpointHealth): EndpointHealth {
  return { id, failing_since, failures_in_row: 0, paused_until: null, pause_ms: 0 };
}

/** Whether a success ends a time without one. A receiver that only refuses some events has such times too, short ones. */
export function isRecovery({ failing_since }: EndpointHealth, now: number): boolean {
  return failing_since !== null && now - Date.parse(failing_since) >= recoveryMs;
}

/**
 * @param startedAt of the failed attempt
 * @param status null without a response
 */
export function afterFailure(
  before: EndpointHealth,
  startedAt: string,
  status: number | null,
  now: number,
): EndpointHealth {
  const { id, failing_since, failures_in_row, paused_until, pause_ms } = before;
  // Requests that ran at the same time as the one that began the pause do not make it longer.
  const isPausing = pausing.includes(status) && !isPaused(before, now);
  const nextPauseMs = isPausing ? Math.min(pause_ms * 2 || pauseMs, pauseMsMax) : pause_ms;
  return {
    id,
    failing_since: failing_since !== null && failing_since < startedAt ? failing_since : startedAt,
    failures_in_row: failures_in_row + 1,
    paused_until: isPausing ? timestamp(now + nextPauseMs) : paused_until,
    pause_ms: nextPauseMs,
  };
}
