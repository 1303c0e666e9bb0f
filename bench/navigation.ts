/** Lists of categories and tags, facets, and totals of two filters that are not cached. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { composeShop } from '../src/app/compose.ts';
import { CheeseLists } from '../src/cheeses/listing/cheese-lists.ts';
import type { ListRequest } from '../src/cheeses/listing/list-query.ts';
import { CurrentIndex } from '../src/cheeses/search-index/current-index.ts';
import { createCursors } from '../src/cursor.ts';
import { loadConfig } from '../src/settings/config.ts';

const limits = Array.from({ length: 100 }, (_, index) => index + 1);

/** Paths that are requested in turns from a large and a small shop. */
export const countedPaths: Readonly<Record<string, readonly string[]>> = {
  'GET /v2/categories': limits.map((limit) => `/v2/categories?limit=${limit}`),
  'GET /v2/tags': limits.map((limit) => `/v2/tags?limit=${limit}`),
  'five facets without a filter': limits.map(
    (limit) => `/v2/cheeses?limit=${limit}&facets=category,tags,origin,organic,status`,
  ),
};

const pairs: readonly Omit<ListRequest, 'limit'>[] = [
  { tags: ['goat', 'sheep'] },
  { tagsAll: ['cow', 'pasteurised'] },
  { category: 'Hard', tags: ['goat'] },
  { category: 'Hard', organic: false },
  { tags: ['cow'], minPrice: 10, maxPrice: 40 },
  { minPrice: 10, maxPrice: 40, minAge: 5, maxAge: 20 },
  { q: 'ched', tags: ['cow'] },
  { q: 'ched', minPrice: 10 },
  { q: 'fer che' },
  { q: 'che fer' },
  { q: 'vie rac' },
];
const furtherPages = 20;

/** The first page of two filters with its total. Times are CPU time, because other programs may use the machine. */
export interface Total {
  readonly query: string;
  readonly ms: number;
  /** The longest time in which the process did nothing else. */
  readonly longestMs: number;
  /** A page of which the total is cached. */
  readonly pageMs: number;
}

/** Counts each pair of filters with empty caches. */
export async function measureTotals(environment: Readonly<Record<string, string>>): Promise<Total[]> {
  const { database, loops, close } = await composeShop(loadConfig(environment));
  const current = new CurrentIndex(database, loops);
  await current.load();
  const totals: Total[] = [];
  for (const pair of pairs) {
    const lists = new CheeseLists(current, createCursors('bench', 'cheeses'));
    const startedAt = cpuMs();
    let isCounted = false;
    const counting = lists.list({ ...pair, limit: 20 }, { withTotal: true }).then(() => {
      isCounted = true;
    });
    let longestMs = cpuMs() - startedAt;
    while (!isCounted) {
      const before = cpuMs();
      await nextTurn();
      longestMs = Math.max(longestMs, cpuMs() - before);
    }
    await counting;
    const ms = cpuMs() - startedAt;
    for (let page = 1; page <= furtherPages; page += 1) {
      await lists.list({ ...pair, limit: 20 + page }, { withTotal: true });
    }
    const pageMs = (cpuMs() - startedAt - ms) / furtherPages;
    totals.push({ query: JSON.stringify(pair), ms, longestMs, pageMs });
  }
  await close();
  return totals;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
