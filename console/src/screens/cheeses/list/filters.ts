/** The filters of the list of cheeses, as they are in the URL. */
import type { Query } from '../../../../../client/src/index.ts';
import { asFlag, asNumber, asOneOf, asSomeOf, asText, asTexts } from '../../../parts/url-filters.ts';
import { flagFields, forFlags } from '../fields.ts';

export type CheeseFilters = NonNullable<Query<'listCheeses'>>;

export const statuses = ['available', 'pending', 'sold'] as const;
export type CheeseStatus = (typeof statuses)[number];

export const facetNames = ['status', 'category', 'tags', 'origin', ...flagFields] as const;
export type FacetName = (typeof facetNames)[number];

export const sorts = [
  { value: 'name', label: 'Name, A to Z' },
  { value: '-name', label: 'Name, Z to A' },
  { value: '-createdAt', label: 'Newest first' },
  { value: 'createdAt', label: 'Oldest first' },
  { value: 'pricePerKg', label: 'Lowest price first' },
  { value: '-pricePerKg', label: 'Highest price first' },
  { value: 'ageMonths', label: 'Youngest first' },
  { value: '-ageMonths', label: 'Longest aged first' },
] as const;

export const filterReaders = {
  q: asText(100),
  status: asSomeOf(statuses),
  category: asText(),
  tags: asTexts,
  tagsAll: asTexts,
  origin: asText(),
  ...forFlags(() => asFlag),
  minPrice: asNumber,
  maxPrice: asNumber,
  minAge: asNumber,
  maxAge: asNumber,
  missing: asSomeOf(['price', 'image']),
  sort: asOneOf(sorts.map(({ value }) => value)),
};

/** How many filters are set, without search and sort. */
export function countFilters({ q: _q, sort: _sort, ...filters }: CheeseFilters): number {
  return Object.keys(filters).length;
}
