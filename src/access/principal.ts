/** The authenticated caller of a request, for every kind of credential. */

/** The protected resources of this server. `api`: every route that checks credentials, except the MCP endpoint. */
export type Audience = 'api' | 'mcp';

export interface Principal {
  readonly kind: 'apiKey' | 'oauth' | 'session';
  /** The actor in events and logs, for example `key:12`. */
  readonly id: string;
  /** null for sessions of customers, which belong to no account. */
  readonly accountId: number | null;
  readonly plan: string;
  readonly scopes: ReadonlySet<string>;
  /** Where the credential is accepted. */
  readonly audience: Audience | 'any';
  /** The customer for whom the request acts. */
  readonly customerId: number | null;
  /** Set when a customer's credential accompanies an API key: the request reaches only data of this customer. */
  readonly confinedTo: number | null;
  /** null when the credential does not expire. */
  readonly expiresAt: string | null;
  /** SHA-256 of the token of the session; null for other credentials. */
  readonly sessionHash: string | null;
  /** SHA-256 of the access token; null for other credentials. */
  readonly tokenHash: string | null;
}

/** The customer for whom a request acts, or to whose data it is confined. */
export function actingCustomerOf({
  customerId,
  confinedTo,
}: Pick<Principal, 'customerId' | 'confinedTo'>): number | null {
  return confinedTo ?? customerId;
}

/** Idempotency keys are separate for each principal, and for each customer for whom a key acts. */
export function idempotencyScopeOf(principal: Pick<Principal, 'id' | 'customerId' | 'confinedTo'>): string {
  const customer = actingCustomerOf(principal);
  return customer === null ? principal.id : `${principal.id} customer:${customer}`;
}
