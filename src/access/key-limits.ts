/** Kinds of API keys, and the limits that a key can have beside its scopes. */

/**
 * `secret`: for servers. `publishable`: it may be in web pages and apps, because it only reads the catalogue, and lends a
 * customer's session what the shop permits. `restricted`: it does only what its scopes say, within a budget.
 */
export const keyKinds = ['secret', 'publishable', 'restricted'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** Stored as JSON. An absent member limits nothing. */
export interface KeyLimits {
  /** Origins of the web pages that may use a publishable key. */
  readonly origins?: readonly string[];
  /** Networks in CIDR form from which a restricted key is accepted. */
  readonly addresses?: readonly string[];
  /** Names of categories to which orders and changes of cheeses are confined. */
  readonly categories?: readonly string[];
  /** Cheeses to which orders and changes are confined. */
  readonly cheeseIds?: readonly number[];
  readonly dollarsPerOrder?: number;
  /** Sum of the orders of a UTC day, cancelled ones included. */
  readonly dollarsPerDay?: number;
  readonly ordersPerDay?: number;
}

/** The id of the key that acts as `key:12`: a restricted key that was rotated acts as the first one. */
export function parseKeyId(actor: string): number {
  return Number(actor.slice('key:'.length));
}

/** Limits as a request gives them. */
export type GivenLimits = { readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined };
