/** The same pages of lists in catalogues of two sizes. */
import { httpRequest } from './load.ts';
import type { Running } from './process.ts';

/** A server and a key for it. */
export interface Side {
  readonly server: Running;
  readonly key: string;
}

/** More pages than the cache of a server, so that each is read from the database. */
const differentRequests = 300;
const usualLimit = 20;
const limitMax = 100;
const startsMax = 9;

/** Queries of each list. A list with few full pages at 1,000 cheeses has several spellings of its query. */
export const lists: Readonly<Record<string, readonly string[]>> = {
  'first page': ['sort=name'],
  'newest first': ['sort=-createdAt'],
  status: ['status=pending'],
  category: ['category=Hard'],
  tag: ['tags=goat'],
  'any of two tags': ['tags=goat,sheep'],
  'both tags': ['tagsAll=cow,pasteurised'],
  'word of the name': ['q=ched'],
  'two words': spellings('goub').map((text) => `q=${text.slice(0, 3)}%20${text.slice(3)}`),
  'tag and status': ['tags=cow&status=available'],
  'by price': ['sort=pricePerKg'],
  'by price, descending': ['sort=-pricePerKg'],
  'by age': ['sort=ageMonths'],
  'category by price': ['category=Hard&sort=pricePerKg'],
  'origin by age': ['origin=france&sort=-ageMonths'],
  'organic by price': ['organic=true&sort=-pricePerKg'],
  'price range by price': ['minPrice=10&maxPrice=40&sort=pricePerKg'],
};

/** All combinations of upper and lower case. They are different texts of the same search. */
function spellings(text: string): string[] {
  return [...text].reduce<string[]>(
    (begun, letter) => begun.flatMap((start) => [start + letter, start + letter.toUpperCase()]),
    [''],
  );
}

/** The starts of the first pages of a list, and how many cheeses it has, up to 400. */
interface Walk {
  readonly starts: readonly string[];
  readonly cheeses: number;
}

async function walk({ server, key }: Side, query: string): Promise<Walk> {
  const starts = [query];
  let cheeses = 0;
  for (let start: string | undefined = query; start !== undefined && cheeses < 400; ) {
    const { items, nextCursor } = JSON.parse(
      await fetchText(server, `/v2/cheeses?limit=${usualLimit}&${start}`, key),
    );
    cheeses += items.length;
    start = nextCursor === null ? undefined : `cursor=${nextCursor}`;
    if (start !== undefined && starts.length < startsMax) {
      starts.push(start);
    }
  }
  return { starts, cheeses };
}

/**
 * Requests for the same pages on each side, in the same order. Only pages that are full on both sides and have a next
 * page, because otherwise the smaller side would have less to do.
 */
export async function samePages(
  sides: readonly Side[],
  queriesOf: (side: number) => readonly string[],
): Promise<Buffer[][]> {
  const walks = await Promise.all(sides.map((side, index) => walk(side, queriesOf(index)[0] ?? '')));
  const cheeses = Math.min(...walks.map((one) => one.cheeses));
  const isShort = cheeses < 2 * usualLimit;
  const requests: Buffer[][] = sides.map(() => []);
  for (let limit = isShort ? 5 : usualLimit; limit <= limitMax; limit += 1) {
    for (const [index, side] of sides.entries()) {
      const starts = isShort ? queriesOf(index) : (walks[index]?.starts ?? []);
      const full = starts.filter((_, page) => (isShort ? 0 : page * usualLimit) + limit < cheeses);
      requests[index]?.push(...full.map((start) => get(`/v2/cheeses?limit=${limit}&${start}`, side.key)));
    }
    if ((requests[0]?.length ?? 0) >= differentRequests) {
      break;
    }
  }
  return requests;
}

/** A GET request with a key. */
export function get(path: string, key: string): Buffer {
  return httpRequest('GET', path, { 'X-API-Key': key });
}

/** Fetches a path with a key. */
export async function fetchText(server: Running, path: string, key: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { 'X-API-Key': key } });
  return response.text();
}
