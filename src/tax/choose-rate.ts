/** Which rate applies to a cheese at a destination. Pure functions. */
import { foldText, nameKey, toZipKey } from '../schema/folding.ts';
import type { RateKey } from './queries.ts';

/** What an order needs of a rate. */
export interface AppliedRate {
  readonly name: string;
  /** Thousandths of a percent: 8.1 % is 8100. */
  readonly milliPercent: number;
}

/** The place for which a rate is looked for. */
export interface RatePlace {
  /** ISO 3166-1 alpha-2, in upper case; null if it is not known. */
  readonly country: string | null;
  readonly state: string | null;
  readonly zipCode: string | null;
}

export const toStateKey = (state: string) => foldText(state);
export const toCategoryKey = (category: string) => nameKey(category);

/** The longest prefix that a rate can have. */
const zipPrefixMax = 12;

/** What each part of the key of a rate may be. The empty text stands for everywhere. */
export function keysAt({ country, state, zipCode }: RatePlace, categories: readonly string[]) {
  const zip = toZipKey(zipCode ?? '').slice(0, zipPrefixMax);
  return {
    country: ['', ...(country === null ? [] : [country])],
    state_key: ['', ...(state === null ? [] : [toStateKey(state)])],
    zip_prefix: ['', ...Array.from({ length: zip.length }, (_, index) => zip.slice(0, index + 1))],
    category_key: ['', ...new Set(categories.map(toCategoryKey))],
  };
}

/**
 * The most specific of the rates that apply to a category: a category counts before a ZIP code, the longest ZIP code before
 * a state, and a state before a country.
 */
export function chooseRate<R extends RateKey>(
  rates: readonly R[],
  category: string | undefined,
): R | undefined {
  const key = category === undefined ? '' : toCategoryKey(category);
  return rates
    .filter(({ category_key }) => category_key === '' || category_key === key)
    .toSorted((a, b) => compareParts(specificity(b), specificity(a)))[0];
}

const specificity = ({ category_key, zip_prefix, state_key, country }: RateKey) => [
  category_key === '' ? 0 : 1,
  zip_prefix.length,
  state_key === '' ? 0 : 1,
  country === '' ? 0 : 1,
];

function compareParts(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((part, at) => part !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
