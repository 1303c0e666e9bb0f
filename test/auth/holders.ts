/** Customers, sessions and access tokens for tests, made without the pages that issue them. */
import { hash, randomBytes } from 'node:crypto';
import { type Scope, scopes } from '../../src/access/access.ts';
import { sql } from '../../src/database/sql.ts';
import { type Shop, until } from '../helper.ts';
import { newApplication } from '../oauth/flow.ts';

/** Registers a customer without a request, so that none is counted or logged. `registerCustomer` sends one. */
export async function newCustomer({ app }: Shop, username: string, role: 'customer' | 'staff') {
  const context = app.contextOf('test');
  const input = { username, email: `${username}@example.com`, password: 'right' };
  const { body } = await app.customers.service.register(context, input);
  const id = Number(JSON.parse(body).id);
  await app.customers.administration.changeRole(context, id, role);
  return id;
}

export async function newSession({ app }: Shop, customerId: number): Promise<string> {
  const session = await app.auth.sessions.issue(customerId);
  await app.database.transaction((tx) => app.auth.sessions.open(tx, session));
  return session.token;
}

export const newClient = async (shop: Shop, listed: readonly Scope[] = scopes): Promise<string> =>
  (await newApplication(shop, { scopes: listed })).clientId;

/** Approves admin for a customer and an application; null is the application itself. */
export async function approve({ app }: Shop, clientId: string, customerId: number | null) {
  await app.oauth.approvals.request(clientId, customerId);
  const { id = 0 } = (await app.oauth.approvals.list()).at(-1) ?? {};
  await app.oauth.approvals.approve(app.contextOf('test'), id);
}

export interface Token {
  readonly client: string;
  readonly customer: number | null;
  readonly scope: string | null;
  readonly model?: string;
  readonly text?: string;
  readonly lifetimeMs?: number;
}

/** Writes down a token as if it had been issued. */
export async function newToken({ app }: Shop, token: Token): Promise<string> {
  const { client, customer, scope, lifetimeMs = 600_000 } = token;
  const { text = randomBytes(32).toString('base64url') } = token;
  const { model = customer === null ? 'ClientCredentials' : 'AccessToken' } = token;
  const expiresAt = new Date(Date.now() + lifetimeMs).toISOString();
  await app.database.run(sql`
    insert into oauth_object (model, id, payload, client_id, customer_id, scope, expires_at)
    values (${model}, ${hash('sha256', text)}, ${'{}'}, ${client}, ${customer}, ${scope}, ${expiresAt})`);
  return text;
}

/** Waits until all recorded events are in the log: on PostgreSQL a pass numbers them after the commit. */
export function eventsNumbered({ app }: Shop): Promise<void> {
  const waiting = sql`select id from event where sequence is null limit 1`;
  return until(async () => (await app.database.get(waiting)) === undefined);
}
