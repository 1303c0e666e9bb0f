/** Facets, categories and tags in responses. */
import { int64 } from '../../schema/parts.ts';
import { CheeseList } from '../schemas.ts';

export const facetNames = ['category', 'tags', 'origin', 'organic', 'status'] as const;
export type FacetName = (typeof facetNames)[number];

const Facet = {
  title: 'Facet',
  description: 'The values of one filter, the most frequent first, under all other filters of the request',
  type: 'object',
  required: ['values', 'more'],
  properties: {
    values: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'object',
        required: ['value', 'count'],
        properties: {
          value: { type: 'string', description: 'Send it as the value of the filter' },
          count: { type: 'integer', description: 'Number of cheeses' },
        },
      },
    },
    more: { type: 'integer', description: 'How many values are not listed' },
  },
  examples: [
    {
      values: [
        { value: 'Hard', count: 120 },
        { value: 'Soft', count: 31 },
      ],
      more: 0,
    },
  ],
} as const;

export const CheeseListWithFacets = {
  title: 'CheeseListWithFacets',
  description: 'The response to a request with the parameter `facets`',
  type: 'object',
  required: [...CheeseList.required, 'facets'],
  properties: {
    ...CheeseList.properties,
    facets: {
      type: 'object',
      description: 'The requested facets by name',
      properties: { category: Facet, tags: Facet, origin: Facet, organic: Facet, status: Facet },
    },
  },
  examples: [{ ...CheeseList.examples[0], facets: { category: Facet.examples[0] } }],
} as const;

export const CountedName = {
  title: 'CountedName',
  description: 'A category or tag',
  type: 'object',
  required: ['id', 'name', 'cheeses'],
  properties: {
    id: int64,
    name: { type: 'string' },
    cheeses: { type: 'integer', description: 'Number of its cheeses in the requested statuses' },
  },
  examples: [{ id: 3, name: 'Hard', cheeses: 120 }],
} as const;

export const CountedNameList = {
  title: 'CountedNameList',
  type: 'object',
  required: ['items', 'nextCursor', 'hasMore', 'total'],
  properties: {
    items: { type: 'array', items: CountedName },
    nextCursor: CheeseList.properties.nextCursor,
    hasMore: { type: 'boolean' },
    total: { type: 'integer', description: 'Number of matching names on all pages' },
  },
  examples: [{ items: CountedName.examples, nextCursor: null, hasMore: false, total: 1 }],
} as const;
