/** The route of quotes. */
import { unprocessableResponse } from '../../http/responses/error-responses.ts';
import { type Route, route } from '../../http/route.ts';
import { Quote, QuoteInput } from './quote-schemas.ts';
import type { Quotes } from './quotes.ts';

export function quoteRoutes(quote: Quotes): Route[] {
  return [
    route({
      method: 'POST',
      path: '/quotes',
      operationId: 'quoteOrder',
      tag: 'Store',
      summary: 'Compute what an order would cost',
      description:
        'The total with delivery, taxes and a discount, before anybody logs in. It takes the body of an order, of which only the lines are required, writes nothing and reserves nothing. What could not be ordered is named in `problems`, with status 200.',
      access: 'any credential',
      permitsConfined: true,
      publishable: 'alone',
      acceptsClientIp: true,
      body: QuoteInput,
      responses: { 200: { description: 'The quote', schema: Quote }, ...unprocessableResponse },
      handle: async ({ body, principal, visitorIp }) => ({
        status: 200,
        headers: { 'Cache-Control': 'no-store' },
        body: await quote(principal, body, visitorIp()),
      }),
    }),
  ];
}
