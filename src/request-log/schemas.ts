/** Schemas of the request log. */
import { int64, limitParameter, objectOf, timestampSchema } from '../schema/parts.ts';
import type { Parameters } from '../schema/schema.ts';
import { keptErrorsMax } from './redaction.ts';

const text = { type: 'string' } as const;
const nullableText = { type: ['string', 'null'] } as const;
const count = { type: 'integer' } as const;
const milliseconds = { type: 'number', minimum: 0 } as const;
const flag = { type: 'boolean' } as const;

const properties = {
  id: { ...text, description: 'The `X-Request-Id` of the response', examples: ['probe-1'] },
  at: { ...timestampSchema, description: 'When the response began' },
  instance: { ...text, description: 'The server process' },
  method: text,
  route: {
    ...nullableText,
    description: 'The path with its parameters; null where there is no such path',
    examples: ['/v2/cheeses/{cheeseId}'],
  },
  tool: {
    ...nullableText,
    description: 'The tool that a request to `/mcp` ran; its error has the status 200',
    examples: ['place_order'],
  },
  ids: {
    type: 'object',
    description: 'Numeric ids in the path',
    additionalProperties: int64,
    examples: [{ cheeseId: 7 }],
  },
  status: count,
  milliseconds: { ...milliseconds, description: 'Until the response began' },
  parts: {
    type: 'object',
    description:
      'Of these milliseconds: to check the credential, to count the request, to receive the body, and in the handler',
    required: ['credential', 'limits', 'body', 'handler'],
    properties: {
      credential: milliseconds,
      limits: milliseconds,
      body: milliseconds,
      handler: milliseconds,
    },
  },
  credential: {
    type: ['object', 'null'],
    description: 'null without a valid credential',
    required: ['kind', 'id', 'account', 'scopes', 'actsFor'],
    properties: {
      kind: { type: 'string', enum: ['apiKey', 'publishable', 'restricted', 'oauth', 'session'] },
      id: { ...text, examples: ['key:12'] },
      account: { ...nullableText, description: 'null for a session', examples: ['account:3'] },
      scopes: { type: 'array', items: text },
      actsFor: { ...nullableText, examples: ['customer:5'] },
    },
  },
  limits: {
    type: 'object',
    description: 'What was left after the request was counted; null where it was not counted by plan',
    required: ['plan', 'hour', 'burst', 'refusedBy'],
    properties: {
      plan: nullableText,
      hour: {
        type: ['object', 'null'],
        required: ['limit', 'remaining', 'resetSeconds'],
        properties: { limit: count, remaining: count, resetSeconds: count },
      },
      minute: {
        type: 'object',
        description: 'Of a publishable key and client IP; absent for other credentials',
        required: ['limit', 'remaining', 'resetSeconds'],
        properties: { limit: count, remaining: count, resetSeconds: count },
      },
      burst: {
        type: ['object', 'null'],
        required: ['limit', 'remaining'],
        properties: { limit: count, remaining: count },
      },
      refusedBy: {
        type: ['string', 'null'],
        enum: ['burst', 'minute', 'hour', 'clientIp', 'dryRun', null],
        description: 'The rate limit that refused the request',
      },
    },
  },
  access: objectOf({
    requires: {
      type: 'array',
      description: 'One of these is enough: a scope, `apiKey`, `session` or `anyCredential`',
      items: text,
    },
    missing: {
      type: 'array',
      description: 'Those that were missing where access was refused',
      items: text,
    },
  }),
  errors: {
    type: 'array',
    description: 'The first `errors` of the response, without text of the request',
    maxItems: keptErrorsMax,
    items: { type: 'object', required: ['field', 'message'], properties: { field: text, message: text } },
  },
  moreErrors: { ...count, description: 'Errors that are not listed' },
  ignoredMembers: {
    ...count,
    description:
      'Members of the body that no schema knows; absent where there are none. The header `Curd-Ignored` of the response named them',
  },
  error: {
    type: ['object', 'null'],
    description: 'Without text of the request; null without an error, and for OAuth endpoints',
    required: ['type', 'message'],
    properties: { type: text, message: text },
  },
  idempotency: objectOf({ used: flag, replayed: flag }),
  dryRun: flag,
  simulated: { ...flag, description: 'The response was simulated' },
  traceId: { ...nullableText, description: 'Of a valid `traceparent`' },
} as const;

const optional = ['moreErrors', 'ignoredMembers'] as const;

const example = {
  id: 'probe-1',
  at: '2026-01-15T09:30:00.000Z',
  instance: 'shop-1-4f21aa',
  method: 'POST',
  route: '/v2/cheeses',
  tool: null,
  ids: {},
  status: 403,
  milliseconds: 0.61,
  parts: { credential: 0.31, limits: 0.05, body: 0.25, handler: 0 },
  credential: { kind: 'apiKey', id: 'key:12', account: 'account:3', scopes: [], actsFor: null },
  limits: {
    plan: 'pro',
    hour: { limit: 10_000, remaining: 9871, resetSeconds: 1742 },
    burst: { limit: 100, remaining: 99 },
    refusedBy: null,
  },
  access: { requires: ['write:cheeses'], missing: ['write:cheeses'] },
  errors: [],
  error: {
    type: 'forbidden',
    message: 'The credential is valid, but this needs the scope write:cheeses.',
  },
  idempotency: { used: false, replayed: false },
  dryRun: false,
  simulated: false,
  traceId: null,
} as const;

export const LoggedRequest = {
  title: 'LoggedRequest',
  ...objectOf(properties, optional),
} as const;

export const LoggedRequestList = {
  title: 'LoggedRequestList',
  ...objectOf({
    items: { type: 'array', items: LoggedRequest },
    nextCursor: { ...nullableText, description: 'Send it as cursor for the next page; null on the last' },
    hasMore: { ...flag, description: 'Whether there is a next page; with filters, a page can be short' },
  }),
  examples: [{ items: [example], nextCursor: null, hasMore: false }],
} as const;

export const LoggedRequestsWithId = {
  title: 'LoggedRequestsWithId',
  ...objectOf({
    items: {
      type: 'array',
      items: objectOf(
        {
          ...properties,
          events: {
            type: 'array',
            description: 'The events that the request caused, read now',
            items: objectOf({ id: { ...text, examples: ['evt_k3Xw_1043'] }, type: text }),
          },
        },
        optional,
      ),
    },
  }),
  examples: [{ items: [{ ...example, events: [] }] }],
} as const;

const time = { type: 'string', maxLength: 40 } as const;

export const requestListQuery = {
  status: {
    type: 'string',
    maxLength: 3,
    description: 'A status such as `422`, or a class of them: `4xx`',
  },
  method: {
    type: 'string',
    enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    description: 'The method',
  },
  route: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    description: 'The path with its parameters, such as `/v2/cheeses/{cheeseId}`',
  },
  error: { type: 'string', minLength: 1, maxLength: 60, description: 'The `type` of the error' },
  credential: {
    type: 'string',
    minLength: 1,
    maxLength: 200,
    description: 'The id of the credential, such as `key:12`, `client:ab12/customer:5` or `customer:5`',
  },
  from: { ...time, description: 'At this time or later (RFC 3339)' },
  before: { ...time, description: 'Before this time (RFC 3339)' },
  cursor: {
    type: 'string',
    minLength: 1,
    maxLength: 1000,
    description: 'The `nextCursor` of the page before; the other parameters can be left out',
  },
  limit: limitParameter('Requests of a page'),
} as const satisfies Parameters;
