/** Schemas of deliveries, and of what sends events again. */
import type { XStatic } from 'typebox/schema';
import {
  cursorParameter,
  int64,
  limitParameter,
  nullableTimestampSchema,
  objectOf,
  timestampSchema,
} from '../../schema/parts.ts';
import type { Parameters } from '../../schema/schema.ts';
import { dueAt, position, types, waitingFor } from '../schemas.ts';

const text = { type: 'string' } as const;
const nullableText = { type: ['string', 'null'] } as const;
const eventId = 'evt_k3Xw_1043';
export const deliveryStatuses = ['waiting', 'sending', 'delivered', 'failed'] as const;

export const Replay = {
  title: 'Replay',
  type: 'object',
  required: ['since'],
  properties: {
    since: {
      ...position,
      description: 'Events after this position: an event id, an RFC 3339 time or `earliest`',
    },
    until: {
      ...position,
      default: 'latest',
      description: 'Up to this position, with the event of an event id',
    },
    types: { ...types, type: 'array', description: 'Of the types of the endpoint, only these' },
  },
  examples: [{ since: '2026-11-21T00:00:00Z' }],
} as const;
export type Replay = XStatic<typeof Replay>;

export const ReplayResult = {
  title: 'ReplayResult',
  ...objectOf({ deliveries: { type: 'integer', description: 'How many deliveries were queued' } }),
  examples: [{ deliveries: 128 }],
} as const;

export const DeliverNowResult = {
  title: 'DeliverNowResult',
  ...objectOf({ deliveries: { type: 'integer', description: 'How many deliveries wait or are being sent' } }),
  examples: [{ deliveries: 688 }],
} as const;

const deliveryProperties = {
  id: int64,
  endpointId: int64,
  eventId: { ...text, description: 'The `webhook-id` of every attempt' },
  type: text,
  subject: text,
  kind: { type: 'string', enum: ['event', 'replay'] },
  status: { type: 'string', enum: deliveryStatuses },
  attemptCount: { type: 'integer' },
  lastStatus: { type: ['integer', 'null'], description: 'Of the last response' },
  lastError: { ...nullableText, description: 'Why the last attempt failed' },
  createdAt: timestampSchema,
  waitingFor: {
    ...waitingFor,
    description: `Why it waits; null when it has ended. ${waitingFor.description}`,
  },
  dueAt,
  endedAt: { ...nullableTimestampSchema, description: 'When it was delivered or given up' },
} as const;
const deliveryExample = {
  id: 118,
  endpointId: 3,
  eventId,
  type: 'order.shipped',
  subject: 'order:31',
  kind: 'event',
  status: 'delivered',
  attemptCount: 2,
  lastStatus: 200,
  lastError: null,
  createdAt: '2026-11-22T09:42:13.160Z',
  waitingFor: null,
  dueAt: null,
  endedAt: '2026-11-22T09:42:18.420Z',
} as const;

export const WebhookDeliveryList = {
  title: 'WebhookDeliveryList',
  ...objectOf({
    items: { type: 'array', items: objectOf(deliveryProperties) },
    nextCursor: { ...nullableText, description: 'Send it as `cursor`; null on the last page' },
    hasMore: { type: 'boolean' },
  }),
  examples: [{ items: [deliveryExample], nextCursor: null, hasMore: false }],
} as const;

export const WebhookDelivery = {
  title: 'WebhookDelivery',
  ...objectOf({
    ...deliveryProperties,
    attempts: {
      type: 'array',
      items: objectOf({
        number: { type: 'integer' },
        at: timestampSchema,
        durationMs: { type: ['integer', 'null'], description: 'null while the attempt runs' },
        status: { type: ['integer', 'null'], description: 'Of the response; null where there was none' },
        error: { ...nullableText, description: 'Why the attempt failed' },
        response: { ...nullableText, description: 'The first 1,024 bytes of the response' },
      }),
    },
  }),
  examples: [
    {
      ...deliveryExample,
      attempts: [
        {
          number: 1,
          at: '2026-11-22T09:42:13.170Z',
          durationMs: 12,
          status: 500,
          error: 'the response had the status 500',
          response: 'database is locked',
        },
        {
          number: 2,
          at: '2026-11-22T09:42:18.400Z',
          durationMs: 20,
          status: 200,
          error: null,
          response: 'ok',
        },
      ],
    },
  ],
} as const;

export const RetryResult = {
  title: 'RetryResult',
  ...objectOf({
    deliveryId: { ...int64, description: 'The new delivery of the event, or the one that waited' },
  }),
  examples: [{ deliveryId: 119 }],
} as const;

export const deliveryListQuery = {
  status: { type: 'string', enum: deliveryStatuses, description: 'Only deliveries in this status' },
  eventId: { type: 'string', minLength: 1, maxLength: 64, description: 'Only deliveries of this event' },
  cursor: cursorParameter(2000),
  limit: limitParameter('Deliveries on a page'),
} as const satisfies Parameters;
