/** Schemas of API keys. */

import { scopes } from '../../access/access.ts';
import { keyKinds } from '../../access/key-limits.ts';
import { int64, listOf, nullableTimestampSchema, objectOf, timestampSchema } from '../../schema/parts.ts';
import { durationRule, lifetimeRule, lineRule } from '../../schema/text-rules.ts';
import { keyLimits, originCharactersMax } from './kinds.ts';

const keyType = { type: 'string', enum: ['live', 'test'] } as const;
const kind = {
  type: 'string',
  enum: keyKinds,
  description:
    '`secret` for servers; `publishable` for web pages and apps: it reads the catalogue, and is no secret; `restricted` for programs that do only what its scopes say, within a budget',
} as const;
const duration = { type: 'string', maxLength: 16, rule: durationRule } as const;

/** The owner of the keys. */
export const account = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  rule: lineRule,
  description: 'Name of the account; that of the credential by default',
} as const;

const keyName = {
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 100,
  rule: lineRule,
  description: 'What you call the key; null: it has no name',
} as const;

export const ApiKey = {
  title: 'ApiKey',
  type: 'object',
  required: [
    'id',
    'kind',
    'actor',
    'name',
    'type',
    'last4',
    'scopes',
    'createdAt',
    'expiresAt',
    'lastUsedAt',
  ],
  properties: {
    id: int64,
    kind,
    actor: {
      type: 'string',
      description:
        'The principal in events and orders. A restricted key that was rotated keeps that of the first',
      examples: ['key:12'],
    },
    name: { type: ['string', 'null'], description: 'What you call the key' },
    type: keyType,
    last4: { type: 'string', description: 'The last four characters of the key' },
    scopes: { type: 'array', items: { type: 'string', enum: scopes } },
    createdAt: timestampSchema,
    expiresAt: nullableTimestampSchema,
    lastUsedAt: { ...nullableTimestampSchema, description: 'Stored once a minute' },
    webOrigin: {
      type: 'string',
      maxLength: originCharactersMax,
      description:
        'Origin of a web page that used this key, although it is secret: everybody who opened the page can copy the key, so rotate it. Absent if no page did',
      examples: ['https://shop.example'],
    },
    webOriginAt: { ...timestampSchema, description: 'When a page used it last. Stored once a day' },
    key: { type: 'string', description: 'The whole key, if it is publishable' },
    ...keyLimits,
  },
  examples: [
    {
      id: 12,
      kind: 'secret',
      actor: 'key:12',
      name: 'warehouse scanner',
      type: 'test',
      last4: 'mple',
      scopes: ['write:cheeses'],
      createdAt: '2026-01-15T09:30:00.000Z',
      expiresAt: '2026-04-15T09:30:00.000Z',
      lastUsedAt: null,
    },
  ],
} as const;

export const ApiKeyList = listOf('ApiKeyList', ApiKey);

export const NewApiKey = {
  title: 'NewApiKey',
  type: 'object',
  required: [...ApiKey.required, 'key'],
  properties: {
    ...ApiKey.properties,
    key: { type: 'string', description: 'The key. Unless it is publishable, it is shown only once' },
  },
  examples: [{ ...ApiKey.examples[0], key: 'sk_test_36-letters-and-digits-that-end-in-mple' }],
} as const;

export const ApiKeyInput = {
  title: 'ApiKeyInput',
  type: 'object',
  properties: {
    account,
    kind: { ...kind, default: 'secret' },
    name: keyName,
    type: { ...keyType, description: 'By default live in production, and test elsewhere' },
    scopes: {
      type: 'array',
      maxItems: 10,
      // Keys with the scope admin are created on the command line alone.
      items: { type: 'string', enum: scopes.filter((scope) => scope !== 'admin') },
      description:
        'Scopes of the key. A secret key without scopes can only read. A publishable key can have `write:orders`: customers who are logged in then order with it. A restricted key needs one or more of `read:cheeses`, `write:cheeses`, `read:orders` and `write:orders`',
    },
    expiresIn: {
      ...duration,
      rule: lifetimeRule,
      description: 'Never by default; 90d for a restricted key, and 366d at most',
      examples: ['90d'],
    },
    ...keyLimits,
  },
  examples: [{ name: 'warehouse scanner', scopes: ['write:cheeses'], expiresIn: '90d' }],
} as const;

export const ApiKeyNameInput = {
  title: 'ApiKeyNameInput',
  type: 'object',
  required: ['name'],
  properties: { name: keyName },
  examples: [{ name: 'warehouse scanner' }],
} as const;

export const RotationInput = {
  title: 'RotationInput',
  type: 'object',
  properties: {
    overlap: { ...duration, default: '24h', description: 'How long the old key stays valid' },
  },
  examples: [{ overlap: '1h' }],
} as const;

export const ApiKeySpending = {
  title: 'ApiKeySpending',
  ...objectOf({
    items: {
      type: 'array',
      items: objectOf({
        day: { type: 'string', format: 'date', description: 'A day in UTC' },
        dollars: {
          type: 'number',
          description: 'Sum of the orders in the currency of the shop, cancelled ones included',
        },
        orders: { type: 'integer' },
      }),
    },
  }),
  examples: [{ items: [{ day: '2026-01-15', dollars: 32.5, orders: 1 }] }],
} as const;
