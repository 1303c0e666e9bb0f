/** The texts of the form of a tax rate. */
import type { Body, Result } from '../../../../client/src/index.ts';
import { type NumberRules, readNumber, writeNumber } from '../../parts/fields/number.ts';
import { countryName } from '../../parts/text/countries.ts';

export type Rate = Result<'getTaxRate'>;

export const percentRules: NumberRules = { decimals: 3, min: 0, max: 50 };

export interface RateValues {
  /** '' for every country. */
  readonly country: string;
  readonly state: string;
  readonly zipPrefix: string;
  readonly category: string;
  readonly percent: string;
  readonly name: string;
}

export const rateLabels: RateValues = {
  country: 'Country',
  state: 'State',
  zipPrefix: 'Zip codes that begin with',
  category: 'Category of cheeses',
  percent: 'Percent',
  name: 'Name',
};

export const toRateValues = (rate: Rate | null): RateValues => ({
  country: rate?.country ?? '',
  state: rate?.state ?? '',
  zipPrefix: rate?.zipPrefix ?? '',
  category: rate?.category ?? '',
  percent: writeNumber(rate?.percent),
  name: rate?.name ?? '',
});

export function findRateProblem({ percent, name }: RateValues): string | null {
  const { value, problem } = readNumber(percent, percentRules);
  return value === null
    ? (problem ?? 'Write the percentage, such as 8.1.')
    : name.trim() === ''
      ? 'Write the name of the tax, such as VAT.'
      : null;
}

export function toRateBody({
  country,
  state,
  zipPrefix,
  category,
  percent,
  name,
}: RateValues): Body<'createTaxRate'> {
  return {
    country: country || null,
    state: state.trim() || null,
    zipPrefix: zipPrefix.trim() || null,
    category: category.trim() || null,
    percent: readNumber(percent, percentRules).value ?? 0,
    name: name.trim(),
  };
}

/** "Switzerland, state BE, zip codes 30", and "Every country". */
export function describeRatePlace({
  country,
  state,
  zipPrefix,
}: Pick<RateValues, 'country' | 'state' | 'zipPrefix'>): string {
  return [
    country === '' ? 'Every country' : countryName(country),
    state.trim() === '' ? '' : `state ${state.trim()}`,
    zipPrefix.trim() === '' ? '' : `zip codes ${zipPrefix.trim()}…`,
  ]
    .filter(Boolean)
    .join(', ');
}
