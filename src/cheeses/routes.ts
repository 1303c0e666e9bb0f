/** Routes that read and write cheeses by their ids. */
import { anyOf, apiKey, oauth } from '../access/access.ts';
import { validationError } from '../errors.ts';
import { parsePathId } from '../http/pipeline/path-id.ts';
import {
  badRequestResponse,
  conflictResponse,
  notFoundResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, etagHeader, ifMatchFor, toPrecondition } from '../http/responses/etag.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { type Route, route } from '../http/route.ts';
import { chain } from '../maybe-promise.ts';
import { cursorParameter, limitParameter } from '../schema/parts.ts';
import type { BulkChanges } from './bulk/bulk-changes.ts';
import { BulkInput, BulkResult, bulkCheesesMax } from './bulk/schemas.ts';
import { cheeseTag } from './cache-tags.ts';
import type { PriceReader } from './prices/price-list.ts';
import { CheesePriceList } from './prices/schemas.ts';
import {
  Cheese,
  CheeseInput,
  CheeseMergePatch,
  CheesePatch,
  CheeseReplacement,
  inputProperties,
} from './schemas.ts';
import type { CheeseService } from './service.ts';

const tag = 'Cheeses';
/** RFC 7396, and the type that most clients send. */
const mergePatchTypes = ['application/merge-patch+json', 'application/json'];
export const cheeseIfMatch = ifMatchFor('cheese');
export const noCheese = notFoundResponse('There is no such cheese');
const nameTaken = conflictResponse('A cheese with this name already exists in the category');
/** What routes have that read the catalogue. */
export const readsCatalogue = {
  tag,
  access: anyOf(apiKey, oauth('read:cheeses')),
  permitsConfined: true,
  publishable: 'catalogue',
} as const;
const oneCheese = (description: string) => ({ description, schema: Cheese });
const changedCheese = {
  200: oneCheese('The changed cheese'),
  ...noCheese,
  ...nameTaken,
  ...preconditionFailedResponse,
  ...unprocessableResponse,
};

export function cheeseRoutes(cheeses: CheeseService, prices: PriceReader, bulk: BulkChanges): Route[] {
  return [
    route({
      method: 'POST',
      path: '/cheeses',
      operationId: 'createCheese',
      tag,
      summary: 'Add a cheese',
      description:
        'A name exists once in a category. The server sets the id and the times; a cheese is `available` unless the body has another status.',
      access: anyOf(oauth('write:cheeses')),
      body: CheeseInput,
      storesPlainResponse: true,
      responses: { 201: oneCheese('The new cheese'), ...nameTaken, ...unprocessableResponse },
      handle: ({ body, withIdempotency }) =>
        withIdempotency(
          (context) => cheeses.create(context, body),
          (cheese) => ({
            ...entityResponse(cheese, 201),
            headers: { ...etagHeader(cheese), Location: `/v2/cheeses/${cheese.id}` },
          }),
        ),
    }),
    route({
      method: 'PUT',
      path: '/cheeses',
      operationId: 'replaceCheese',
      tag,
      summary: 'Replace a cheese',
      description: 'The body contains the id. Optional fields that are absent get their defaults.',
      access: anyOf(oauth('write:cheeses')),
      headers: cheeseIfMatch,
      body: CheeseReplacement,
      responses: changedCheese,
      handle: async ({ body, headers, context }) =>
        entityResponse(await cheeses.replace(context, body, toPrecondition(headers['if-match'])), 200),
    }),
    route({
      method: 'GET',
      path: '/cheeses/:cheeseId',
      operationId: 'getCheese',
      ...readsCatalogue,
      summary: 'Read a cheese',
      description:
        'The ETag changes with every change of the cheese. Send it as If-Match to change only what you have read.',
      responses: { 200: oneCheese('The cheese'), ...noCheese },
      handle: ({ params }) =>
        chain(cheeses.find(cheeseId(params)), (cheese) => ({
          ...entityResponse(cheese, 200),
          cacheTags: [cheeseTag(cheese.id)],
        })),
    }),
    route({
      method: 'POST',
      path: '/cheeses/:cheeseId',
      operationId: 'updateCheese',
      examples: { cheeseId: 3 },
      tag,
      summary: 'Change the name or status of a cheese',
      description:
        'Send the two fields in the query or in the body, as JSON, form or multipart form. Other fields of a cheese are refused with 422, because this route cannot change them: use PATCH.',
      access: anyOf(oauth('write:cheeses')),
      query: CheesePatch.properties,
      queryFailsAs: 'validation',
      unchangeable: {
        fields: Object.keys(inputProperties).filter((field) => !(field in CheesePatch.properties)),
        remedy: ({ cheeseId: id = '' }) =>
          `send PATCH /v2/cheeses/${/^\d{1,19}$/.test(id) ? id : '{cheeseId}'}`,
      },
      headers: cheeseIfMatch,
      body: CheesePatch,
      bodyIsOptional: true,
      takesForms: true,
      storesPlainResponse: true,
      responses: changedCheese,
      handle: ({ params, query, body, headers, withIdempotency }) => {
        const patch = mergePatches(query, body);
        return withIdempotency(
          (context) => cheeses.update(context, cheeseId(params), patch, toPrecondition(headers['if-match'])),
          (cheese) => entityResponse(cheese, 200),
        );
      },
    }),
    route({
      method: 'PATCH',
      path: '/cheeses/:cheeseId',
      operationId: 'patchCheese',
      tag,
      summary: 'Change fields of a cheese',
      description:
        'A JSON Merge Patch: send only the fields that change. Null removes an optional field. The category is replaced as a whole.',
      access: anyOf(oauth('write:cheeses')),
      headers: cheeseIfMatch,
      body: CheeseMergePatch,
      bodyTypes: mergePatchTypes,
      responses: changedCheese,
      handle: async ({ params, body, headers, context }) => {
        const precondition = toPrecondition(headers['if-match']);
        return entityResponse(await cheeses.patch(context, cheeseId(params), body, precondition), 200);
      },
    }),
    route({
      method: 'DELETE',
      path: '/cheeses/:cheeseId',
      operationId: 'deleteCheese',
      tag,
      summary: 'Delete a cheese permanently',
      description:
        'A cheese with active orders cannot be deleted. Its stock ends, its images are removed, and it remains in the list of changes as deleted.',
      access: anyOf(oauth('write:cheeses')),
      headers: {
        'X-Confirm-Delete': {
          type: 'boolean',
          isRequired: true,
          enum: [true],
          description: 'Must be true, because a deletion cannot be undone',
        },
        ...cheeseIfMatch,
      },
      responses: {
        204: { description: 'The cheese was deleted' },
        ...badRequestResponse('X-Confirm-Delete is not true'),
        ...noCheese,
        ...conflictResponse('The cheese has active orders'),
        ...preconditionFailedResponse,
      },
      handle: async ({ params, headers, context }) => {
        await cheeses.delete(context, cheeseId(params), toPrecondition(headers['if-match']));
        return { status: 204 };
      },
    }),
    listRoute({
      path: '/cheeses/:cheeseId/prices',
      operationId: 'listCheesePrices',
      ...readsCatalogue,
      summary: 'List the prices of a cheese, the newest first',
      description:
        'The current price and those before it, with the lowest price of the last 30 days. `reduction` is what a shop in the European Union shows beside a reduced price.',
      query: {
        cursor: cursorParameter(400),
        limit: limitParameter('Prices of a page'),
      },
      page: { description: 'A page of prices', schema: CheesePriceList },
      errors: noCheese,
      cacheControl: 'private, no-cache',
      list: ({ params, query }) => prices.list(cheeseId(params), query),
    }),
    route({
      method: 'POST',
      path: '/cheeses/bulk',
      operationId: 'changeCheeses',
      tag,
      summary: 'Change prices, status, category and tags of many cheeses',
      description: `At most ${bulkCheesesMax} cheeses: all are changed, or none, with one version of the catalogue. The response has the old and new values; in a dry run nothing is changed. \`undo\` of the response is the body of a second request that restores the old values.`,
      access: anyOf(oauth('write:cheeses')),
      body: BulkInput,
      storesPlainResponse: true,
      responses: {
        200: { description: 'What is changed', schema: BulkResult },
        ...noCheese,
        ...nameTaken,
        ...unprocessableResponse,
      },
      handle: ({ body, withIdempotency }) =>
        withIdempotency(
          (context) => bulk.apply(context, body),
          (result) => ({ status: 200, body: { ...result } }),
        ),
    }),
  ];
}

/** @throws AppError notFound */
export function cheeseId(params: Readonly<Record<string, string>>): number {
  return parsePathId(params.cheeseId, 'There is no such cheese.');
}

/** A field may be in the query and in the body, with equal values. */
function mergePatches(query: CheesePatch, body: CheesePatch): CheesePatch {
  const differing = (['name', 'status'] as const).filter(
    (name) => query[name] !== undefined && body[name] !== undefined && query[name] !== body[name],
  );
  if (differing.length > 0) {
    throw validationError(
      differing.map((field) => ({ field, message: 'is given twice, with different values' })),
    );
  }
  return { ...query, ...body };
}
