/** The same pages of lists in catalogues of two sizes. */
import { httpRequest } from './load.ts';
import type { Running } from './process.ts';

/** A server and a key for it. */
export interface Side {
  readonly server: Running;
  readonly key: string;
}

/** The cache of a server has 16 MiB. With more bytes of different pages, each one is read from the database. */
const differentBytes = 24 * 1024 * 1024;
/** Of a cheese in that cache, which counts two bytes for each character. */
const cheeseBytes = 740;
const limitMin = 15;
const limitMax = 100;
/** The first pages of a list start in so many places, among this many cheeses. */
const startsMax = 100;
const cheesesMax = 1000;

/**
 * The query of each list. Two words have too few pages at 1,000 cheeses: they are among the totals in navigation.ts.
 */
export const lists: Readonly<Record<string, string>> = {
  'first page': 'sort=name',
  'newest first': 'sort=-createdAt',
  status: 'status=pending',
  category: 'category=Hard',
  tag: 'tags=goat',
  'any of two tags': 'tags=goat,sheep',
  'both tags': 'tagsAll=cow,pasteurised',
  'word of the name': 'q=ched',
  'tag and status': 'tags=cow&status=available',
  'by price': 'sort=pricePerKg',
  'by price, descending': 'sort=-pricePerKg',
  'by age': 'sort=ageMonths',
  'category by price': 'category=Hard&sort=pricePerKg',
  'origin by age': 'origin=france&sort=-ageMonths',
  'organic by price': 'organic=true&sort=-pricePerKg',
  'price range by price': 'minPrice=10&maxPrice=40&sort=pricePerKg',
};

/** The number of cheeses from the start of a query, up to 1,000. */
async function countCheeses(side: Side, query: string): Promise<number> {
  let cheeses = 0;
  for await (const { items } of pagesOf(side, query, limitMax)) {
    cheeses += items;
    if (cheeses >= cheesesMax) {
      break;
    }
  }
  return cheeses;
}

/** Queries of pages that start at every `spacing`th cheese. */
async function findStarts(side: Side, query: string, spacing: number): Promise<string[]> {
  const starts = [query];
  for await (const { next } of pagesOf(side, query, spacing)) {
    if (next === null || starts.length === startsMax) {
      break;
    }
    starts.push(next);
  }
  return starts;
}

async function* pagesOf(
  { server, key }: Side,
  query: string,
  limit: number,
): AsyncGenerator<{ items: number; next: string | null }> {
  for (let start: string | null = query; start !== null; ) {
    const page = JSON.parse(await fetchText(server, `/v2/cheeses?limit=${limit}&${start}`, key));
    start = page.nextCursor === null ? null : `cursor=${page.nextCursor}`;
    yield { items: page.items.length, next: start };
  }
}

/**
 * Requests for the same pages on each side, in the same order. Only pages that are full on both sides and have a next
 * page, because otherwise the smaller side would have less to do.
 */
export async function samePages(
  sides: readonly Side[],
  queryOf: (side: number) => string,
): Promise<Buffer[][]> {
  const counts = await Promise.all(sides.map((side, index) => countCheeses(side, queryOf(index))));
  const cheeses = Math.min(...counts);
  const spacing = Math.max(1, Math.floor((cheeses - 2 * limitMin) / startsMax));
  const starts = await Promise.all(sides.map((side, index) => findStarts(side, queryOf(index), spacing)));
  const places = Math.min(...starts.map(({ length }) => length));
  const requests: Buffer[][] = sides.map(() => []);
  let bytes = 0;
  for (let limit = limitMin; limit <= limitMax && bytes < differentBytes; limit += 1) {
    for (let place = 0; place < places && place * spacing + limit < cheeses; place += 1) {
      bytes += limit * cheeseBytes;
      for (const [index, side] of sides.entries()) {
        requests[index]?.push(get(`/v2/cheeses?limit=${limit}&${starts[index]?.[place]}`, side.key));
      }
    }
  }
  if (bytes < differentBytes) {
    throw new Error(`The pages of ${queryOf(0)} fit into the cache of a server: ${bytes} bytes.`);
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
