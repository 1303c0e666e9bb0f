/** What remains of the limits of a plan, as JSON. */
import type { RateLimitStatus } from './rate-limits.ts';

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
    burst: {
      type: 'object',
      description: 'Requests in a second',
      required: ['limit', 'remaining'],
      properties: { limit: count, remaining: count },
    },
  },
} as const;

export function quotaOf({ plan, hour, burst }: RateLimitStatus) {
  return {
    plan,
    hour:
      hour === null
        ? null
        : { limit: hour.limit, remaining: hour.remaining, resetSeconds: Math.ceil(hour.resetMs / 1000) },
    burst: { limit: burst.limit, remaining: burst.remaining },
  };
}
