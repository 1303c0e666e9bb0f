/** Prices of a cheese over HTTP. */
import { anyOf, apiKey, oauth } from '../../access/access.ts';
import { badRequestResponse } from '../../http/responses/error-responses.ts';
import { nextPageHeader } from '../../http/responses/link.ts';
import { type Route, route } from '../../http/route.ts';
import { cheeseId, noCheese } from '../routes.ts';
import type { PriceReader } from './price-list.ts';
import { CheesePriceList } from './schemas.ts';

export function priceRoutes(prices: PriceReader): Route[] {
  return [
    route({
      method: 'GET',
      path: '/cheeses/:cheeseId/prices',
      operationId: 'listCheesePrices',
      tag: 'Cheeses',
      summary: 'List the prices of a cheese, the newest first',
      description:
        'The current price and those before it, with the lowest price of the last 30 days. `reduction` is what a shop in the European Union shows beside a reduced price.',
      access: anyOf(apiKey, oauth('read:cheeses')),
      permitsConfined: true,
      publishable: 'catalogue',
      query: {
        cursor: {
          type: 'string',
          minLength: 1,
          maxLength: 400,
          description: 'nextCursor of an earlier page',
        },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Prices of a page' },
      },
      responses: {
        200: { description: 'A page of prices', schema: CheesePriceList },
        ...badRequestResponse('A parameter is not valid'),
        ...noCheese,
      },
      handle: async ({ params, query }) => {
        const id = cheeseId(params);
        const page = await prices.list(id, query);
        const next = nextPageHeader(`/v2/cheeses/${id}/prices`, page.nextCursor, query.limit);
        return { status: 200, headers: { 'Cache-Control': 'private, no-cache', ...next }, body: { ...page } };
      },
    }),
  ];
}
