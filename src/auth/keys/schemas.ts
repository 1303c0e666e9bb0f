/** API keys as they are shown, and what a new one may ask for. */

import { int64, nullableTimestampSchema, timestampSchema } from '../../schema/parts.ts';
import { durationRule, lifetimeRule, lineRule } from '../../schema/text-rules.ts';
import { scopes } from '../access.ts';

const keyType = { type: 'string', enum: ['live', 'test'] } as const;
const duration = { type: 'string', maxLength: 16, rule: durationRule } as const;

/** Whose keys they are. */
export const account = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  rule: lineRule,
  description: 'Name of the account; your own by default',
} as const;

export const ApiKey = {
  title: 'ApiKey',
  type: 'object',
  required: ['id', 'type', 'last4', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt'],
  properties: {
    id: int64,
    type: keyType,
    last4: { type: 'string', description: 'The last four characters, to tell keys apart' },
    scopes: { type: 'array', items: { type: 'string', enum: scopes } },
    createdAt: timestampSchema,
    expiresAt: nullableTimestampSchema,
    lastUsedAt: { ...nullableTimestampSchema, description: 'Written down once a minute' },
  },
  examples: [
    {
      id: 12,
      type: 'test',
      last4: 'mple',
      scopes: ['write:cheeses'],
      createdAt: '2026-01-15T09:30:00.000Z',
      expiresAt: '2026-04-15T09:30:00.000Z',
      lastUsedAt: null,
    },
  ],
} as const;

export const ApiKeyList = {
  title: 'ApiKeyList',
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: ApiKey } },
  examples: [{ items: ApiKey.examples }],
} as const;

export const NewApiKey = {
  title: 'NewApiKey',
  type: 'object',
  required: [...ApiKey.required, 'key'],
  properties: {
    ...ApiKey.properties,
    key: { type: 'string', description: 'The secret: keep it, it is shown once' },
  },
  examples: [{ ...ApiKey.examples[0], key: 'sk_test_36-letters-and-digits-that-end-in-mple' }],
} as const;

export const ApiKeyInput = {
  title: 'ApiKeyInput',
  type: 'object',
  properties: {
    account,
    type: { ...keyType, description: 'live in production, test elsewhere, unless said' },
    scopes: {
      type: 'array',
      maxItems: 10,
      // A key with the scope admin comes from the command line alone.
      items: { type: 'string', enum: scopes.filter((scope) => scope !== 'admin') },
      description: 'What the key may do beyond reading with an API key',
    },
    expiresIn: { ...duration, rule: lifetimeRule, description: 'Never by default', examples: ['90d'] },
  },
  examples: [{ scopes: ['write:cheeses'], expiresIn: '90d' }],
} as const;

export const RotationInput = {
  title: 'RotationInput',
  type: 'object',
  properties: {
    overlap: { ...duration, default: '24h', description: 'How long the old key goes on working' },
  },
  examples: [{ overlap: '1h' }],
} as const;
