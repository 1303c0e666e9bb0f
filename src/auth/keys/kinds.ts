/** The rules for each kind of API key: how many can be active, and what a new one may have. */
import type { GivenLimits, KeyKind, KeyLimits } from '../../access/key-limits.ts';
import { commandName } from '../../command-name.ts';
import { AppError, type FieldError, validationError } from '../../errors.ts';
import { validate } from '../../schema/validate.ts';

interface KindOfKey {
  /** Active keys of an account. */
  readonly activeMax: number;
  readonly scopes: readonly string[] | 'all';
  /** The members of `KeyLimits`. */
  readonly limits: readonly (keyof KeyLimits)[];
}

export const kindsOfKeys: Readonly<Record<KeyKind, KindOfKey>> = {
  secret: { activeMax: 3, scopes: 'all', limits: [] },
  publishable: { activeMax: 10, scopes: ['write:orders'], limits: ['origins'] },
};

/** An origin as browsers send it. */
export const originRule = {
  test: (text: string) => /^https?:\/\//.test(text) && URL.parse(text)?.origin === text,
  message: 'must be an origin such as https://shop.example, without a path',
};

/** Bounds of the limits, for every way to create a key. */
export const keyLimits = {
  origins: {
    type: 'array',
    minItems: 1,
    maxItems: 20,
    items: { type: 'string', maxLength: 200, rule: originRule },
    description: 'Of a publishable key: origins of the web pages that may use it; any page without it',
  },
} as const;

/** Keeps the limits that are given. @throws AppError validation when a key of the kind cannot have them, or the scopes */
export function requireKind(kind: KeyKind, scopes: readonly string[], limits: GivenLimits): KeyLimits {
  const rules = kindsOfKeys[kind];
  const errors: FieldError[] = [...validate({ type: 'object', properties: keyLimits }, limits).errors];
  for (const scope of scopes) {
    if (rules.scopes !== 'all' && !rules.scopes.includes(scope)) {
      errors.push({
        field: 'scopes',
        message: `a ${kind} key can have only ${rules.scopes.join(', ')}, not ${scope}`,
      });
    }
  }
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  for (const [name] of given) {
    if (!rules.limits.includes(name as keyof KeyLimits)) {
      errors.push({
        field: name,
        message: `a ${kind} key cannot have it: leave it out, or choose another kind`,
      });
    }
  }
  if (errors.length > 0) {
    throw validationError(errors);
  }
  return Object.fromEntries(given);
}

/** The error for one key too many. */
export function tooManyKeys(kind: KeyKind): AppError {
  return new AppError(
    'conflict',
    `${kindsOfKeys[kind].activeMax} ${kind === 'secret' ? '' : `${kind} `}API keys of this account are active already. Revoke one first: "${commandName} keys revoke <id>" or DELETE /v2/api-keys/{keyId}.`,
  );
}
