/** Schemas of the credential in use, and of limits. */

import { Quota } from '../limits/schemas.ts';
import { objectOf } from '../schema/parts.ts';
import { keyLimits } from './keys/kinds.ts';

const count = { type: 'integer' } as const;
const countOrNull = { type: ['integer', 'null'] } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const environment = { type: 'string', enum: ['local', 'sandbox', 'production'] } as const;

export const WhoAmI = {
  title: 'WhoAmI',
  ...objectOf(
    {
      environment,
      kind: {
        type: 'string',
        enum: ['apiKey', 'publishable', 'restricted', 'oauth', 'session'],
        description: '`apiKey` is a secret key',
      },
      id: { type: 'string', description: 'The actor in the log', examples: ['key:12'] },
      account: { ...textOrNull, description: 'Account with the plan; null for customers' },
      customer: { ...textOrNull, description: 'Username of the customer for whom the request acts' },
      scopes: { type: 'array', items: { type: 'string' } },
      limits: {
        type: ['object', 'null'],
        description: 'Limits that an API key has beside its scopes; null where it has none',
        properties: keyLimits,
      },
      today: {
        type: 'object',
        description:
          'What a restricted key spent on this UTC day, and what is left; absent for other credentials',
        required: ['dollars', 'orders', 'dollarsLeft', 'ordersLeft'],
        properties: {
          dollars: { type: 'number' },
          orders: count,
          dollarsLeft: { type: ['number', 'null'], description: 'null without a limit' },
          ordersLeft: { ...countOrNull, description: 'null without a limit' },
        },
      },
      approval: {
        type: ['object', 'null'],
        description:
          'The request for the scope admin of this OAuth client and customer; null if there is none, and for other credentials',
        required: ['id', 'status'],
        properties: {
          id: { type: 'integer', format: 'int64' },
          status: { type: 'string', enum: ['pending', 'approved', 'denied', 'revoked'] },
        },
      },
      expiresAt: { type: ['string', 'null'], format: 'date-time' },
      quota: Quota,
    },
    ['today'],
  ),
  examples: [
    {
      environment: 'production',
      kind: 'apiKey',
      id: 'key:12',
      account: 'warehouse',
      customer: null,
      scopes: ['write:cheeses'],
      limits: null,
      approval: null,
      expiresAt: '2026-04-15T09:30:00.000Z',
      quota: {
        plan: 'pro',
        hour: { limit: 10_000, remaining: 9871, resetSeconds: 1742 },
        burst: { limit: 100, remaining: 99 },
      },
    },
  ],
} as const;

export const Limits = {
  title: 'Limits',
  ...objectOf({
    environment,
    plans: {
      type: 'object',
      description: 'Requests an hour (null: no limit) and requests a second',
      additionalProperties: objectOf({ perHour: countOrNull, burst: count }),
    },
    sessionPlan: { type: 'string', description: 'Plan of sessions of customers' },
    addressLimits: {
      type: 'object',
      description: 'Requests a minute from one client IP without a valid credential',
      required: ['perMinute', 'accountsPerMinute', 'publicPerMinute'],
      properties: {
        perMinute: count,
        accountsPerMinute: { ...count, description: 'Of these, logins and registrations' },
        publicPerMinute: { ...count, description: 'To pages, images and health checks' },
      },
    },
    publishableLimits: {
      type: 'object',
      description: 'Requests of a publishable key from one client IP, a minute and a second',
      required: ['perMinute', 'burst'],
      properties: { perMinute: count, burst: count },
    },
    loginLimits: {
      type: 'object',
      description: 'Failed logins before further ones are refused or slowed down',
      required: ['pair', 'address', 'username'],
      properties: {
        pair: { ...count, description: 'Of a username from one client IP, in 15 minutes' },
        address: { ...count, description: 'From one client IP, in 15 minutes' },
        username: { ...count, description: 'Of a username, in an hour' },
      },
    },
    ordersPerHour: {
      ...countOrNull,
      description: 'Orders of one credential; null: no limit',
    },
    bounds: {
      type: 'object',
      description: 'Bounds of requests and stored data, in the unit of the name',
      additionalProperties: count,
    },
  }),
  examples: [
    {
      environment: 'production',
      plans: {
        free: { perHour: 100, burst: 10 },
        pro: { perHour: 10_000, burst: 100 },
        enterprise: { perHour: null, burst: 1000 },
      },
      sessionPlan: 'pro',
      addressLimits: { perMinute: 600, accountsPerMinute: 60, publicPerMinute: 6000 },
      publishableLimits: { perMinute: 600, burst: 60 },
      loginLimits: { pair: 10, address: 100, username: 100 },
      ordersPerHour: 100,
      bounds: { pageItems: 100, imageBytes: 10_485_760, bodyBytes: 1_048_576 },
    },
  ],
} as const;
