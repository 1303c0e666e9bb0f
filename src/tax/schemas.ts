/** Schemas of tax rates. */
import type { XStatic } from 'typebox/schema';
import { addError, type FieldError } from '../errors.ts';
import { countryRule } from '../schema/countries.ts';
import { cursorParameter, int64, limitParameter, pageOf } from '../schema/parts.ts';
import type { Parameters } from '../schema/schema.ts';
import { lineRule } from '../schema/text-rules.ts';

/** All ZIP codes of a large country with rates of their own. */
export const ratesMax = 50_000;

/** What a client sends, and the columns of a file. */
export const rateFields = ['country', 'state', 'zipPrefix', 'category', 'percent', 'name'] as const;

const members = {
  country: {
    type: ['string', 'null'],
    rule: countryRule,
    description: 'ISO 3166-1 alpha-2. null: every country',
  },
  state: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 100,
    rule: lineRule,
    description: 'As customers write it, in either case. null: all of the country',
  },
  zipPrefix: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 12,
    rule: lineRule,
    description: 'The beginning of ZIP codes. The longest one counts. null: all of the country',
  },
  category: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: 100,
    rule: lineRule,
    description: 'The name of a category of cheeses. It counts before every place. null: all categories',
  },
  percent: { type: 'number', minimum: 0, maximum: 50, decimals: 3 },
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 60,
    rule: lineRule,
    description: 'As receipts print it',
  },
} as const;

export const TaxRate = {
  title: 'TaxRate',
  type: 'object',
  required: ['id', 'country', 'state', 'zipPrefix', 'category', 'percent', 'name'],
  properties: { id: int64, ...members },
  examples: [
    { id: 1, country: 'CH', state: null, zipPrefix: null, category: null, percent: 2.6, name: 'MWST' },
  ],
} as const;
export type TaxRate = Readonly<Required<XStatic<typeof TaxRate>>>;

export const TaxRateInput = {
  title: 'TaxRateInput',
  type: 'object',
  required: ['percent', 'name'],
  properties: members,
  examples: [{ country: 'CH', percent: 2.6, name: 'MWST' }],
} as const;
export type TaxRateInput = XStatic<typeof TaxRateInput>;

export const TaxRatePatch = {
  title: 'TaxRatePatch',
  description:
    'A JSON Merge Patch (RFC 7396). Where a rate applies cannot change: delete it, and create another one',
  type: 'object',
  properties: {
    percent: { ...members.percent, refusesNull: true },
    name: { ...members.name, refusesNull: true },
  },
  examples: [{ percent: 2.7 }],
} as const;
export type TaxRatePatch = XStatic<typeof TaxRatePatch>;

export const TaxRateList = pageOf('TaxRateList', TaxRate, 'In the order of their creation');

export const taxRateListQuery = {
  country: { type: 'string', rule: countryRule, description: 'Rates of this country alone' },
  cursor: cursorParameter(300),
  limit: limitParameter('Rates on a page'),
} as const satisfies Parameters;

/** What the schema cannot check: places are within a country. */
export function checkRate(errors: FieldError[], { country, state, zipPrefix }: TaxRateInput): void {
  for (const [field, value] of Object.entries({ state, zipPrefix })) {
    if ((value ?? null) !== null && (country ?? null) === null) {
      addError(errors, field, 'needs a country');
    }
  }
}
