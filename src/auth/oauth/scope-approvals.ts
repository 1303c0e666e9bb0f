/**
 * Approvals of the scope admin. An operator must approve each pair of an application and a customer. A decision counts
 * from the next request on.
 */
import type { Principal } from '../../access/principal.ts';
import { type Clock, timestamp } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import type { Context, Origin } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { recordEvents } from '../../event-log/record.ts';
import { approvalEvents } from './event-types.ts';
import { type ApprovalRow, type ApprovalStatus, type NamedApprovalRow, oauthQueries } from './queries.ts';

const lifetimeMs = 90 * 24 * 60 * 60 * 1000;
/** The customer id of approvals for applications that act for themselves. */
const noCustomer = 0;

export interface Approval {
  readonly id: number;
  readonly status: ApprovalStatus;
  readonly clientId: string;
  readonly clientName: string;
  /** null for an application that acts for itself. */
  readonly username: string | null;
  readonly requestedAt: string;
  readonly decidedAt: string | null;
  /** The actor: `cli`, `key:12`, `client:ab12/customer:5`. */
  readonly decidedBy: string | null;
  readonly expiresAt: string | null;
}

/** A decision of an operator; null: on the command line. @throws AppError notFound, conflict */
type Decision = (context: Context, id: number, operator?: Principal | null) => Promise<Approval>;

export type ScopeApprovals = ReturnType<typeof createScopeApprovals>;

/** Whether an approval is valid at this time. */
export function isScopeApprovalValid(
  approval: Pick<ApprovalRow, 'status' | 'expires_at'> | undefined,
  now: number,
): boolean {
  return approval?.status === 'approved' && Date.parse(approval.expires_at ?? '') > now;
}

export function createScopeApprovals(database: Database, clock: Clock) {
  const now = () => timestamp(clock.now());

  function record(tx: Sql, origin: Origin, { id, client_id }: ApprovalRow, status: ApprovalStatus) {
    const event = approvalEvents[status].of(`approval:${id}`, { id, clientId: client_id, status });
    return recordEvents(tx, origin, now(), [event]);
  }

  function decision(
    status: 'approved' | 'denied' | 'revoked',
    isAllowedFrom: (current: ApprovalStatus) => boolean,
    afterwards: (tx: Sql, approval: ApprovalRow) => Promise<unknown> = async () => {},
  ): Decision {
    return (context, id, operator = null) =>
      context.transaction(async (tx) => {
        const queries = oauthQueries(tx);
        const approval = await queries.lockApproval(id);
        if (approval === undefined) {
          throw new AppError(
            'notFound',
            `There is no request ${id}. "${commandName} approvals list" shows all requests.`,
          );
        }
        if (operator !== null && concerns(approval, operator)) {
          throw new AppError(
            'conflict',
            `Request ${id} is about you, so another operator must decide on it, here or on the command line: "${commandName} approvals list".`,
          );
        }
        if (!isAllowedFrom(approval.status)) {
          throw new AppError('conflict', `Request ${id} is ${approval.status} and cannot become ${status}.`);
        }
        const decidedMs = clock.now();
        await queries.updateApproval(id, {
          status,
          decidedAt: timestamp(decidedMs),
          decidedBy: context.origin.actor,
          expiresAt: status === 'approved' ? timestamp(decidedMs + lifetimeMs) : null,
        });
        await afterwards(tx, approval);
        await record(tx, context.origin, approval, status);
        return toApproval((await queries.findNamedApproval(id)) as NamedApprovalRow);
      });
  }

  return {
    async list(status: ApprovalStatus | null = null) {
      return (await oauthQueries(database).listApprovals(status)).map(toApproval);
    },

    /** Valid for 90 days. */
    approve: decision('approved', () => true),
    /** Conflict when it was approved. */
    deny: decision('denied', (current) => current !== 'approved'),
    /** Ends the approval and deletes all tokens of the pair. Conflict when it was not approved. */
    revoke: decision(
      'revoked',
      (current) => current === 'approved',
      // Also tokens without the scope: the application must request consent again.
      (tx, { client_id, customer_id }) =>
        oauthQueries(tx).deleteObjectsOfPair(client_id, customer_id === noCustomer ? null : customer_id),
    ),

    isApproved: async (clientId: string, customerId: number | null) =>
      isScopeApprovalValid(
        await oauthQueries(database).findApproval(clientId, customerId ?? noCustomer),
        clock.now(),
      ),

    /** The ids of customers who are staff and have a valid approval: the operators of the shop. */
    listApprovedStaff: async () =>
      (await oauthQueries(database).listApprovedStaff(now())).map(({ customer_id }) => customer_id),

    /** The request of the client and customer of an access token; null if there is none. */
    findOfToken: async (tokenHash: string) =>
      (await oauthQueries(database).findApprovalOfToken(tokenHash)) ?? null,

    /** Records a request, and returns its state. A decision that is still valid does not change. */
    request: (clientId: string, customerId: number | null) =>
      database.transaction(async (tx) => {
        const pair = [clientId, customerId ?? noCustomer] as const;
        const isNew = (await oauthQueries(tx).upsertRequest(...pair, now())) > 0;
        const approval = (await oauthQueries(tx).findApproval(...pair)) as ApprovalRow;
        if (isNew) {
          const actor = `client:${clientId}${customerId === null ? '' : `/customer:${customerId}`}`;
          await record(tx, { actor, requestId: null, traceId: null, effects: null }, approval, 'pending');
        }
        return approval;
      }),
  };
}

/**
 * Whether the approval is about the operator: the same customer, with whichever client, or the client that acts for
 * itself. Otherwise an operator could extend their own rights, through a second client if not directly.
 */
function concerns({ client_id, customer_id }: ApprovalRow, { id, customerId }: Principal): boolean {
  return customer_id === noCustomer ? id === `client:${client_id}` : customer_id === customerId;
}

function toApproval(row: NamedApprovalRow): Approval {
  return {
    id: row.id,
    status: row.status,
    clientId: row.client_id,
    clientName: row.client_name,
    username: row.username,
    requestedAt: row.requested_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    expiresAt: row.expires_at,
  };
}
