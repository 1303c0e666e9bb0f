/** What remains of the limits of a plan, as JSON. */
import type { LimitState } from '../errors.ts';
import type { RateLimitStatus } from './usage-counter.ts';

const count = { type: 'integer' } as const;

/** The schema; it has no title, because it is part of other schemas. */
export const Quota = {
  type: 'object',
  required: ['plan', 'hour', 'burst'],
  properties: {
    plan: { type: 'string' },
    hour: {
      type: ['object', 'null'],
      description: 'null when the plan has no hourly limit',
      required: ['limit', 'remaining', 'resetSeconds'],
      properties: { limit: count, remaining: count, resetSeconds: count },
    },
    minute: {
      type: 'object',
      description:
        'Requests of a publishable key from this client IP in a minute; absent for other credentials',
      required: ['limit', 'remaining', 'resetSeconds'],
      properties: { limit: count, remaining: count, resetSeconds: count },
    },
    burst: {
      type: 'object',
      description: 'Requests in a second',
      required: ['limit', 'remaining'],
      properties: { limit: count, remaining: count },
    },
  },
} as const;

export function toQuota({ plan, hour, minute, burst }: RateLimitStatus) {
  return {
    plan,
    hour: hour === null ? null : toWindow(hour),
    ...(minute === undefined ? {} : { minute: toWindow(minute) }),
    burst: { limit: burst.limit, remaining: burst.remaining },
  };
}

/** A limit as JSON. */
export function toWindow({ limit, remaining, resetMs }: LimitState) {
  return { limit, remaining, resetSeconds: Math.ceil(resetMs / 1000) };
}
