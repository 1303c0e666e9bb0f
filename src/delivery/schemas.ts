/** Schemas of delivery methods: how goods reach a customer, for which charge, and when. */
import type { XStatic } from 'typebox/schema';
import { addError, type FieldError } from '../errors.ts';
import { countryRule } from '../schema/countries.ts';
import { toZipKey } from '../schema/folding.ts';
import { int64, listOf } from '../schema/parts.ts';
import type { Schema, TextRule } from '../schema/schema.ts';
import { lineRule, multilineRule } from '../schema/text-rules.ts';

/** Characters of the beginning of a ZIP code. */
export const zipPrefixMax = 12;
/** Enough for every shop, and read as a whole with an order. */
export const methodsMax = 50;

export const deliveryKinds = ['parcel', 'pickup'] as const;
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];

const amountSchema = { type: 'number', minimum: 0, maximum: 1_000_000, decimals: 2 } as const;
const timeRule: TextRule = {
  test: (text) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text),
  message: 'must be a time of day such as 12:00',
};
const zipPrefixRule: TextRule = {
  ...lineRule,
  test: (text) => lineRule.test(text) && toZipKey(text) !== '',
  message: 'must have more than blanks and hyphens, which are not compared',
};
const days = {
  type: ['array', 'null'],
  minItems: 1,
  maxItems: 7,
  items: { type: 'string', enum: weekdays },
} as const;

const rate = {
  type: 'object',
  required: ['upToGrams', 'amount'],
  properties: {
    upToGrams: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000_000,
      description: 'The heaviest parcel of this rate',
    },
    amount: { ...amountSchema, description: 'The charge' },
  },
} as const;

const members = {
  position: {
    type: 'integer',
    minimum: 0,
    maximum: 10_000,
    description: 'Methods are listed by it, and among equal charges the first is chosen',
  },
  name: { type: 'string', minLength: 1, maxLength: 100, rule: lineRule },
  kind: { type: 'string', enum: deliveryKinds, description: '`pickup`: the customer fetches the goods' },
  countries: {
    type: ['array', 'null'],
    minItems: 1,
    maxItems: 260,
    items: { type: 'string', rule: countryRule },
    description: 'Where it delivers, ISO 3166-1 alpha-2. null: everywhere',
  },
  zipPrefixes: {
    type: ['array', 'null'],
    minItems: 1,
    maxItems: 500,
    items: { type: 'string', minLength: 1, maxLength: zipPrefixMax, rule: zipPrefixRule },
    description: 'It delivers only to ZIP codes that begin with one of these. null: to all',
  },
  rates: {
    type: 'array',
    maxItems: 20,
    items: rate,
    description:
      'Charges by the weight of goods and packaging, ascending. The method does not take parcels above the last. A pickup may have none, and costs nothing then',
  },
  freeFrom: {
    ...amountSchema,
    type: ['number', 'null'],
    description: 'Goods of this sum, after a discount, are delivered without a charge. null: never',
  },
  shipDays: {
    ...days,
    description: 'The days on which goods leave the shop. null: every day',
  },
  cutOff: {
    type: ['string', 'null'],
    maxLength: 5,
    rule: timeRule,
    description:
      'Orders approved before this time leave on the same day, in the time zone of the shop. null: until midnight',
  },
  transitDays: {
    type: ['integer', 'null'],
    minimum: 0,
    maximum: 14,
    description: 'Days of carriage, counted over deliveryDays. null: the arrival is not known',
  },
  deliveryDays: { ...days, description: 'The days on which the carrier delivers. null: Monday to Friday' },
  text: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 500,
    rule: multilineRule,
    description: 'For customers',
  },
  isEnabled: { type: 'boolean', description: 'Whether customers can choose it' },
} as const satisfies Readonly<Record<string, Schema>>;

export type MethodMember = keyof typeof members;
export const methodMembers = Object.keys(members) as [MethodMember, ...MethodMember[]];

const example = {
  name: 'Cooled parcel',
  countries: ['CH'],
  rates: [
    { upToGrams: 2000, amount: 6.9 },
    { upToGrams: 10_000, amount: 9.9 },
  ],
  freeFrom: 150,
  shipDays: ['mon', 'tue', 'wed'],
  cutOff: '12:00',
  transitDays: 1,
} as const;

/** What a new method is if nothing is stated. */
export const newMethod = {
  position: 0,
  kind: 'parcel',
  countries: null,
  zipPrefixes: null,
  rates: [] as XStatic<typeof rate>[],
  freeFrom: null,
  shipDays: null,
  cutOff: null,
  transitDays: null,
  deliveryDays: null,
  text: null,
  isEnabled: true,
} as const;

export const DeliveryMethod = {
  title: 'DeliveryMethod',
  type: 'object',
  required: ['id', ...methodMembers],
  properties: { id: int64, ...members },
  examples: [{ id: 1, ...newMethod, ...example, isEnabled: true }],
} as const;
/** Lists that can be null, which types of schemas do not express. */
interface Lists {
  readonly countries: readonly string[] | null;
  readonly zipPrefixes: readonly string[] | null;
  readonly shipDays: readonly Weekday[] | null;
  readonly deliveryDays: readonly Weekday[] | null;
}
export type DeliveryMethod = Readonly<Omit<Required<XStatic<typeof DeliveryMethod>>, keyof Lists>> & Lists;

export const DeliveryMethodList = listOf('DeliveryMethodList', DeliveryMethod);

export const DeliveryMethodInput = {
  title: 'DeliveryMethodInput',
  type: 'object',
  required: ['name'],
  properties: members,
  examples: [example],
} as const;
export type DeliveryMethodInput = Omit<XStatic<typeof DeliveryMethodInput>, keyof Lists> & Partial<Lists>;

const neverNull = ['position', 'name', 'kind', 'rates', 'isEnabled'] as const;

export const DeliveryMethodPatch = {
  title: 'DeliveryMethodPatch',
  description: 'A JSON Merge Patch (RFC 7396): members that are absent stay',
  type: 'object',
  properties: {
    ...members,
    ...(Object.fromEntries(
      neverNull.map((name) => [name, { ...members[name], refusesNull: true }]),
    ) as unknown as Pick<typeof members, (typeof neverNull)[number]>),
  },
  examples: [{ freeFrom: 120, isEnabled: false }],
} as const;
export type DeliveryMethodPatch = Omit<XStatic<typeof DeliveryMethodPatch>, keyof Lists> & Partial<Lists>;

/** What the schema cannot check: rates ascend, and a parcel has one. */
export function checkMethod(
  errors: FieldError[],
  { kind, rates, shipDays, deliveryDays }: Omit<DeliveryMethod, 'id'>,
): void {
  if (kind === 'parcel' && rates.length === 0) {
    addError(errors, 'rates', 'a parcel needs a rate, such as {"upToGrams": 30000, "amount": 9.9}');
  }
  for (const [index, { upToGrams }] of rates.entries()) {
    if (upToGrams <= (rates[index - 1]?.upToGrams ?? 0)) {
      addError(errors, `rates[${index}].upToGrams`, 'must be more than that of the rate before');
    }
  }
  for (const [field, listed] of Object.entries({ shipDays, deliveryDays })) {
    if (listed !== null && new Set(listed).size < listed.length) {
      addError(errors, field, 'has a day twice');
    }
  }
}
