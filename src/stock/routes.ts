/** Routes of stock. */
import { anyOf, apiKey, oauth } from '../access/access.ts';
import { cheeseId } from '../cheeses/routes.ts';
import {
  notFoundResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, ifMatchFor, toPrecondition } from '../http/responses/etag.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { type Route, route } from '../http/route.ts';
import { cursorParameter, limitParameter } from '../schema/parts.ts';
import { idRule } from '../schema/text-rules.ts';
import type { StockReader } from './reader.ts';
import { Stock, StockAdjustment, StockInput, StockList, stockSorts } from './schemas.ts';
import type { StockService } from './service.ts';

const tag = 'Stock';
const path = '/cheeses/:cheeseId/stock';
const reading = anyOf(apiKey, oauth('write:cheeses'));
const writing = anyOf(oauth('write:cheeses'));
const notTracked = notFoundResponse('There is no such cheese, or its stock is not tracked');
const oneStock = (description: string) => ({ description, schema: Stock });

export function stockRoutes(stock: StockService, stockReader: StockReader): Route[] {
  return [
    listRoute({
      path: '/stock',
      operationId: 'listStock',
      tag,
      summary: 'List the stock of all tracked cheeses',
      description:
        'Sorted by the id of the cheese, or by what is available with `sort`. Cheeses whose stock is not tracked are left out.',
      access: reading,
      query: {
        cursor: cursorParameter(4000),
        limit: limitParameter('Cheeses on a page'),
        low: {
          type: 'boolean',
          enum: [true],
          description:
            'true: only cheeses of which nothing is available, or that have lowAt kilograms available or fewer',
        },
        sort: {
          type: 'string',
          enum: stockSorts,
          description:
            'Default: cheeseId. level: first cheeses of which nothing is available, then those that are low, then all others. A cheese whose level changes may be on two pages, or on none',
        },
        cheeseIds: {
          type: 'array',
          maxItems: 100,
          items: { type: 'string', rule: idRule },
          description: 'Only these cheeses: ids with commas, for example those of a page of cheeses',
        },
      },
      page: { description: 'A page of the list', schema: StockList },
      cacheControl: 'private, no-cache',
      list: ({ query: { cheeseIds, ...query } }) =>
        stockReader.list({ ...query, cheeseIds: cheeseIds?.map(Number) }),
    }),
    route({
      method: 'GET',
      path,
      operationId: 'getCheeseStock',
      tag,
      summary: 'Read the stock of a cheese',
      description:
        'Kilograms in the storeroom, reserved, and available for orders. 404 where the stock of the cheese is not tracked.',
      access: reading,
      responses: { 200: oneStock('The stock'), ...notTracked },
      handle: async ({ params }) => entityResponse(await stock.find(cheeseId(params)), 200),
    }),
    route({
      method: 'PUT',
      path,
      operationId: 'replaceCheeseStock',
      tag,
      summary: 'Set the counted stock of a cheese, or begin to track it',
      description:
        'onHand is what lies in the storeroom, reserved kilograms included. When tracking begins, open orders that have not shipped are reserved. Beside running orders, an adjustment is safer: this replaces the quantity.',
      access: writing,
      headers: ifMatchFor('stock'),
      body: StockInput,
      responses: {
        200: oneStock('The changed stock'),
        201: oneStock('The stock, tracked from now on'),
        ...notFoundResponse('There is no such cheese'),
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: async ({ params, body, headers, context }) => {
        const id = cheeseId(params);
        const { stock: row, isNew } = await stock.replace(
          context,
          id,
          { onHand: body.onHand, lowAt: body.lowAt ?? null },
          toPrecondition(headers['if-match']),
        );
        return entityResponse(row, isNew ? 201 : 200);
      },
    }),
    route({
      method: 'DELETE',
      path,
      operationId: 'deleteCheeseStock',
      tag,
      summary: 'Stop tracking the stock of a cheese',
      description:
        'Reservations end, and orders stay. The cheese is sold without limit from then on; if it was sold because its stock was depleted, it becomes available.',
      access: writing,
      responses: { 204: { description: 'The stock is not tracked any more' }, ...notTracked },
      handle: async ({ params, context }) => {
        await stock.untrack(context, cheeseId(params));
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: `${path}/adjustments`,
      operationId: 'adjustCheeseStock',
      tag,
      summary: 'Add to the stock of a cheese, or subtract from it',
      description: 'The history is in the event log: `GET /v2/events?subject=stock:12`.',
      access: writing,
      body: StockAdjustment,
      storesPlainResponse: true,
      responses: { 201: oneStock('The changed stock'), ...notTracked, ...unprocessableResponse },
      handle: ({ params, body, withIdempotency }) =>
        withIdempotency(
          (context) => stock.adjust(context, cheeseId(params), body),
          (row) => entityResponse(row, 201),
        ),
    }),
  ];
}
