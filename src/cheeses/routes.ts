/** The catalogue over HTTP: everything under /cheeses. */
import { anyOf, apiKey, oauth } from '../auth/access.ts';
import { invalid } from '../errors.ts';
import { after } from '../eventual.ts';
import { badRequest, conflict, notFound, preconditionFailed, unprocessable } from '../http/descriptions.ts';
import { requireMatch, shown, strongTag, tagOf, weakTag } from '../http/etag.ts';
import { nextLink } from '../http/link.ts';
import { pathId } from '../http/path-id.ts';
import { type Parameters, type Route, route, Text } from '../http/route.ts';
import type { CheeseListing } from './listing.ts';
import { answerArray, knownTo, unchanged } from './matches.ts';
import {
  Cheese,
  CheeseInput,
  CheeseList,
  CheesePatch,
  CheeseReplacement,
  sorts,
  statuses,
} from './schemas.ts';
import type { CheeseService, Precondition } from './service.ts';

const tag = 'Cheeses';
const statusItem = { type: 'string', enum: statuses } as const;
const tagItem = { type: 'string', minLength: 1, maxLength: 100, format: 'line' } as const;
const cursor = {
  type: 'string',
  minLength: 1,
  maxLength: 12_000,
  description: 'nextCursor of a page',
} as const;
const ifMatch = {
  'If-Match': { type: 'string', description: 'Change the cheese only at this ETag' },
} as const;
export const noCheese = notFound('There is no such cheese');
const nameTaken = conflict('A cheese with this name already exists in the category');
const oneCheese = (description: string) => ({ description, schema: Cheese });

export const listQuery = {
  cursor,
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Cheeses on a page' },
  status: { type: 'array', items: statusItem, description: 'One status, or several with commas' },
  sort: { type: 'string', enum: sorts, description: 'A minus sign turns the order round; name by default' },
  category: { ...tagItem, description: 'Name of a category' },
  categoryId: { type: 'integer', minimum: 1, description: 'Id of a category' },
  tags: { type: 'array', items: tagItem, maxItems: 20, description: 'Cheeses with any of these tags' },
  tagsAll: {
    type: 'array',
    items: tagItem,
    maxItems: 20,
    description: 'Cheeses with every one of these tags',
  },
  q: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    format: 'line',
    description: 'Each word begins a word of the name; accents and case do not matter',
    examples: ['gruy'],
  },
} as const satisfies Parameters;

const matchQuery = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    description: 'At most so many; the Link header has the rest',
  },
  cursor,
} as const satisfies Parameters;

interface Dependencies {
  readonly cheeses: CheeseService;
  readonly listing: CheeseListing;
}

export function cheeseRoutes({ cheeses, listing }: Dependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/cheeses',
      operationId: 'listCheeses',
      isLong: true,
      tag,
      summary: 'List cheeses',
      description:
        'Pages through the catalogue in the chosen order. Filters combine: a cheese must pass all of them.',
      access: anyOf(apiKey, oauth('read:cheeses')),
      query: listQuery,
      answers: {
        200: { description: 'A page of cheeses', schema: CheeseList },
        ...badRequest('A parameter is not valid'),
      },
      handle: async ({ query, headers }) => {
        const { status, ...rest } = query;
        const page = await listing.list(
          { ...rest, statuses: status },
          { withTotal: true, isKnown: knownTo(headers) },
        );
        if ('unchanged' in page) {
          return unchanged(page);
        }
        const { items, nextCursor, total, version } = page;
        const next =
          nextCursor === null
            ? {}
            : { Link: nextLink('/v2/cheeses', { cursor: nextCursor, limit: String(query.limit) }) };
        const text = `{"items":[${items}],"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${nextCursor !== null},"total":${total}}`;
        return { status: 200, headers: { ETag: weakTag(version), ...next }, body: new Text(text) };
      },
    }),
    route({
      method: 'POST',
      path: '/cheeses',
      operationId: 'createCheese',
      tag,
      summary: 'Add a cheese',
      access: anyOf(oauth('write:cheeses')),
      body: CheeseInput,
      answers: { 201: oneCheese('The new cheese'), ...nameTaken, ...unprocessable },
      handle: ({ body, once }) =>
        once(
          (context) => cheeses.create(context, body),
          (cheese) => ({
            ...shown(cheese, 201),
            headers: { ...tagOf(cheese), Location: `/v2/cheeses/${cheese.id}` },
          }),
        ),
    }),
    route({
      method: 'PUT',
      path: '/cheeses',
      operationId: 'replaceCheese',
      tag,
      summary: 'Replace a cheese',
      description:
        'The id in the body says which. Optional fields that are left out return to their defaults.',
      access: anyOf(oauth('write:cheeses')),
      headers: ifMatch,
      body: CheeseReplacement,
      answers: {
        200: oneCheese('The cheese as it is now'),
        ...noCheese,
        ...nameTaken,
        ...preconditionFailed,
        ...unprocessable,
      },
      handle: async ({ body, headers, context }) =>
        shown(await cheeses.replace(context, body, matching(headers['if-match'])), 200),
    }),
    route({
      method: 'GET',
      path: '/cheeses/findByStatus',
      operationId: 'findCheesesByStatus',
      isLong: true,
      tag,
      summary: 'All cheeses in given statuses',
      description: 'Ordered by id. Every match is in the answer, unless a limit asks for fewer.',
      access: anyOf(oauth('read:cheeses')),
      query: {
        status: { type: 'array', items: statusItem, isRequired: true, description: 'Separated by commas' },
        ...matchQuery,
      },
      answers: {
        200: { description: 'The matching cheeses', schema: { type: 'array', items: Cheese } },
        ...badRequest('The status is missing, or not one of the three'),
      },
      handle: ({ query: { status, ...page }, headers }) =>
        answerArray(listing, '/v2/cheeses/findByStatus', { statuses: status }, page, headers),
    }),
    route({
      method: 'GET',
      path: '/cheeses/findByTags',
      operationId: 'findCheesesByTags',
      isLong: true,
      tag,
      summary: 'All cheeses with any of given tags',
      description: 'Use the list with its parameter tags instead: it takes the same value.',
      deprecated: { since: '2025-01-01', successor: '/cheeses' },
      access: anyOf(oauth('read:cheeses')),
      query: {
        tags: {
          type: 'array',
          items: tagItem,
          maxItems: 20,
          isRequired: true,
          description: 'Separated by commas',
        },
        ...matchQuery,
      },
      answers: {
        200: { description: 'The matching cheeses', schema: { type: 'array', items: Cheese } },
        ...badRequest('The tags are missing, or one of them cannot be a tag'),
      },
      handle: ({ query: { tags, ...page }, headers }) =>
        answerArray(listing, '/v2/cheeses/findByTags', { tags }, page, headers),
    }),
    route({
      method: 'GET',
      path: '/cheeses/:cheeseId',
      operationId: 'getCheese',
      tag,
      summary: 'Read a cheese',
      access: anyOf(apiKey, oauth('read:cheeses')),
      answers: { 200: oneCheese('The cheese'), ...noCheese },
      handle: ({ params }) => after(cheeses.find(cheeseId(params)), (cheese) => shown(cheese, 200)),
    }),
    route({
      method: 'POST',
      path: '/cheeses/:cheeseId',
      operationId: 'updateCheese',
      examples: { cheeseId: 3 },
      tag,
      summary: 'Change the name or status of a cheese',
      description:
        'The two fields may come in the query or as a body: JSON, a form, or multipart. Others stay as they are.',
      access: anyOf(oauth('write:cheeses')),
      query: CheesePatch.properties,
      queryFailsAs: 'validation',
      headers: ifMatch,
      body: CheesePatch,
      bodyIsOptional: true,
      takesForms: true,
      answers: {
        200: oneCheese('The cheese as it is now'),
        ...noCheese,
        ...nameTaken,
        ...preconditionFailed,
        ...unprocessable,
      },
      handle: ({ params, query, body, headers, once }) => {
        const patch = agreed(query, body);
        return once(
          (context) => cheeses.update(context, cheeseId(params), patch, matching(headers['if-match'])),
          (cheese) => shown(cheese, 200),
        );
      },
    }),
    route({
      method: 'DELETE',
      path: '/cheeses/:cheeseId',
      operationId: 'deleteCheese',
      tag,
      summary: 'Delete a cheese for good',
      access: anyOf(oauth('write:cheeses')),
      headers: {
        'X-Confirm-Delete': {
          type: 'boolean',
          isRequired: true,
          enum: [true],
          description: 'true, as there is no way back',
        },
        ...ifMatch,
      },
      answers: {
        204: { description: 'The cheese is gone' },
        ...badRequest('X-Confirm-Delete is not true'),
        ...noCheese,
        ...conflict('The cheese has active orders'),
        ...preconditionFailed,
      },
      handle: async ({ params, headers, context }) => {
        await cheeses.delete(context, cheeseId(params), matching(headers['if-match']));
        return { status: 204 };
      },
    }),
  ];
}

/** @throws AppError notFound */
export function cheeseId(params: Readonly<Record<string, string>>): number {
  return pathId(params.cheeseId, 'There is no such cheese.');
}

function matching(ifMatch: string | undefined): Precondition {
  return (version) => requireMatch(ifMatch, strongTag(version));
}

/** The two places of one field must not disagree. */
function agreed(query: CheesePatch, body: CheesePatch): CheesePatch {
  const differing = (['name', 'status'] as const).filter(
    (name) => query[name] !== undefined && body[name] !== undefined && query[name] !== body[name],
  );
  if (differing.length > 0) {
    throw invalid(differing.map((field) => ({ field, message: 'is given twice, with different values' })));
  }
  return { ...query, ...body };
}
