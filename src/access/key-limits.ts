/** Kinds of API keys, and the limits that a key can have beside its scopes. */

/**
 * `secret`: for servers. `publishable`: it may be in web pages and apps, because it only reads the catalogue, and lends a
 * customer's session what the shop permits.
 */
export const keyKinds = ['secret', 'publishable'] as const;
export type KeyKind = (typeof keyKinds)[number];

/** Stored as JSON. An absent member limits nothing. */
export interface KeyLimits {
  /** Origins of the web pages that may use a publishable key. */
  readonly origins?: readonly string[];
}

/** Limits as a request gives them. */
export type GivenLimits = { readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined };
