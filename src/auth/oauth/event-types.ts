/** Events of OAuth clients and of approvals of the scope admin. */
import { defineEvent } from '../../event-log/define.ts';
import { int64 } from '../../schema/parts.ts';
import { type ApprovalStatus, approvalStatuses } from './queries.ts';

const onlyId = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' } },
  examples: [{ id: '4f5d6c1e9a7b4c3d8e2f1a0b9c8d7e6f' }],
} as const;

/** Events of the subject `oauth_client:4f5d6c1e`. */
export const clientEvents = {
  created: defineEvent('oauth_client.created', 'An OAuth client was registered', onlyId),
  deleted: defineEvent('oauth_client.deleted', 'An OAuth client was deleted, with all its tokens', onlyId),
};

const approval = (status: ApprovalStatus) =>
  ({
    type: 'object',
    required: ['id', 'clientId', 'status'],
    properties: {
      id: int64,
      clientId: { type: 'string' },
      status: { type: 'string', enum: approvalStatuses },
    },
    examples: [{ id: 7, clientId: '4f5d6c1e9a7b4c3d8e2f1a0b9c8d7e6f', status }],
  }) as const;

/** Events of the subject `approval:7`. */
export const approvalEvents = {
  pending: defineEvent('approval.requested', 'A client requested the scope admin', approval('pending')),
  approved: defineEvent(
    'approval.approved',
    'An operator approved a request for the scope admin',
    approval('approved'),
  ),
  denied: defineEvent(
    'approval.denied',
    'An operator denied a request for the scope admin',
    approval('denied'),
  ),
  revoked: defineEvent(
    'approval.revoked',
    'An operator ended an approval of the scope admin',
    approval('revoked'),
  ),
};
