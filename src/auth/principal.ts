/** Who is calling: every kind of credential becomes one of these. */
export interface Principal {
  readonly kind: 'apiKey' | 'oauth' | 'session';
  /** Names the credential's holder in events and logs, for example `key:12`. */
  readonly id: string;
  /** null for customers: their sessions belong to no account. */
  readonly accountId: number | null;
  readonly plan: string;
  readonly scopes: ReadonlySet<string>;
  /** The customer on whose behalf the call is made. */
  readonly customerId: number | null;
  /** The customer to whose orders a request is confined, because their credential accompanies an API key. */
  readonly confinedTo: number | null;
  /** When the credential ends by itself, if it does. */
  readonly expiresAt: string | null;
  /** SHA-256 of the session's token, where the credential is one. */
  readonly sessionHash: string | null;
  /** SHA-256 of the access token, where the credential is one. */
  readonly tokenHash: string | null;
}
