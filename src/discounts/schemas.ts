/** Schemas of discount codes. */
import type { XStatic } from 'typebox/schema';
import { parseTime } from '../clock.ts';
import { addError, type FieldError } from '../errors.ts';
import { cursorParameter, limitParameter, nullableTimestampSchema, pageOf } from '../schema/parts.ts';
import type { Parameters, TextRule } from '../schema/schema.ts';
import { timestampRule } from '../schema/text-rules.ts';

export const discountKinds = ['percent', 'amount', 'free_delivery'] as const;
export type DiscountKind = (typeof discountKinds)[number];

export const codeRule = {
  // Other letters have a capital of A to Z too, such as the long s.
  clean: (text) => text.trim().replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  test: (text) => /^[A-Z0-9-]{3,40}$/.test(text),
  message: 'must have 3 to 40 letters from A to Z, digits and hyphens',
} as const satisfies TextRule;

/** The text of a code in a request, in either case. */
export const codeSchema = {
  type: 'string',
  maxLength: 60,
  rule: codeRule,
  description: 'Letters from A to Z in either case, digits and hyphens',
} as const;

const count = { type: ['integer', 'null'], minimum: 1, maximum: 1_000_000_000 } as const;
const money = { minimum: 0, maximum: 1_000_000, decimals: 2 } as const;

const time = { ...nullableTimestampSchema, maxLength: 40, rule: timestampRule } as const;

/** What can change. */
const changeable = {
  value: {
    type: ['number', 'null'],
    ...money,
    description: 'Whole percent of the goods, or an amount; null for free delivery',
  },
  from: { ...money, type: ['number', 'null'], description: 'The least sum of the goods. null: any' },
  startsAt: { ...time, description: 'From this time on. null: at once' },
  endsAt: { ...time, description: 'Before this time. null: without an end' },
  usesMax: { ...count, description: 'How many orders can have it. null: any number' },
  usesPerCustomer: {
    ...count,
    description: 'How many orders of one customer can have it. null: any number',
  },
  isEnabled: { type: 'boolean', description: 'Whether customers can use it' },
} as const;

const kind = {
  type: 'string',
  enum: discountKinds,
  description: '`percent` and `amount` take something off the goods; `free_delivery` takes the charge',
} as const;

export const Discount = {
  title: 'Discount',
  type: 'object',
  required: [
    'code',
    'kind',
    ...(Object.keys(changeable) as (keyof typeof changeable)[]),
    'used',
    'createdAt',
  ],
  properties: {
    code: codeSchema,
    kind,
    ...changeable,
    used: { type: 'integer', description: 'How many orders have it that are not cancelled' },
    createdAt: { type: 'string', format: 'date-time' },
  },
  examples: [
    {
      code: 'SPRING',
      kind: 'percent',
      value: 10,
      from: 50,
      startsAt: null,
      endsAt: '2026-06-01T00:00:00.000Z',
      usesMax: 100,
      usesPerCustomer: 1,
      isEnabled: true,
      used: 12,
      createdAt: '2026-01-15T09:30:00.000Z',
    },
  ],
} as const;
export type Discount = Readonly<Required<XStatic<typeof Discount>>>;

export const DiscountInput = {
  title: 'DiscountInput',
  type: 'object',
  required: ['code', 'kind'],
  properties: { code: codeSchema, kind, ...changeable },
  examples: [{ code: 'SPRING', kind: 'percent', value: 10, usesMax: 100 }],
} as const;
export type DiscountInput = XStatic<typeof DiscountInput>;

export const DiscountPatch = {
  title: 'DiscountPatch',
  description: 'A JSON Merge Patch (RFC 7396). Code and kind cannot change: create another one',
  type: 'object',
  properties: { ...changeable, isEnabled: { ...changeable.isEnabled, refusesNull: true } },
  examples: [{ endsAt: '2026-07-01T00:00:00.000Z' }],
} as const;
export type DiscountPatch = XStatic<typeof DiscountPatch>;

export const DiscountList = pageOf('DiscountList', Discount, 'The newest first');

export const discountListQuery = {
  cursor: cursorParameter(300),
  limit: limitParameter('Codes on a page'),
} as const satisfies Parameters;

/** What the schema cannot check: the value of each kind, and an end after the beginning. */
export function checkDiscount(
  errors: FieldError[],
  { kind, value, startsAt, endsAt }: Pick<Discount, 'kind' | 'value' | 'startsAt' | 'endsAt'>,
): void {
  if (kind === 'percent' && (value === null || value < 1 || value > 100 || !Number.isInteger(value))) {
    addError(errors, 'value', 'must be whole percent from 1 to 100');
  }
  if (kind === 'amount' && (value === null || value === 0)) {
    addError(errors, 'value', 'must be an amount above 0');
  }
  if (kind === 'free_delivery' && value !== null) {
    addError(errors, 'value', 'must be absent: the charge of the delivery is the value');
  }
  if (startsAt !== null && endsAt !== null && parseTime(endsAt) <= parseTime(startsAt)) {
    addError(errors, 'endsAt', 'must be after startsAt');
  }
}
