/** The route that changes many cheeses. */
import { anyOf, oauth } from '../../access/access.ts';
import { conflictResponse, unprocessableResponse } from '../../http/responses/error-responses.ts';
import { type Route, route } from '../../http/route.ts';
import { noCheese } from '../routes.ts';
import type { BulkChanges } from './bulk-changes.ts';
import { BulkInput, BulkResult, bulkCheesesMax } from './schemas.ts';

export function bulkRoutes(bulk: BulkChanges): Route[] {
  return [
    route({
      method: 'POST',
      path: '/cheeses/bulk',
      operationId: 'changeCheeses',
      tag: 'Cheeses',
      summary: 'Change prices, status, category and tags of many cheeses',
      description: `At most ${bulkCheesesMax} cheeses: all are changed, or none, with one version of the catalogue. The response has the old and new values; in a dry run nothing is changed. \`undo\` of the response is the body of a second request that restores the old values.`,
      access: anyOf(oauth('write:cheeses')),
      body: BulkInput,
      storesPlainResponse: true,
      responses: {
        200: { description: 'What is changed', schema: BulkResult },
        ...noCheese,
        ...conflictResponse('A cheese with this name already exists in the category'),
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
