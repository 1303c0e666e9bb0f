/** Events of accounts and of API keys, without their secrets. */
import { defineEvent } from '../../event-log/define.ts';
import { int64 } from '../../schema/parts.ts';
import { ApiKey } from './schemas.ts';

// Neither the key itself nor what is stored about its use.
const { key: _, webOrigin: _origin, webOriginAt: _at, ...properties } = ApiKey.properties;
const KeyOfEvent = { ...ApiKey, title: 'ApiKeyOfEvent', properties } as const;

/** Events of the subject `api_key:12`. */
export const keyEvents = {
  created: defineEvent('api_key.created', 'An API key was created', KeyOfEvent),
  renamed: defineEvent('api_key.renamed', 'An API key got another name', {
    type: 'object',
    required: ['id', 'name'],
    properties: { id: int64, name: { type: ['string', 'null'] } },
    examples: [{ id: 12, name: 'warehouse scanner' }],
  }),
  rotated: defineEvent('api_key.rotated', 'An API key was replaced by a new one', {
    type: 'object',
    required: ['replacedBy'],
    properties: { replacedBy: KeyOfEvent },
    examples: [{ replacedBy: { ...ApiKey.examples[0], id: 13 } }],
  }),
  revoked: defineEvent('api_key.revoked', 'An API key was revoked', {
    type: 'object',
    required: ['id'],
    properties: { id: int64 },
    examples: [{ id: 12 }],
  }),
};

const accountPlan = {
  type: 'object',
  required: ['id', 'plan'],
  properties: { id: int64, plan: { type: 'string' } },
  examples: [{ id: 3, plan: 'pro' }],
} as const;

/** Events of the subject `account:3`. */
export const accountEvents = {
  created: defineEvent('account.created', 'An account was created', accountPlan),
  planChanged: defineEvent('account.plan_changed', 'An account was moved to another plan', accountPlan),
};
