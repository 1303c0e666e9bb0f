/** Schemas of webhook endpoints. */
import type { XStatic } from 'typebox/schema';
import { typesMax } from '../events/list-schemas.ts';
import { int64, listOf, nullableTimestampSchema, objectOf, timestampSchema } from '../schema/parts.ts';
import { durationRule, lineRule, multilineRule } from '../schema/text-rules.ts';
import { waitingForValues } from './delivery/waiting.ts';

export const urlCharactersMax = 2048;

const text = { type: 'string' } as const;
const nullableText = { type: ['string', 'null'] } as const;
const eventId = 'evt_k3Xw_1043';

const url = {
  type: 'string',
  minLength: 1,
  maxLength: urlCharactersMax,
  rule: lineRule,
  description: 'Where events are sent. Outside of local: https, and every IP address of the host is public',
} as const;
export const types = {
  type: ['array', 'null'],
  minItems: 1,
  maxItems: typesMax,
  items: { type: 'string', minLength: 1, maxLength: 64 },
  description:
    'Types of events, or `order.*`; null for those that every API key sees, so not for `api_key.*` and others that only `admin` sees',
} as const;
const description = {
  type: ['string', 'null'],
  maxLength: 500,
  rule: multilineRule,
  description: 'For people. Do not write secrets or personal data in it',
} as const;
export const position = { type: 'string', minLength: 1, maxLength: 64 } as const;

export const waitingFor = {
  type: ['string', 'null'],
  enum: [...waitingForValues, null],
  description:
    'lease: a server sends it; if the server has stopped, it is sent again seconds after `dueAt`. earlier_delivery: an earlier one of the same subject is not delivered yet. retry: its last attempt has failed. pause: the endpoint returned 429, 502 or 504. turn: it is due, and sent as soon as a request to the endpoint is free. enabling: the endpoint is disabled',
} as const;
export const dueAt = {
  ...nullableTimestampSchema,
  description: 'When it is due; null where that does not depend on time alone',
} as const;

const EndpointSecret = objectOf({
  last4: { ...text, description: 'The last four characters before the padding' },
  createdAt: timestampSchema,
  endsAt: {
    ...nullableTimestampSchema,
    description: 'When a secret that was replaced stops signing; null for the newest',
  },
});

export const WebhookEndpoint = {
  title: 'WebhookEndpoint',
  ...objectOf({
    id: int64,
    account: { ...text, description: 'Name of the account to which it belongs' },
    url: text,
    types: { type: ['array', 'null'], items: text, description: types.description },
    description: nullableText,
    status: { type: 'string', enum: ['enabled', 'disabled'] },
    disabledReason: {
      type: ['string', 'null'],
      enum: ['gone', 'failing', 'events_expired', 'secret_unreadable', 'on_request', null],
      description:
        'gone: it returned 410. failing: a delivery was given up and none succeeded. events_expired: its position has left the log. secret_unreadable: CURD_SECRET was changed. on_request: by an operator',
    },
    position: { ...text, description: 'The last event that was examined for it' },
    waiting: { type: 'integer', description: 'Deliveries that wait or are being sent' },
    waitingFor: {
      ...waitingFor,
      description: `Why the delivery that is next waits; null where none does. ${waitingFor.description}`,
    },
    dueAt,
    failingSince: { ...nullableTimestampSchema, description: 'First failed attempt since the last success' },
    createdAt: timestampSchema,
    updatedAt: timestampSchema,
    secrets: {
      type: 'array',
      items: EndpointSecret,
      description: 'Secrets that sign, the newest first. Two during the overlap of a rotation',
    },
  }),
  examples: [
    {
      id: 3,
      account: 'warehouse',
      url: 'https://warehouse.example/curd',
      types: ['order.*'],
      description: 'Picking lists',
      status: 'enabled',
      disabledReason: null,
      position: eventId,
      waiting: 0,
      waitingFor: null,
      dueAt: null,
      failingSince: null,
      createdAt: '2026-11-22T09:30:00.000Z',
      updatedAt: '2026-11-22T09:30:00.000Z',
      secrets: [{ last4: '4c2Q', createdAt: '2026-11-22T09:30:00.000Z', endsAt: null }],
    },
  ],
} as const;

export const WebhookEndpointList = listOf('WebhookEndpointList', WebhookEndpoint);

export const WebhookEndpointWithSecret = {
  title: 'WebhookEndpointWithSecret',
  type: 'object',
  required: [...WebhookEndpoint.required, 'secret'],
  properties: {
    ...WebhookEndpoint.properties,
    secret: { ...text, description: 'Verifies the signatures. It is shown only once' },
  },
  examples: [
    { ...WebhookEndpoint.examples[0], secret: 'whsec_44-letters-and-digits-of-base64-that-end-in-4c2Q=' },
  ],
} as const;

export const WebhookEndpointInput = {
  title: 'WebhookEndpointInput',
  type: 'object',
  required: ['url'],
  properties: {
    url,
    types,
    description,
    since: {
      ...position,
      default: 'latest',
      description: 'The first events: those after an event id, an RFC 3339 time, `earliest` or `latest`',
    },
    account: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      rule: lineRule,
      description: 'Name of the account; that of the credential by default',
    },
  },
  examples: [{ url: 'https://warehouse.example/curd', types: ['order.*'] }],
} as const;
export type WebhookEndpointInput = XStatic<typeof WebhookEndpointInput>;

export const WebhookEndpointChange = {
  title: 'WebhookEndpointChange',
  type: 'object',
  properties: { url, types, description },
  examples: [{ description: 'Picking lists of the second warehouse' }],
} as const;
export type WebhookEndpointChange = XStatic<typeof WebhookEndpointChange>;

export const SecretRotation = {
  title: 'SecretRotation',
  type: 'object',
  properties: {
    overlap: {
      type: 'string',
      maxLength: 16,
      rule: durationRule,
      default: '24h',
      description: 'How long the old secret signs as well, at most 7d; 0s ends it immediately',
    },
  },
  examples: [{ overlap: '24h' }],
} as const;

export const EndpointEnabling = {
  title: 'EndpointEnabling',
  type: 'object',
  properties: {
    skip: {
      type: 'boolean',
      default: false,
      description: 'Continue with new events. What the endpoint missed is not sent',
    },
  },
  examples: [{ skip: true }],
} as const;

export const WebhookTestResult = {
  title: 'WebhookTestResult',
  ...objectOf({
    status: { type: ['integer', 'null'], description: 'Of the response; null where there was none' },
    durationMs: { type: 'integer' },
    error: { ...nullableText, description: 'Why a delivery like this would fail; null for a success' },
    response: { ...nullableText, description: 'The first 1,024 bytes of the response' },
  }),
  examples: [{ status: 200, durationMs: 38, error: null, response: 'ok' }],
} as const;
