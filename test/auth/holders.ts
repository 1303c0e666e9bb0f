/** Customers, sessions and access tokens for tests, made without the pages that issue them. */
import { hash, randomBytes } from 'node:crypto';
import { type Scope, scopes } from '../../src/access/access.ts';
import { sql } from '../../src/database/sql.ts';
import { type Shop, until } from '../helper.ts';
import { newApplication } from '../oauth/flow.ts';

export async function newCustomer({ app: { services } }: Shop, username: string, role: 'customer' | 'staff') {
  const context = services.contextOf('test');
  const input = { username, email: `${username}@example.com`, password: 'right' };
  const { body } = await services.customers.register(context, input);
  const id = Number(JSON.parse(body).id);
  await services.customerAdministration.changeRole(context, id, role);
  return id;
}

export async function newSession({ app: { services } }: Shop, customerId: number): Promise<string> {
  const session = await services.sessions.issue(customerId);
  await services.database.transaction((tx) => services.sessions.open(tx, session));
  return session.token;
}

export const newClient = async (shop: Shop, listed: readonly Scope[] = scopes): Promise<string> =>
  (await newApplication(shop, { scopes: listed })).clientId;

/** Approves admin for a customer and an application; null is the application itself. */
export async function approve({ app: { services } }: Shop, clientId: string, customerId: number | null) {
  await services.approvals.request(clientId, customerId);
  const { id = 0 } = (await services.approvals.list()).at(-1) ?? {};
  await services.approvals.approve(services.contextOf('test'), id);
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
export async function newToken({ app: { services } }: Shop, token: Token): Promise<string> {
  const { client, customer, scope, lifetimeMs = 60_000 } = token;
  const { text = randomBytes(32).toString('base64url') } = token;
  const { model = customer === null ? 'ClientCredentials' : 'AccessToken' } = token;
  const expiresAt = new Date(Date.now() + lifetimeMs).toISOString();
  await services.database.run(sql`
    insert into oauth_object (model, id, payload, client_id, customer_id, scope, expires_at)
    values (${model}, ${hash('sha256', text)}, ${'{}'}, ${client}, ${customer}, ${scope}, ${expiresAt})`);
  return text;
}

/** Waits until all recorded events are in the log: on PostgreSQL a pass numbers them after the commit. */
export function eventsNumbered({ app }: Shop): Promise<void> {
  const waiting = sql`select id from event where sequence is null limit 1`;
  return until(async () => (await app.services.database.get(waiting)) === undefined);
}
