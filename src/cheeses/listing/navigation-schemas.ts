/** Facets, categories and tags in responses. */
import { int64 } from '../../schema/parts.ts';
import { type LabelField, labelFields } from '../fields.ts';
import { CheeseList } from '../schemas.ts';

/** The status is the last one: most shops show it to operators only. */
export const facetNames: readonly LabelField[] = [
  ...labelFields.filter((field) => field !== 'status'),
  'status',
];

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
      properties: Object.fromEntries(facetNames.map((field) => [field, Facet])),
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
