/** What is stored of a tax rate that a client sends. */
import { addError, type FieldError, requireNoErrors } from '../errors.ts';
import { toZipKey } from '../schema/folding.ts';
import { toCategoryKey, toStateKey } from './choose-rate.ts';
import type { NewRate, RateKey } from './queries.ts';
import { checkRate, type TaxRateInput } from './schemas.ts';

export const toMilliPercent = (percent: number) => Math.round(percent * 1000);

/** A text that equal rates have in common. */
export const rateKeyOf = ({ country, zip_prefix, state_key, category_key }: RateKey) =>
  JSON.stringify([country, zip_prefix, state_key, category_key]);

/** @throws AppError validation */
export function toNewRow(input: TaxRateInput): NewRate {
  const errors: FieldError[] = [];
  checkRate(errors, input);
  const { country, state, zipPrefix, category, percent, name } = input;
  const keys = {
    state: toStateKey(state ?? ''),
    zipPrefix: toZipKey(zipPrefix ?? ''),
    category: toCategoryKey(category ?? ''),
  };
  // A text without a key would apply everywhere.
  for (const [field, given] of Object.entries({ state, zipPrefix, category })) {
    if ((given ?? null) !== null && keys[field as keyof typeof keys] === '') {
      addError(errors, field, 'must have a letter or a digit');
    }
  }
  requireNoErrors(errors);
  return {
    country: country?.toUpperCase() ?? '',
    state: state ?? null,
    state_key: keys.state,
    zip_prefix: keys.zipPrefix,
    category: category ?? null,
    category_key: keys.category,
    milli_percent: toMilliPercent(percent),
    name,
  };
}
