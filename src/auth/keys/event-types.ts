/** Events of API keys, without their secrets. */
import { defineEvent } from '../../events/define.ts';
import { int64 } from '../../schema/parts.ts';
import { ApiKey } from './schemas.ts';

/** Events of the subject `api_key:12`. */
export const keyEvents = {
  created: defineEvent('api_key.created', 'An API key was created', ApiKey),
  rotated: defineEvent('api_key.rotated', 'An API key was replaced by a new one', {
    type: 'object',
    required: ['replacedBy'],
    properties: { replacedBy: ApiKey },
    examples: [{ replacedBy: { ...ApiKey.examples[0], id: 13 } }],
  }),
  revoked: defineEvent('api_key.revoked', 'An API key was revoked', {
    type: 'object',
    required: ['id'],
    properties: { id: int64 },
    examples: [{ id: 12 }],
  }),
};
