/** Routes of tax rates. */
import { anyOf, oauth } from '../access/access.ts';
import { parsePathId } from '../http/pipeline/path-id.ts';
import {
  conflictResponse,
  notFoundResponse,
  preconditionFailedResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { entityResponse, ifMatchFor, toPrecondition } from '../http/responses/etag.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { type Route, route } from '../http/route.ts';
import { ratesMax, TaxRate, TaxRateInput, TaxRateList, TaxRatePatch, taxRateListQuery } from './schemas.ts';
import type { TaxService } from './service.ts';

const tag = 'Delivery and taxes';
const path = '/tax-rates';
const access = anyOf(oauth('admin'));
const missing = 'There is no such tax rate';
const headers = ifMatchFor('tax rate');
const parseId = (text: string | undefined) => parsePathId(text, `${missing}.`);

export function taxRoutes(taxes: TaxService): Route[] {
  return [
    listRoute({
      path,
      operationId: 'listTaxRates',
      tag,
      summary: 'List the tax rates',
      description: 'In the order in which they were created.',
      access,
      query: taxRateListQuery,
      page: { description: 'A page of rates', schema: TaxRateList },
      list: ({ query }) => taxes.list(query),
    }),
    route({
      method: 'POST',
      path,
      operationId: 'createTaxRate',
      tag,
      summary: 'Create a tax rate',
      description: `At most ${ratesMax}. Of the rates that apply to a line of an order, the most specific counts: category before ZIP prefix, a longer prefix before a shorter one, then state, then country. Taxes are computed while \`tax.mode\` of the shop is not \`off\`.`,
      access,
      body: TaxRateInput,
      responses: {
        201: { description: 'The rate', schema: TaxRate },
        ...conflictResponse(`There is an equal rate, or there are ${ratesMax}`),
        ...unprocessableResponse,
      },
      handle: ({ body, withIdempotency }) =>
        withIdempotency(
          (context) => taxes.create(context, body),
          (rate) => entityResponse(rate, 201),
        ),
    }),
    route({
      method: 'GET',
      path: `${path}/:rateId`,
      operationId: 'getTaxRate',
      tag,
      summary: 'Read a tax rate',
      description: 'Its ETag is for If-Match of a change.',
      access,
      responses: { 200: { description: 'The rate', schema: TaxRate }, ...notFoundResponse(missing) },
      handle: async ({ params }) => entityResponse(await taxes.find(parseId(params.rateId)), 200),
    }),
    route({
      method: 'PATCH',
      path: `${path}/:rateId`,
      operationId: 'patchTaxRate',
      tag,
      summary: 'Change the percentage or the name of a tax rate',
      description: 'A JSON Merge Patch: send only what changes. Orders keep what they had.',
      access,
      headers,
      body: TaxRatePatch,
      bodyTypes: ['application/merge-patch+json', 'application/json'],
      responses: {
        200: { description: 'The changed rate', schema: TaxRate },
        ...notFoundResponse(missing),
        ...preconditionFailedResponse,
        ...unprocessableResponse,
      },
      handle: async ({ params, body, headers, context }) =>
        entityResponse(
          await taxes.change(context, parseId(params.rateId), body, toPrecondition(headers['if-match'])),
          200,
        ),
    }),
    route({
      method: 'DELETE',
      path: `${path}/:rateId`,
      operationId: 'deleteTaxRate',
      tag,
      summary: 'Delete a tax rate',
      description: 'Orders keep what they had.',
      access,
      headers,
      responses: {
        204: { description: 'The rate is deleted' },
        ...notFoundResponse(missing),
        ...preconditionFailedResponse,
      },
      handle: async ({ params, headers, context }) => {
        await taxes.delete(context, parseId(params.rateId), toPrecondition(headers['if-match']));
        return { status: 204 };
      },
    }),
  ];
}
