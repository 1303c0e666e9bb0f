/** Who is calling: every kind of credential becomes one of these. */
export interface Principal {
  readonly kind: 'apiKey' | 'oauth' | 'session';
  /** Names the credential's holder in events and logs, for example `key:12`. */
  readonly id: string;
  readonly accountId: number;
  readonly plan: string;
  readonly scopes: ReadonlySet<string>;
}
