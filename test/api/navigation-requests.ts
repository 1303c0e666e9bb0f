/** Lists and facets of the catalogue, compared with a plain filter and sort of all cheeses. */
import assert from 'node:assert/strict';
import type { Cheese, CheeseInput } from '../../src/cheeses/schemas.ts';
import type { Shop, TestResponse } from '../helper.ts';
import { matches, type Query, sorted } from './navigation-model.ts';

/** All facets. */
export const facets = 'category,tags,origin,organic,status';

export interface Facet {
  readonly values: readonly { readonly value: string; readonly count: number | null }[];
  readonly more: number;
}

export function fill(shop: Shop, inputs: readonly CheeseInput[]) {
  return shop.app.cheeses.service.import(shop.app.contextOf('test'), inputs, new Set());
}

export function list(shop: Shop, query: Query): Promise<TestResponse> {
  return shop.request('GET', `/v2/cheeses?${new URLSearchParams(query)}`, { as: shop.reader });
}

/** All cheeses of a list, read by cursors. Every page must have the same total. */
export async function pages(shop: Shop, query: Query): Promise<Cheese[]> {
  const found: Cheese[] = [];
  for (let next: Query | null = query; next !== null; ) {
    const { status, json, text } = await list(shop, next);
    assert.equal(status, 200, text);
    found.push(...json.items);
    assert.equal(json.hasMore, found.length < json.total, `${JSON.stringify(query)}: total ${json.total}`);
    next = json.hasMore ? { cursor: json.nextCursor, limit: query.limit ?? '20' } : null;
  }
  return found;
}

export const idsOf = (cheeses: readonly { readonly id: number }[]) => cheeses.map(({ id }) => id);

/** Asserts the whole list of a query. Returns how many of the cheeses match. */
export async function assertListed(
  shop: Shop,
  cheeses: readonly Cheese[],
  query: Query,
  sort: string,
  limit: string,
): Promise<number> {
  const expected = cheeses.filter((cheese) => matches(cheese, query));
  const read = await pages(shop, { ...query, sort, limit });
  assert.deepEqual(idsOf(read), idsOf(sorted(expected, sort)), `${JSON.stringify(query)} ${sort}`);
  return expected.length;
}

/** Asserts that each count of each facet is the total of the list with that value. Returns the number of values. */
export async function assertFacets(shop: Shop, query: Query): Promise<number> {
  const totalOf = async (filters: Query) => (await list(shop, { ...filters, limit: '1' })).json.total;
  const found: Record<string, Facet> = (await list(shop, { ...query, facets })).json.facets;
  assert.deepEqual(Object.keys(found).join(), facets);
  let counted = 0;
  for (const [facet, { values, more }] of Object.entries(found)) {
    const others = withoutOwn(facet, query);
    assert.equal(more, 0);
    const order = values.toSorted((a, b) => (b.count ?? 0) - (a.count ?? 0) || (a.value < b.value ? -1 : 1));
    assert.deepEqual(values, order);
    for (const { value, count } of values) {
      const total = await totalOf({ ...others, [facet]: value });
      assert.equal(count, total, `${facet}=${value} ${JSON.stringify(others)}`);
    }
    const all = await totalOf(others);
    const sum = values.reduce((total, { count }) => total + (count ?? 0), 0);
    // Each cheese has one status and is organic or not, and at most one category and origin.
    assert.ok(facet === 'tags' || sum <= all, facet);
    assert.ok(!['organic', 'status'].includes(facet) || sum === all, facet);
    counted += values.length;
  }
  return counted;
}

/** The filters without those of a facet. */
function withoutOwn(facet: string, query: Query): Query {
  return Object.fromEntries(
    Object.entries(query).filter(
      ([name]) => name !== facet && !(facet === 'category' && name === 'categoryId'),
    ),
  );
}
