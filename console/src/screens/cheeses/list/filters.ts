/** The filters of the list of cheeses, as they are in the URL. */
import type { Query } from '../../../../../client/src/index.ts';
import { flagFields } from '../fields.ts';

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

const oneOf = <Value extends string>(values: readonly Value[], text: string | null): Value | undefined =>
  values.find((value) => value === text);

function numberOf(text: string | null): number | undefined {
  const number = Number(text);
  return text === null || text === '' || !Number.isFinite(number) ? undefined : number;
}

const flagOf = (text: string | null): boolean | undefined =>
  text === 'true' ? true : text === 'false' ? false : undefined;

/** Values that the API would refuse are left out, so that a URL that was written by hand opens the list. */
export function filtersOf(params: URLSearchParams): CheeseFilters {
  const several = (name: string) => {
    const values = params.getAll(name).filter((value) => value !== '');
    return values.length === 0 ? undefined : values;
  };
  const found = {
    q: params.get('q')?.slice(0, 100) || undefined,
    status: several('status')?.flatMap((value) => oneOf(statuses, value) ?? []),
    category: params.get('category') || undefined,
    tags: several('tags'),
    tagsAll: several('tagsAll'),
    origin: params.get('origin') || undefined,
    ...Object.fromEntries(flagFields.map((field) => [field, flagOf(params.get(field))])),
    minPrice: numberOf(params.get('minPrice')),
    maxPrice: numberOf(params.get('maxPrice')),
    minAge: numberOf(params.get('minAge')),
    maxAge: numberOf(params.get('maxAge')),
    missing: several('missing')?.flatMap((value) => oneOf(['price', 'image'] as const, value) ?? []),
    sort: oneOf(
      sorts.map(({ value }) => value),
      params.get('sort'),
    ),
  };
  return Object.fromEntries(
    Object.entries(found).filter(([, value]) => value !== undefined && String(value) !== ''),
  );
}

/** How many filters are set, without search and sort. */
export function countFilters({ q: _q, sort: _sort, ...filters }: CheeseFilters): number {
  return Object.keys(filters).length;
}
