/** Schemas of OAuth clients and approvals, for operators. */

import { scopes } from '../../access/access.ts';
import { int64, listOf, nullableTimestampSchema, objectOf, timestampSchema } from '../../schema/parts.ts';
import { lineRule } from '../../schema/text-rules.ts';
import { grantTypes } from './clients.ts';
import { approvalStatuses } from './queries.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const grants = { type: 'array', maxItems: 10, items: { type: 'string', enum: grantTypes } } as const;

export const OauthClient = {
  title: 'OauthClient',
  ...objectOf({
    clientId: text,
    name: { ...text, description: 'Customers see it on the consent page' },
    account: {
      ...text,
      description: 'Name of the account that owns the client; its plan limits the requests',
    },
    scopes: { type: 'array', items: text, description: 'Scopes that the client may request' },
    grants: { type: 'array', items: text },
    redirectUris: { type: 'array', items: text },
    native: { ...flag, description: 'It runs on a device' },
    public: { ...flag, description: 'It cannot keep a secret, and has none' },
    builtIn: { ...flag, description: 'It is the client of the console, which is part of the server' },
    createdAt: timestampSchema,
  }),
  examples: [
    {
      clientId: '4f5d6c1e9a7b4c3d8e2f1a0b9c8d7e6f',
      name: 'Cheese Diary',
      account: 'diary',
      scopes: ['read:cheeses', 'read:orders'],
      grants: ['authorization_code', 'refresh_token'],
      redirectUris: ['https://diary.example/callback'],
      native: false,
      public: false,
      builtIn: false,
      createdAt: '2026-01-15T09:30:00.000Z',
    },
  ],
} as const;

export const OauthClientList = listOf('OauthClientList', OauthClient);

export const NewOauthClient = {
  title: 'NewOauthClient',
  type: 'object',
  required: [...OauthClient.required, 'clientSecret'],
  properties: {
    ...OauthClient.properties,
    clientSecret: {
      type: ['string', 'null'],
      description: 'It is shown only once; null for a public client',
    },
  },
  examples: [{ ...OauthClient.examples[0], clientSecret: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' }],
} as const;

export const OauthClientInput = {
  title: 'OauthClientInput',
  type: 'object',
  required: ['name', 'account', 'scopes'],
  properties: {
    name: { ...text, minLength: 1, maxLength: 100, rule: lineRule },
    account: { ...text, minLength: 1, maxLength: 100, rule: lineRule, description: 'Name of the account' },
    scopes: {
      type: 'array',
      minItems: 1,
      maxItems: 10,
      // Clients that may request the scope admin are registered on the command line alone.
      items: { type: 'string', enum: scopes.filter((scope) => scope !== 'admin') },
    },
    redirectUris: {
      type: 'array',
      maxItems: 20,
      items: { ...text, minLength: 1, maxLength: 500 },
      description: 'Where customers are redirected to; compared character by character',
    },
    grants: {
      ...grants,
      minItems: 1,
      description:
        'By default authorization_code and refresh_token; client_credentials where there is no redirect URI',
    },
    native: {
      ...flag,
      description: 'It runs on a device: loopback redirects on any port, or its own URI scheme',
    },
    public: { ...flag, description: 'It cannot keep a secret: it gets none, and PKCE is required' },
  },
  examples: [
    {
      name: 'Cheese Diary',
      account: 'diary',
      scopes: ['read:cheeses', 'read:orders'],
      redirectUris: ['https://diary.example/callback'],
    },
  ],
} as const;

export const statusText = { type: 'string', enum: approvalStatuses } as const;

export const ApprovalDetails = {
  title: 'Approval',
  description: 'A request of a client for the scope `admin`, and the decision on it',
  ...objectOf({
    id: int64,
    status: statusText,
    clientId: text,
    clientName: text,
    username: { type: ['string', 'null'], description: 'null for a client that acts for itself' },
    requestedAt: timestampSchema,
    decidedAt: nullableTimestampSchema,
    decidedBy: { type: ['string', 'null'], description: '`cli`, `key:12`, `client:ab12/customer:5`' },
    expiresAt: { ...nullableTimestampSchema, description: 'When an approval ends' },
  }),
  examples: [
    {
      id: 7,
      status: 'approved',
      clientId: '4f5d6c1e9a7b4c3d8e2f1a0b9c8d7e6f',
      clientName: 'Back office',
      username: 'bob',
      requestedAt: '2026-01-15T09:30:00.000Z',
      decidedAt: '2026-01-15T10:00:00.000Z',
      decidedBy: 'cli',
      expiresAt: '2026-04-15T10:00:00.000Z',
    },
  ],
} as const;

export const ApprovalList = listOf('ApprovalList', ApprovalDetails);
