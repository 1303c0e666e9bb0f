/**
 * Approvals of the scope admin. An operator must approve each pair of an application and a customer. A decision counts
 * from the next request on.
 */
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { type ApprovalRow, type ApprovalStatus, oauthQueries } from './queries.ts';

const lifetimeMs = 90 * 24 * 60 * 60 * 1000;
/** The customer id of approvals for applications that act for themselves. */
const noCustomer = 0;

export interface Approval {
  readonly id: number;
  readonly status: ApprovalStatus;
  readonly clientId: string;
  readonly clientName: string;
  readonly username: string | null;
  readonly requestedAt: string;
  readonly decidedAt: string | null;
  readonly expiresAt: string | null;
}

export interface ApprovalService {
  list(): Promise<Approval[]>;
  /** Valid for 90 days. @throws AppError notFound */
  approve(context: Context, id: number): Promise<void>;
  /** @throws AppError notFound, conflict when it was approved */
  deny(context: Context, id: number): Promise<void>;
  /** Ends the approval and deletes all tokens of the pair. @throws AppError notFound, conflict when it was not approved */
  revoke(context: Context, id: number): Promise<void>;
  isApproved(clientId: string, customerId: number | null): Promise<boolean>;
  /** Records a request, and returns its state. A decision that is still valid does not change. */
  request(clientId: string, customerId: number | null): Promise<Pick<ApprovalRow, 'id' | 'status'>>;
}

/** Whether an approval is valid at this time. */
export function isApprovalValid(
  approval: Pick<ApprovalRow, 'status' | 'expires_at'> | undefined,
  now: number,
): boolean {
  return approval?.status === 'approved' && Date.parse(approval.expires_at ?? '') > now;
}

export function createApprovalService(database: Database, clock: Clock): ApprovalService {
  function decide(
    context: Context,
    id: number,
    status: ApprovalStatus,
    isAllowedFrom: (current: ApprovalStatus) => boolean,
    afterwards: (tx: Sql, approval: ApprovalRow) => Promise<unknown> = async () => {},
  ): Promise<void> {
    return context.transaction(async (tx) => {
      const approval = await oauthQueries(tx).findApprovalById(id);
      if (approval === undefined) {
        throw new AppError(
          'notFound',
          `There is no request ${id}. "curd approvals list" shows all requests.`,
        );
      }
      if (!isAllowedFrom(approval.status)) {
        throw new AppError('conflict', `Request ${id} is ${approval.status} and cannot become ${status}.`);
      }
      await oauthQueries(tx).updateApproval(id, {
        status,
        decidedAt: timestamp(clock.now()),
        decidedBy: context.origin.actor,
        expiresAt: status === 'approved' ? timestamp(clock.now() + lifetimeMs) : null,
      });
      await afterwards(tx, approval);
    });
  }

  return {
    async list() {
      const rows = await oauthQueries(database).listApprovals();
      return rows.map((row) => ({
        id: row.id,
        status: row.status,
        clientId: row.client_id,
        clientName: row.client_name,
        username: row.username,
        requestedAt: row.requested_at,
        decidedAt: row.decided_at,
        expiresAt: row.expires_at,
      }));
    },

    approve: (context, id) => decide(context, id, 'approved', () => true),
    deny: (context, id) => decide(context, id, 'denied', (current) => current !== 'approved'),
    revoke: (context, id) =>
      decide(
        context,
        id,
        'revoked',
        (current) => current === 'approved',
        // Also tokens without the scope: the application must request consent again.
        (tx, { client_id, customer_id }) =>
          oauthQueries(tx).deleteObjectsOfPair(client_id, customer_id === noCustomer ? null : customer_id),
      ),

    isApproved: async (clientId, customerId) =>
      isApprovalValid(
        await oauthQueries(database).findApproval(clientId, customerId ?? noCustomer),
        clock.now(),
      ),

    async request(clientId, customerId) {
      const pair = [clientId, customerId ?? noCustomer] as const;
      await oauthQueries(database).upsertRequest(...pair, timestamp(clock.now()));
      return (await oauthQueries(database).findApproval(...pair)) as ApprovalRow;
    },
  };
}
