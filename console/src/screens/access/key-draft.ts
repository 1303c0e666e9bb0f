/** What is written in the dialog for a new key, and the request that it becomes. */
import type { Body } from '../../../../client/src/index.ts';
import { type NumberRules, readNumber } from '../../parts/fields/number.ts';
import { shopNow } from '../../parts/text/time.tsx';
import type { KeyRights } from './key-rights.ts';

export type NewKeyBody = Body<'createApiKey'>;
export type KeyKind = NonNullable<NewKeyBody['kind']>;
export type NewKeyScope = NonNullable<NewKeyBody['scopes']>[number];

/** Texts of fields, as they are written. */
export interface KeyDraft {
  readonly kind: KeyKind;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresIn: string;
  readonly origins: string;
  readonly addresses: string;
  readonly categories: readonly string[];
  readonly cheeseIds: string;
  readonly dollarsPerOrder: string;
  readonly dollarsPerDay: string;
  readonly ordersPerDay: string;
}

export const budgetRules: NumberRules = { decimals: 2, min: 0.01, max: 1_000_000 };
export const orderRules: NumberRules = { decimals: 0, min: 1, max: 100_000 };

/** The draft of a kind. A restricted key has a budget, unless somebody removes it. */
export function newDraft(kind: KeyKind, name: string, scopes: readonly string[] = []): KeyDraft {
  const isRestricted = kind === 'restricted';
  return {
    kind,
    name,
    scopes: isRestricted ? ['read:cheeses', 'read:orders', 'write:orders'] : scopes,
    expiresIn: isRestricted ? '90d' : '',
    ...{ origins: '', addresses: '', categories: [], cheeseIds: '' },
    ...{ dollarsPerOrder: '', dollarsPerDay: isRestricted ? '50' : '', ordersPerDay: '' },
  };
}

const words = (text: string) => text.split(/[\s,]+/).filter((word) => word !== '');
/** An empty list limits nothing, and is left out. */
const given = <T>(name: string, values: readonly T[]) => (values.length === 0 ? {} : { [name]: values });

function numberOf(name: string, text: string, rules: NumberRules): Record<string, number> {
  const { value } = readNumber(text, rules);
  return value === null ? {} : { [name]: value };
}

function limitsOf(draft: KeyDraft): Partial<NewKeyBody> {
  switch (draft.kind) {
    case 'publishable':
      return given('origins', words(draft.origins));
    case 'restricted':
      return {
        ...given('addresses', words(draft.addresses)),
        ...given('categories', draft.categories),
        ...given('cheeseIds', words(draft.cheeseIds).map(Number)),
        ...numberOf('dollarsPerOrder', draft.dollarsPerOrder, budgetRules),
        ...numberOf('dollarsPerDay', draft.dollarsPerDay, budgetRules),
        ...numberOf('ordersPerDay', draft.ordersPerDay, orderRules),
      };
    default:
      return {};
  }
}

export function toKeyBody(account: string, draft: KeyDraft): NewKeyBody {
  const { kind, scopes, expiresIn } = draft;
  const name = draft.name.trim();
  return {
    account,
    kind,
    name: name === '' ? null : name,
    scopes: scopes as NewKeyScope[],
    ...(expiresIn === '' ? {} : { expiresIn }),
    ...limitsOf(draft),
  };
}

/** Whether the numbers and scopes can be sent. */
export function isComplete({
  kind,
  scopes,
  dollarsPerOrder,
  dollarsPerDay,
  ordersPerDay,
}: KeyDraft): boolean {
  const problems = [
    readNumber(dollarsPerOrder, budgetRules).problem,
    readNumber(dollarsPerDay, budgetRules).problem,
    readNumber(ordersPerDay, orderRules).problem,
  ];
  return kind !== 'restricted' || (scopes.length > 0 && problems.every((problem) => problem === null));
}

const dayMs = 24 * 60 * 60_000;

/** What the key of a request will be permitted. */
export function toKeyRights({ kind = 'secret', scopes = [], expiresIn, ...limits }: NewKeyBody): KeyRights {
  const days = Number.parseInt(expiresIn ?? '', 10);
  const expiresAt = Number.isNaN(days) ? null : new Date(shopNow() + days * dayMs).toISOString();
  return { ...limits, kind, scopes, expiresAt };
}
