/** Routes of discount codes. */
import { anyOf, oauth } from '../access/access.ts';
import {
  conflictResponse,
  notFoundResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, ifMatchFor, toPrecondition } from '../http/responses/etag.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { type Route, route } from '../http/route.ts';
import { Discount, DiscountInput, DiscountList, DiscountPatch, discountListQuery } from './schemas.ts';
import { type DiscountService, discountsMax } from './service.ts';

const tag = 'Discounts';
const path = '/discounts';
const access = anyOf(oauth('admin'));
const missing = notFoundResponse('There is no such code');
const headers = ifMatchFor('discount');

export function discountRoutes(discounts: DiscountService): Route[] {
  return [
    listRoute({
      path,
      operationId: 'listDiscounts',
      tag,
      summary: 'List the discount codes',
      description: 'The newest first.',
      access,
      query: discountListQuery,
      page: { description: 'A page of codes', schema: DiscountList },
      list: ({ query }) => discounts.list(query),
    }),
    route({
      method: 'POST',
      path,
      operationId: 'createDiscount',
      tag,
      summary: 'Create a discount code',
      description: `At most ${discountsMax}. An order has one code; its limits hold whatever orders are placed at the same time.`,
      access,
      body: DiscountInput,
      responses: {
        201: { description: 'The code', schema: Discount },
        ...conflictResponse('The code exists already'),
        ...unprocessableResponse,
      },
      handle: ({ body, withIdempotency }) =>
        withIdempotency(
          (context) => discounts.create(context, body),
          (discount) => entityResponse(discount, 201),
        ),
    }),
    route({
      method: 'GET',
      path: `${path}/:code`,
      operationId: 'getDiscount',
      tag,
      summary: 'Read a discount code',
      description: 'Its ETag is for If-Match of a change.',
      access,
      responses: { 200: { description: 'The code', schema: Discount }, ...missing },
      handle: async ({ params }) => entityResponse(await discounts.find(params.code ?? ''), 200),
    }),
    route({
      method: 'PATCH',
      path: `${path}/:code`,
      operationId: 'patchDiscount',
      tag,
      summary: 'Change a discount code',
      description: 'A JSON Merge Patch: send only what changes. Orders keep what they had.',
      access,
      headers,
      body: DiscountPatch,
      bodyTypes: ['application/merge-patch+json', 'application/json'],
      responses: {
        200: { description: 'The changed code', schema: Discount },
        ...missing,
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: async ({ params, body, headers, context }) =>
        entityResponse(
          await discounts.change(context, params.code ?? '', body, toPrecondition(headers['if-match'])),
          200,
        ),
    }),
    route({
      method: 'DELETE',
      path: `${path}/:code`,
      operationId: 'deleteDiscount',
      tag,
      summary: 'Delete a discount code',
      description: 'Orders keep what they had.',
      access,
      headers,
      responses: {
        204: { description: 'The code is deleted' },
        ...missing,
        ...preconditionFailedResponse,
      },
      handle: async ({ params, headers, context }) => {
        await discounts.delete(context, params.code ?? '', toPrecondition(headers['if-match']));
        return { status: 204 };
      },
    }),
  ];
}
