/** The caller of a request, and the protected resources. */
import type { KeyLimits } from './key-limits.ts';

/** The protected resources of this server. `api`: every route that checks credentials, except the MCP endpoint. */
export type Audience = 'api' | 'mcp';

/** The authenticated caller of a request, for every kind of credential. */
export interface Principal {
  /**
   * `apiKey`: a secret key. A publishable one meets no access by itself (auth/guard.ts), and a restricted
   * one only by its scopes.
   */
  readonly kind: 'apiKey' | 'publishable' | 'restricted' | 'oauth' | 'session';
  /** The actor in events and logs, for example `key:12`. */
  readonly id: string;
  /** null for sessions of customers, which belong to no account. */
  readonly accountId: number | null;
  readonly plan: string;
  readonly scopes: ReadonlySet<string>;
  /** The endpoints that accept the credential. */
  readonly audience: Audience | 'any';
  /** Limits of an API key beside its scopes; null if it has none, and for other credentials. */
  readonly limits: KeyLimits | null;
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
export function findActingCustomer({
  customerId,
  confinedTo,
}: Pick<Principal, 'customerId' | 'confinedTo'>): number | null {
  return confinedTo ?? customerId;
}

/**
 * Idempotency keys are separate for each principal, and for each customer for whom a key acts. Everybody who opens a page
 * has its publishable key, so there they are separate for each client IP too.
 */
export function toIdempotencyScope(
  principal: Pick<Principal, 'kind' | 'id' | 'customerId' | 'confinedTo'>,
  clientIp: () => string,
): string {
  const customer = findActingCustomer(principal);
  if (customer !== null) {
    return `${principal.id} customer:${customer}`;
  }
  return principal.kind === 'publishable' ? `${principal.id} ${clientIp()}` : principal.id;
}
