/** Parameters and pages of the event log. */
import { limitParameter } from '../schema/parts.ts';
import type { Parameters, Schema } from '../schema/schema.ts';

export const typesMax = 20;

export function toEventList(eventSchema: Schema): Schema {
  return {
    title: 'EventList',
    type: 'object',
    required: ['items', 'next', 'hasMore'],
    properties: {
      items: { type: 'array', items: eventSchema },
      next: {
        type: 'string',
        description: 'The position after the last event that was examined: send it as `since`',
      },
      hasMore: { type: 'boolean', description: 'Whether more events follow now, matching or not' },
    },
    examples: [{ items: eventSchema.examples, next: 'evt_k3Xw_1043', hasMore: false }],
  };
}

const since = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'Events after this position: an event id, an RFC 3339 time, `earliest` or `latest`',
} as const;

const filterQuery = {
  types: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 64 },
    maxItems: typesMax,
    description: 'Types with commas, or `cheese.*`',
  },
  subject: { type: 'string', minLength: 1, maxLength: 120, description: 'One subject, such as `order:31`' },
} as const satisfies Parameters;

export const waitParameter = {
  type: 'integer',
  minimum: 0,
  maximum: 30,
  default: 0,
  description: 'Seconds to wait where there is nothing new',
} as const;

export const listQuery = {
  since: { ...since, default: 'earliest' },
  ...filterQuery,
  limit: limitParameter('Events of a page'),
  wait: waitParameter,
} as const satisfies Parameters;

export const streamQuery = {
  since: {
    ...since,
    description: `${since.description}. \`Last-Event-ID\` wins over it`,
    default: 'latest',
  },
  ...filterQuery,
} as const satisfies Parameters;
