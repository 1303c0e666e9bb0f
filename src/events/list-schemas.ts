/** What the API says of events. */
import { int64, timestampSchema } from '../schema/parts.ts';
import type { Parameters, Schema } from '../schema/schema.ts';

export const typesMax = 20;

const eventExample = {
  id: 'evt_k3Xw_1043',
  type: 'order.shipped',
  timestamp: '2026-11-22T09:42:13.123Z',
  sequence: 1043,
  subject: 'order:31',
  actor: 'key:12',
  requestId: '0f3c9a4e-5a43-4c0c-8f6b-2a1f6f3f4a11',
  data: { id: 31, status: 'shipped', total: 709.5, reason: null },
};

export const Event = {
  title: 'Event',
  type: 'object',
  required: ['id', 'type', 'timestamp', 'sequence', 'subject', 'actor', 'requestId', 'data'],
  properties: {
    id: { type: 'string', description: 'Also the position after the event: send it as `since`' },
    type: {
      type: 'string',
      description: 'What happened. New types may be added: ignore those you do not know',
    },
    timestamp: timestampSchema,
    sequence: { ...int64, description: 'Rises by exactly one from event to event' },
    subject: { type: 'string', description: 'What it happened to: `order:31`, `cheese:7`, `customer:5`' },
    actor: {
      type: 'string',
      description: 'Who caused it: `key:12`, `customer:5`, `client:ab12`, `cli`, `system`',
    },
    requestId: {
      type: ['string', 'null'],
      description: 'X-Request-Id of the request that caused it; do not send personal data in that header',
    },
    data: { type: 'object', additionalProperties: true, description: 'Depends on the type' },
  },
  examples: [eventExample],
} as const satisfies Schema;

export const EventList = {
  title: 'EventList',
  type: 'object',
  required: ['items', 'next', 'hasMore'],
  properties: {
    items: { type: 'array', items: Event },
    next: {
      type: 'string',
      description: 'The position after the last event that was examined: send it as `since`',
    },
    hasMore: { type: 'boolean', description: 'Whether more events follow now, matching or not' },
  },
  examples: [{ items: [eventExample], next: 'evt_k3Xw_1043', hasMore: false }],
} as const satisfies Schema;

const since = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'Events after this position: an event id, an RFC 3339 time, `earliest` or `latest`',
} as const;

export const filterQuery = {
  types: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 64 },
    maxItems: typesMax,
    description: 'Types with commas, or `cheese.*`',
  },
  subject: { type: 'string', minLength: 1, maxLength: 120, description: 'One subject, such as `order:31`' },
} as const satisfies Parameters;

export const listQuery = {
  since: { ...since, default: 'earliest' },
  ...filterQuery,
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Events of a page' },
  wait: {
    type: 'integer',
    minimum: 0,
    maximum: 30,
    default: 0,
    description: 'Seconds to wait for an event where there is none',
  },
} as const satisfies Parameters;

export const streamQuery = { since, ...filterQuery } as const satisfies Parameters;
