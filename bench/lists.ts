/** The same pages of lists at two sizes of one catalogue. */
import { httpRequest } from './load.ts';
import type { Running } from './process.ts';

export interface Side {
  readonly server: Running;
  readonly key: string;
}

/** More than the pages that a server remembers, so that each is read anew. */
const differentRequests = 300;
const usualLimit = 20;
const limitMax = 100;
const startsMax = 9;

/** Lists by their queries; one of which few pages can be full at 1,000 cheeses is asked for in several spellings. */
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
};

/** Every way to mix capitals and small letters: other text, the same search. */
function spellings(text: string): string[] {
  return [...text].reduce<string[]>(
    (begun, letter) => begun.flatMap((start) => [start + letter, start + letter.toUpperCase()]),
    [''],
  );
}

/** What is in a list: where pages start, and how many cheeses follow the first start, as far as it matters. */
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
 * Requests for each side, the same pages in the same order: pages that are full on both sides and have a next one,
 * or else the smaller side would have less to do.
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

export function get(path: string, key: string): Buffer {
  return httpRequest('GET', path, { 'X-API-Key': key });
}

export async function fetchText(server: Running, path: string, key: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { 'X-API-Key': key } });
  return response.text();
}
