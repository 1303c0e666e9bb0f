/** Events of customers. Only ids and codes: personal data must not remain after the customer is deleted. */
import { roles } from '../auth/oauth/customer-directory.ts';
import { defineEvent } from '../event-log/define.ts';
import { int64 } from '../schema/parts.ts';
import { tiers } from './tiers.ts';

const onlyId = {
  type: 'object',
  required: ['id'],
  properties: { id: int64 },
  examples: [{ id: 5 }],
} as const;
const tier = { type: 'string', enum: tiers } as const;

/** Events of the subject `customer:5`. */
export const customerEvents = {
  created: defineEvent('customer.created', 'A customer registered', onlyId),
  updated: defineEvent('customer.updated', 'The profile or role of a customer was changed', {
    ...onlyId,
    properties: {
      id: int64,
      role: { type: 'string', enum: roles, description: 'The new role, where it changed' },
    },
  }),
  deleted: defineEvent(
    'customer.deleted',
    'A customer was deleted. Delete what you have stored about them',
    onlyId,
  ),
  sessionsEnded: defineEvent(
    'customer.sessions_ended',
    'An operator ended all sessions of a customer',
    onlyId,
  ),
  passwordResetCreated: defineEvent(
    'customer.password_reset_created',
    'An operator made a link with which a customer can set a new password',
    onlyId,
  ),
  passwordReset: defineEvent('customer.password_reset', 'A customer set a new password by a link', onlyId),
  tierChanged: defineEvent('customer.tier_changed', 'The tier of a customer changed', {
    type: 'object',
    required: ['id', 'customerStatus', 'before'],
    properties: { id: int64, customerStatus: tier, before: tier },
    examples: [{ id: 5, customerStatus: 'silver', before: 'bronze' }],
  }),
};
