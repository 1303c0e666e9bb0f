/** Events of webhook endpoints. They never contain the URL, which may contain a token. */
import { defineEvent } from '../event-log/define.ts';
import { int64 } from '../schema/parts.ts';

const onlyId = {
  type: 'object',
  required: ['id'],
  properties: { id: int64 },
  examples: [{ id: 3 }],
} as const;

/** Why an endpoint gets no deliveries. */
export const disabledReasons = [
  'gone',
  'failing',
  'events_expired',
  'secret_unreadable',
  'on_request',
] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** Events of the subject `webhook_endpoint:3`. */
export const webhookEvents = {
  created: defineEvent('webhook_endpoint.created', 'A webhook endpoint was created', onlyId),
  updated: defineEvent(
    'webhook_endpoint.updated',
    'A webhook endpoint was changed or enabled, or its secret was rotated',
    onlyId,
  ),
  deleted: defineEvent('webhook_endpoint.deleted', 'A webhook endpoint was deleted', onlyId),
  disabled: defineEvent('webhook_endpoint.disabled', 'A webhook endpoint was disabled', {
    type: 'object',
    required: ['id', 'reason'],
    properties: { id: int64, reason: { type: 'string', enum: disabledReasons } },
    examples: [{ id: 3, reason: 'failing' }],
  }),
};
