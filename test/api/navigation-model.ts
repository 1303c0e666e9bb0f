/** Random catalogues and queries, and what a plain filter and sort of all cheeses returns for them. */
import type { Status } from '../../src/cheeses/fields.ts';
import type { Cheese, CheeseInput } from '../../src/cheeses/schemas.ts';

/** Returns pseudo-random choices; the same seed gives the same ones. */
export function createRandom(seed: number) {
  let state = seed;
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const pick = <T>(from: readonly T[]): T => from[next(from.length)] as T;
  return { next, pick, isOneOf: (many: number) => next(many) === 0 };
}

export type Random = ReturnType<typeof createRandom>;

const categories = ['Hard', 'HARD', 'hárd', 'Soft', 'Blue'];
const origins = ['France', 'FRANCE', 'Österreich', 'Spain'];
const tags = ['cow', 'Cow', 'goat', 'raw milk', 'smoked'];
const words = ['Gruyère', 'Gruau', 'Bleu', 'Tomme', 'Fermier'];
const prices = [0, 0.004, 0.01, 0.015, 0.29, 1, 9.99, 10, 10.5, 10.99, 11, 99.9, 100, 12_345.67, 1_000_000];

/** Cheeses with many equal values. `first` keeps names of several calls apart. */
export function randomCheeses({ pick, next, isOneOf }: Random, count: number, first = 0): CheeseInput[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${pick(words)} ${pick(words)} ${first + index}`,
    tags: tags.filter(() => isOneOf(3)).map((name) => ({ name })),
    status: pick<Status>(['available', 'available', 'pending', 'sold']),
    origin: isOneOf(4) ? null : pick(origins),
    organic: isOneOf(3),
    photoUrls: isOneOf(3) ? [] : ['https://example.com/1.jpg'],
    ...(isOneOf(4) ? {} : { category: { name: pick(categories) } }),
    ...(isOneOf(4) ? {} : { pricePerKg: pick(prices) }),
    ...(isOneOf(4) ? {} : { ageMonths: next(8) }),
  }));
}

export type Query = Readonly<Record<string, string>>;

/** A query with each filter in one of `rarity` cases. */
export function randomQuery({ pick, next, isOneOf }: Random, rarity: number): Query {
  const [lowPrice = 0, highPrice = 0] = [pick(prices), pick(prices)].sort((a, b) => a - b);
  const [lowAge = 0, highAge = 0] = [next(9), next(9)].sort((a, b) => a - b);
  const filters: Record<string, string> = {
    category: pick([...categories, 'bLUe', 'none']),
    origin: pick(['fránce', 'osterreich', 'Spain']),
    organic: pick(['true', 'false']),
    minPrice: String(lowPrice),
    maxPrice: String(highPrice),
    minAge: String(lowAge),
    maxAge: String(highAge),
    missing: pick(['price', 'image', 'price,image', 'image,price']),
    tags: pick(['cow', 'cow,goat', 'Cow', 'smoked,none']),
    tagsAll: pick(['goat', 'cow,goat', 'cow,Cow,raw milk']),
    status: pick(['available', 'sold', 'pending,sold', 'available,pending,sold']),
    q: pick(['gru', 'gr bl', 'tomme 1', 'ferm']),
  };
  return Object.fromEntries(Object.entries(filters).filter(() => isOneOf(rarity)));
}

/** Lower case without accents, for the letters that the catalogue contains. */
const fold = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Whether a cheese matches all filters of a query. */
export function matches(cheese: Cheese, query: Query): boolean {
  const has = (tag: string) => cheese.tags.some(({ name }) => name === tag);
  const isMissing: Readonly<Record<string, boolean>> = {
    price: cheese.pricePerKg === undefined,
    image: cheese.photoUrls.length === 0,
  };
  const isWithin = (value: number | undefined, limit: string, sign: number) =>
    value !== undefined && sign * value >= sign * Number(limit);
  const tests: Readonly<Record<string, (wanted: string) => boolean>> = {
    category: (wanted) => cheese.category !== undefined && fold(cheese.category.name) === fold(wanted),
    origin: (wanted) => cheese.origin !== null && fold(cheese.origin) === fold(wanted),
    organic: (wanted) => String(cheese.organic) === wanted,
    minPrice: (wanted) => isWithin(cheese.pricePerKg, wanted, 1),
    maxPrice: (wanted) => isWithin(cheese.pricePerKg, wanted, -1),
    minAge: (wanted) => isWithin(cheese.ageMonths, wanted, 1),
    maxAge: (wanted) => isWithin(cheese.ageMonths, wanted, -1),
    missing: (wanted) => wanted.split(',').every((field) => isMissing[field]),
    tags: (wanted) => wanted.split(',').some(has),
    tagsAll: (wanted) => wanted.split(',').every(has),
    status: (wanted) => wanted.split(',').includes(cheese.status),
    q: (wanted) =>
      wanted.split(' ').every((begin) =>
        fold(cheese.name)
          .split(' ')
          .some((word) => word.startsWith(begin)),
      ),
  };
  return Object.entries(query).every(([name, wanted]) => tests[name]?.(wanted) ?? true);
}

export const sorts = [
  'name',
  '-name',
  'createdAt',
  '-createdAt',
  'pricePerKg',
  '-pricePerKg',
  'ageMonths',
  '-ageMonths',
] as const;

/** The documented order. Cheeses without the value come last, by id. */
export function sorted(cheeses: readonly Cheese[], sort: string): Cheese[] {
  const field = sort.replace('-', '');
  const sign = sort.startsWith('-') ? -1 : 1;
  if (field === 'name' || field === 'createdAt') {
    const compared = (a: Cheese, b: Cheese) =>
      field === 'name' ? Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) : 0;
    return cheeses.toSorted((a, b) => sign * (compared(a, b) || a.id - b.id));
  }
  const of = (cheese: Cheese) => cheese[field as 'pricePerKg' | 'ageMonths'];
  return cheeses.toSorted((a, b) => {
    const [one, other] = [of(a), of(b)];
    if (one === undefined || other === undefined) {
      return Number(one === undefined) - Number(other === undefined) || a.id - b.id;
    }
    return sign * (one - other || a.id - b.id);
  });
}
