/** Routes that list cheeses. */

import { anyOf, oauth } from '../../access/access.ts';
import { badRequestResponse } from '../../http/responses/error-responses.ts';
import { weakTag } from '../../http/responses/etag.ts';
import { nextPageHeader } from '../../http/responses/link.ts';
import { TextBody } from '../../http/responses/response.ts';
import { type Route, route } from '../../http/route.ts';
import { cursorParameter, limitParameter, literals } from '../../schema/parts.ts';
import type { Parameters } from '../../schema/schema.ts';
import { searchRule } from '../../schema/text-rules.ts';
import { tagsOfList } from '../cache-tags.ts';
import { filterParameters } from '../fields.ts';
import { readsCatalogue } from '../routes.ts';
import { Cheese, CheeseList, missingFields, sorts } from '../schemas.ts';
import { arrayResponse, ifNoneMatch, notModified } from './array-response.ts';
import type { CheeseLists } from './cheese-lists.ts';
import { CheeseListWithFacets, facetNames } from './navigation-schemas.ts';

const tag = 'Cheeses';
const { status, ...filters } = filterParameters;
const cursor = cursorParameter(12_000);

export const cheeseListQuery = {
  cursor,
  limit: limitParameter('Cheeses per page'),
  status,
  sort: {
    type: 'string',
    enum: literals(sorts),
    description:
      'A minus sign reverses the order; `name` by default. Cheeses without a price or age come last in both orders by it',
  },
  ...filters,
  missing: {
    type: 'array',
    items: { type: 'string', enum: missingFields },
    description: 'Cheeses without a price, without photo URLs, or with both values without either',
  },
  q: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    rule: searchRule,
    description:
      'Words or beginnings of words of the name: `gruy` finds Gruyère. Accents and case are ignored',
  },
} as const satisfies Parameters;

const facetParameter = {
  type: 'array',
  items: { type: 'string', enum: literals(facetNames) },
  description:
    'Also count the values of these filters, each under all filters but its own. It is no filter: it may be sent with any cursor',
} as const;

const matchQuery = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    description: 'Maximum number of cheeses; the Link header leads to the next ones',
  },
  cursor,
} as const satisfies Parameters;

export function listingRoutes(lists: CheeseLists): Route[] {
  return [
    route({
      method: 'GET',
      path: '/cheeses',
      operationId: 'listCheeses',
      ...readsCatalogue,
      summary: 'List cheeses',
      description: 'Returns the catalogue page by page. A cheese must match all filters.',
      query: { ...cheeseListQuery, facets: facetParameter },
      responses: {
        200: {
          description: 'A page of cheeses, with the requested facets',
          schema: { anyOf: [CheeseList, CheeseListWithFacets] },
          example: CheeseListWithFacets.examples[0],
        },
        ...badRequestResponse('A parameter is not valid'),
      },
      handle: async ({ query, headers }) => {
        const { facets, ...request } = query;
        const page = await lists.list(request, { withTotal: true, isKnown: ifNoneMatch(headers), facets });
        // A category's own facet counts the cheeses of the others.
        const categoryId = facets?.includes('category') ? undefined : request.categoryId;
        if ('unchanged' in page) {
          return { ...notModified(page), cacheTags: tagsOfList([], categoryId) };
        }
        const { items, ids, nextCursor, total, version } = page;
        const next = nextPageHeader('/v2/cheeses', nextCursor, request.limit);
        const counted = page.facets === undefined ? '' : `,"facets":${page.facets}`;
        const text = `{"items":[${items}],"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${nextCursor !== null},"total":${total}${counted}}`;
        return {
          status: 200,
          headers: { ETag: weakTag(version), ...next },
          cacheTags: tagsOfList(ids, categoryId),
          body: new TextBody(text),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/cheeses/findByStatus',
      operationId: 'findCheesesByStatus',
      tag,
      summary: 'List all cheeses with given statuses',
      description: 'Sorted by id. The response contains all matches, unless `limit` is given.',
      access: anyOf(oauth('read:cheeses')),
      permitsConfined: true,
      publishable: 'catalogue',
      alternative: 'GET /v2/cheeses?status=<status>',
      query: {
        status: { ...status, isRequired: true, description: 'Separated by commas' },
        ...matchQuery,
      },
      responses: {
        200: { description: 'The matching cheeses', schema: { type: 'array', items: Cheese } },
        ...badRequestResponse('The status is missing or not one of the three'),
      },
      handle: ({ query: { status, ...page }, headers }) =>
        arrayResponse(lists, '/v2/cheeses/findByStatus', { status }, page, headers),
    }),
    route({
      method: 'GET',
      path: '/cheeses/findByTags',
      operationId: 'findCheesesByTags',
      tag,
      summary: 'List all cheeses with given tags',
      description:
        'Use GET /v2/cheeses with the parameter `tags` instead: it accepts the same value with up to 20 tags.',
      // The date of release 0.1.0, which contains the successor.
      deprecated: { since: '2026-11-21', successor: '/cheeses' },
      access: anyOf(oauth('read:cheeses')),
      permitsConfined: true,
      publishable: 'catalogue',
      alternative: 'GET /v2/cheeses?tags=<tags>',
      query: {
        tags: {
          type: 'array',
          items: filters.tags.items,
          isRequired: true,
          description: 'Separated by commas. The request line limits their number',
        },
        ...matchQuery,
      },
      responses: {
        200: { description: 'The matching cheeses', schema: { type: 'array', items: Cheese } },
        ...badRequestResponse('The tags are missing, or one of them is not valid'),
      },
      handle: ({ query: { tags, ...page }, headers }) =>
        arrayResponse(lists, '/v2/cheeses/findByTags', { tags }, page, headers),
    }),
  ];
}
