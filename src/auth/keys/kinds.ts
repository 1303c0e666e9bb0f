/** The rules for each kind of API key: how many can be active, and what a new one may have. */
import type { GivenLimits, KeyKind, KeyLimits } from '../../access/key-limits.ts';
import { commandName } from '../../command-name.ts';
import { AppError, type FieldError, validationError } from '../../errors.ts';
import { lineRule, networkRule } from '../../schema/text-rules.ts';
import { validate } from '../../schema/validate.ts';

const dayMs = 24 * 60 * 60_000;

interface KindOfKey {
  /** Active keys of an account. */
  readonly activeMax: number;
  readonly scopes: readonly string[] | 'all';
  /** The members of `KeyLimits`. */
  readonly limits: readonly (keyof KeyLimits)[];
  /** Lifetime of a key that is created without one; undefined if it does not expire. */
  readonly lifetimeMs?: number;
  readonly lifetimeMaxMs?: number;
}

export const kindsOfKeys: Readonly<Record<KeyKind, KindOfKey>> = {
  secret: { activeMax: 3, scopes: 'all', limits: [] },
  publishable: { activeMax: 10, scopes: ['write:orders'], limits: ['origins'] },
  restricted: {
    activeMax: 20,
    scopes: ['read:cheeses', 'write:cheeses', 'read:orders', 'write:orders'],
    limits: ['addresses', 'categories', 'cheeseIds', 'dollarsPerOrder', 'dollarsPerDay', 'ordersPerDay'],
    lifetimeMs: 90 * dayMs,
    lifetimeMaxMs: 366 * dayMs,
  },
};

export const originCharactersMax = 200;

/** Whether a text is the origin of a web page, as browsers send it. */
export const isOrigin = (text: string) =>
  text.length <= originCharactersMax && /^https?:\/\//.test(text) && URL.parse(text)?.origin === text;

export const originRule = {
  test: isOrigin,
  message: 'must be an origin such as https://shop.example, without a path',
};

const dollars = { type: 'number', minimum: 0.01, maximum: 1_000_000 } as const;
const list = { type: 'array', minItems: 1 } as const;

/** Bounds of the limits, for every way to create a key. */
export const keyLimits = {
  origins: {
    ...list,
    maxItems: 20,
    items: { type: 'string', maxLength: originCharactersMax, rule: originRule },
    description: 'Of a publishable key: origins of the web pages that may use it; any page without it',
  },
  addresses: {
    ...list,
    maxItems: 20,
    items: { type: 'string', maxLength: 60, rule: networkRule },
    description: 'Of a restricted key: networks from which it is accepted, such as `203.0.113.0/24`',
  },
  categories: {
    ...list,
    maxItems: 100,
    items: { type: 'string', minLength: 1, maxLength: 100, rule: lineRule },
    description: 'Of a restricted key: names of the categories whose cheeses it may order and change',
  },
  cheeseIds: {
    ...list,
    maxItems: 1000,
    items: { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    description: 'Of a restricted key: the cheeses that it may order and change',
  },
  dollarsPerOrder: {
    ...dollars,
    description:
      'Of a restricted key: the largest total of an order, in the currency of the shop, whatever the name says',
  },
  dollarsPerDay: {
    ...dollars,
    description: 'Of a restricted key: the sum of the orders of a UTC day, in the currency of the shop',
  },
  ordersPerDay: {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    description: 'Of a restricted key: orders of a UTC day',
  },
} as const;

interface NewKey extends GivenLimits {
  readonly scopes?: readonly string[] | undefined;
  readonly lifetimeMs?: number | undefined;
}

/** Returns the limits that are given. @throws AppError validation when a key of the kind cannot be so */
export function requireKind(kind: KeyKind, key: NewKey): KeyLimits {
  const rules = kindsOfKeys[kind];
  const given = Object.fromEntries(
    Object.keys(keyLimits).flatMap((name) => {
      const value = key[name as keyof KeyLimits];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const errors: FieldError[] = [
    ...scopeErrors(kind, key.scopes ?? []),
    ...validate({ type: 'object', properties: keyLimits }, given).errors,
    ...Object.keys(given)
      .filter((name) => !rules.limits.includes(name as keyof KeyLimits))
      .map((field) => ({
        field,
        message: `a ${kind} key cannot have it: leave it out, or choose another kind`,
      })),
  ];
  const { lifetimeMaxMs } = rules;
  if (lifetimeMaxMs !== undefined && (key.lifetimeMs ?? 0) > lifetimeMaxMs) {
    errors.push({ field: 'expiresIn', message: `a ${kind} key expires after 366d at the latest` });
  }
  if (errors.length > 0) {
    throw validationError(errors);
  }
  return given;
}

function scopeErrors(kind: KeyKind, scopes: readonly string[]): FieldError[] {
  const { scopes: permitted } = kindsOfKeys[kind];
  if (permitted === 'all') {
    return [];
  }
  if (kind === 'restricted' && scopes.length === 0) {
    return [
      {
        field: 'scopes',
        message: `a restricted key does only what its scopes say: choose from ${permitted.join(', ')}`,
      },
    ];
  }
  return scopes
    .filter((scope) => !permitted.includes(scope))
    .map((scope) => ({
      field: 'scopes',
      message: `a ${kind} key can have only ${permitted.join(', ')}, not ${scope}`,
    }));
}

/** The error for one key too many. */
export function tooManyKeys(kind: KeyKind): AppError {
  return new AppError(
    'conflict',
    `${kindsOfKeys[kind].activeMax} ${kind === 'secret' ? '' : `${kind} `}API keys of this account are active already. Revoke one first: "${commandName} keys revoke <id>" or DELETE /v2/api-keys/{keyId}.`,
  );
}
