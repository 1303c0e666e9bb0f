/** Statements on clients, on objects of the authorization server, and on approvals of the scope admin. */
import { queriesOn, type Sql } from '../../database/database.ts';
import {
  deleteInOrder,
  deleteSlice,
  forShare,
  forUpdate,
  type Statement,
  selectTexts,
  sql,
  valueList,
} from '../../database/sql.ts';
import type { Role } from './customer-directory.ts';

export interface ClientRow {
  readonly id: string;
  readonly account_id: number;
  readonly name: string;
  readonly secret_hash: string | null;
  readonly redirect_uris: string;
  readonly grants: string;
  readonly scopes: string;
  readonly is_native: number;
  readonly created_at: string;
}

export interface ObjectRow {
  readonly payload: string;
  readonly consumed_at: string | null;
}

export interface NewObjectRow {
  readonly model: string;
  readonly id: string;
  readonly payload: string;
  readonly grant_id: string | null;
  readonly uid: string | null;
  readonly customer_id: number | null;
  readonly client_id: string | null;
  readonly scope: string | null;
  /** The URL of the resource for which a token was requested; null: the API. */
  readonly audience: string | null;
  readonly expires_at: string;
}

/** The columns that authentication of a request needs. */
export interface TokenRow {
  readonly id: string;
  readonly scope: string | null;
  readonly audience: string | null;
  readonly expires_at: string;
  readonly client_id: string;
  readonly client_scopes: string;
  readonly account_id: number;
  readonly plan: string;
  readonly customer_id: number | null;
  /** null when the application acts for itself, or the customer was deleted. */
  readonly role: Role | null;
  readonly approval: string | null;
  readonly approval_expires_at: string | null;
}

export const approvalStatuses = ['pending', 'approved', 'denied', 'revoked'] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

export interface ApprovalRow {
  readonly id: number;
  readonly client_id: string;
  readonly customer_id: number;
  readonly status: ApprovalStatus;
  readonly requested_at: string;
  readonly decided_at: string | null;
  readonly decided_by: string | null;
  readonly expires_at: string | null;
}

/** An approval with the name of the client and the username of the customer. */
export interface NamedApprovalRow extends ApprovalRow {
  readonly client_name: string;
  readonly username: string | null;
}

const token = sql`
  select o.id, o.scope, o.audience, o.expires_at, o.client_id, cl.scopes as client_scopes, cl.account_id, a.plan,
    o.customer_id, cu.role, ap.status as approval, ap.expires_at as approval_expires_at
  from oauth_object o
  join oauth_client cl on cl.id = o.client_id
  join account a on a.id = cl.account_id
  left join customer cu on cu.id = o.customer_id
  left join admin_approval ap on ap.client_id = o.client_id and ap.customer_id = coalesce(o.customer_id, 0)
  where o.model in ('AccessToken', 'ClientCredentials') and o.id`;

export const tokenById = {
  one: (id: string): Statement => sql`${token} = ${id}`,
  many: (ids: readonly string[]): Statement => sql`${token} in (${selectTexts(ids)})`,
  keyOf: (row: TokenRow): string => row.id,
};

const clientColumns = sql`id, account_id, name, secret_hash, redirect_uris, grants, scopes, is_native, created_at`;
const namedApproval = sql`
  select ap.id, ap.client_id, ap.customer_id, ap.status, ap.requested_at, ap.decided_at, ap.decided_by, ap.expires_at,
    cl.name as client_name, cu.username
  from admin_approval ap join oauth_client cl on cl.id = ap.client_id
  left join customer cu on cu.id = ap.customer_id`;
const approvalColumns = sql`id, client_id, customer_id, status, requested_at, decided_at, decided_by, expires_at`;

export const oauthQueries = queriesOn((tx) => ({
  insertClient: (c: ClientRow) =>
    tx.run(sql`
      insert into oauth_client (id, account_id, name, secret_hash, redirect_uris, grants, scopes, is_native, created_at)
      values (${c.id}, ${c.account_id}, ${c.name}, ${c.secret_hash}, ${c.redirect_uris}, ${c.grants}, ${c.scopes},
        ${c.is_native}, ${c.created_at})`),

  findClient: (id: string) =>
    tx.get<ClientRow>(sql`select ${clientColumns} from oauth_client where id = ${id}`),

  listClientNames: (ids: readonly string[]) =>
    tx.all<{ id: string; name: string }>(
      sql`select id, name from oauth_client where id in (${valueList(ids)})`,
    ),

  listClients: () =>
    tx.all<ClientRow & { account_name: string }>(sql`
      select c.id, c.account_id, c.name, c.secret_hash, c.redirect_uris, c.grants, c.scopes, c.is_native, c.created_at,
        a.name as account_name
      from oauth_client c join account a on a.id = c.account_id order by c.created_at, c.id`),

  deleteClient: (id: string) => tx.run(sql`delete from oauth_client where id = ${id}`),

  /** Inserts or replaces an object. */
  upsertObject: (o: NewObjectRow) =>
    tx.run(sql`
      insert into oauth_object
        (model, id, payload, grant_id, uid, customer_id, client_id, scope, audience, expires_at)
      values (${o.model}, ${o.id}, ${o.payload}, ${o.grant_id}, ${o.uid}, ${o.customer_id}, ${o.client_id}, ${o.scope},
        ${o.audience}, ${o.expires_at})
      on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id,
        uid = excluded.uid, customer_id = excluded.customer_id, client_id = excluded.client_id,
        scope = excluded.scope, audience = excluded.audience,
        expires_at = excluded.expires_at`),

  findObject: (model: string, id: string) =>
    tx.get<ObjectRow>(
      sql`select payload, consumed_at from oauth_object where model = ${model} and id = ${id}`,
    ),

  findValidObject: (model: string, id: string, now: string) =>
    tx.get<ObjectRow>(sql`
      select payload, consumed_at from oauth_object where model = ${model} and id = ${id} and expires_at > ${now}`),

  findObjectByUid: (model: string, uid: string) =>
    tx.get<ObjectRow>(
      sql`select payload, consumed_at from oauth_object where uid = ${uid} and model = ${model}`,
    ),

  /** 0 when it was consumed before: of several concurrent attempts, one succeeds. */
  updateConsumed: (model: string, id: string, now: string) =>
    tx.run(sql`
      update oauth_object set consumed_at = ${now} where model = ${model} and id = ${id} and consumed_at is null`),

  /** 0 when it was deleted before or has expired. */
  deleteValidObject: (model: string, id: string, now: string) =>
    tx.run(sql`delete from oauth_object where model = ${model} and id = ${id} and expires_at > ${now}`),

  deleteObjectsOfModel: (model: string) => tx.run(inOrder(sql`model = ${model}`)),

  findToken: (id: string) =>
    tx.get<{ model: string; id: string; client_id: string; grant_id: string | null }>(sql`
      select model, id, client_id, grant_id from oauth_object
      where model in ('AccessToken', 'ClientCredentials') and id = ${id}`),

  deleteObject: (model: string, id: string) =>
    tx.run(sql`delete from oauth_object where model = ${model} and id = ${id}`),

  /** Undefined when the grant was deleted. Until this transaction ends, no other one deletes the grant. */
  lockGrantForShare: (id: string) =>
    tx.get(sql`select id from oauth_object where model = 'Grant' and id = ${id}${forShare}`),

  deleteObjectsOfGrant: (model: string, grantId: string) =>
    tx.run(inOrder(sql`grant_id = ${grantId} and model = ${model}`)),

  deleteAllOfGrant: (grantId: string) => tx.run(inOrder(sql`grant_id = ${grantId}`)),

  deleteObjectsOfCustomer: (customerId: number) => deleteObjects(tx, sql`customer_id = ${customerId}`),

  deleteBrowserSessions: (customerId: number) =>
    tx.run(inOrder(sql`customer_id = ${customerId} and model in ('Interaction', 'Session')`)),

  deleteObjectsOfClient: (clientId: string) => deleteObjects(tx, sql`client_id = ${clientId}`),

  /** All objects of a customer with a client. */
  deleteObjectsOfPair: (clientId: string, customerId: number | null) =>
    deleteObjects(tx, sql`client_id = ${clientId} and coalesce(customer_id, 0) = ${customerId ?? 0}`),

  deleteExpiredObjects: (now: string, limit: number) =>
    tx.run(deleteSlice('oauth_object', 'model, id', 'expires_at', sql`expires_at <= ${now}`, limit)),

  listApprovedStaff: (now: string) =>
    tx.all<{ customer_id: number }>(sql`
      select distinct ap.customer_id from admin_approval ap join customer cu on cu.id = ap.customer_id
      where ap.status = 'approved' and ap.expires_at > ${now} and cu.role = 'staff' order by ap.customer_id`),

  /** Records a request for approval. A decision is not changed, except an approval that has expired. */
  upsertRequest: (clientId: string, customerId: number, now: string) =>
    tx.run(sql`
      insert into admin_approval (client_id, customer_id, status, requested_at)
      values (${clientId}, ${customerId}, 'pending', ${now})
      on conflict (client_id, customer_id) do update set status = 'pending', requested_at = excluded.requested_at,
        decided_at = null, decided_by = null, expires_at = null
      where admin_approval.status = 'approved' and admin_approval.expires_at <= ${now}`),

  findApproval: (clientId: string, customerId: number) =>
    tx.get<ApprovalRow>(sql`
      select ${approvalColumns} from admin_approval where client_id = ${clientId} and customer_id = ${customerId}`),

  findApprovalOfToken: (tokenHash: string) =>
    tx.get<Pick<ApprovalRow, 'id' | 'status'>>(sql`
      select ap.id, ap.status
      from oauth_object o join admin_approval ap
        on ap.client_id = o.client_id and ap.customer_id = coalesce(o.customer_id, 0)
      where o.model in ('AccessToken', 'ClientCredentials') and o.id = ${tokenHash}`),

  lockApproval: (id: number) =>
    tx.get<ApprovalRow>(sql`select ${approvalColumns} from admin_approval where id = ${id}${forUpdate}`),

  listApprovals: (status: ApprovalStatus | null) =>
    tx.all<NamedApprovalRow>(
      sql`${namedApproval} where ${status === null ? sql`true` : sql`ap.status = ${status}`} order by ap.id`,
    ),

  findNamedApproval: (id: number) => tx.get<NamedApprovalRow>(sql`${namedApproval} where ap.id = ${id}`),

  updateApproval: (
    id: number,
    decision: { status: ApprovalStatus; decidedAt: string; decidedBy: string; expiresAt: string | null },
  ) =>
    tx.run(sql`
      update admin_approval set status = ${decision.status}, decided_at = ${decision.decidedAt},
        decided_by = ${decision.decidedBy}, expires_at = ${decision.expiresAt}
      where id = ${id}`),

  deleteApprovalsOfCustomer: (customerId: number) =>
    tx.run(sql`delete from admin_approval where customer_id = ${customerId}`),

  deleteApprovalsOfClient: (clientId: string) =>
    tx.run(sql`delete from admin_approval where client_id = ${clientId}`),
}));

/** Grants first: this waits for transactions that add tokens to them, so the second statement sees these tokens. */
/** Returns the number of grants. */
async function deleteObjects(tx: Sql, which: Statement): Promise<number> {
  const grants = await tx.run(inOrder(sql`model = 'Grant' and ${which}`));
  await tx.run(inOrder(which));
  return grants;
}

function inOrder(which: Statement): Statement {
  return deleteInOrder('oauth_object', 'model, id', which);
}
