/** Looks up what became of a request with an Idempotency-Key. */
import { toIdempotencyScope } from '../access/principal.ts';
import { AppError } from '../errors.ts';
import { parseKeyInPath } from '../http/pipeline/idempotency-key.ts';
import { badRequestResponse, notFoundResponse } from '../http/responses/error-responses.ts';
import { TextBody, uncached } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import { objectOf, timestampSchema } from '../schema/parts.ts';
import type { IdempotencyStore, KnownRequest } from '../stored-responses/store.ts';

const listedMax = 20;

export const IdempotentResponseList = {
  title: 'IdempotentResponseList',
  ...objectOf({
    items: {
      type: 'array',
      description: 'One for each method and path with which the key was used, the newest first; at most 20',
      items: objectOf(
        {
          method: { type: 'string' },
          path: { type: 'string', description: 'Without the query' },
          state: {
            type: 'string',
            enum: ['running', 'done'],
            description: '`running` is known to the instance that runs the request',
          },
          status: { type: ['integer', 'null'], description: 'null while the request runs' },
          headers: { type: 'object', description: 'Stored headers of the response' },
          body: { description: 'Body of the response; null where it has none' },
          requestId: { type: 'string', description: 'X-Request-Id of the request that ran' },
          createdAt: timestampSchema,
          expiresAt: {
            type: ['string', 'null'],
            format: 'date-time',
            description: 'When the response is deleted; null while the request runs',
          },
          sealed: {
            type: 'boolean',
            description: 'The response cannot be read, because CURD_SECRET was changed since',
          },
        },
        ['sealed'],
      ),
    },
  }),
  examples: [
    {
      items: [
        {
          method: 'POST',
          path: '/v2/api-keys/2/rotate',
          state: 'done',
          status: 201,
          headers: { 'Cache-Control': 'no-store' },
          body: { id: 3 },
          requestId: '5b0a3f6e-7c1d-4b7e-9a44-2f2f6b1c9d10',
          createdAt: '2026-02-03T14:12:45.120Z',
          expiresAt: '2026-02-04T14:12:45.120Z',
        },
      ],
    },
  ],
} as const;

export function outcomeRoute(idempotency: IdempotencyStore): Route {
  return route({
    method: 'GET',
    path: '/idempotency/:key',
    operationId: 'getIdempotentResponse',
    examples: { key: 'cart-4711' },
    tag: 'About',
    summary: 'Look up the outcome of a request by its Idempotency-Key',
    description:
      'Send the credentials of that request. 404 means that nothing was done under the key until now: a request may still be on its way, and sending it again with the same key is safe.',
    access: 'any credential',
    permitsConfined: true,
    publishable: 'alone',
    responses: {
      200: { description: 'What was done under the key', schema: IdempotentResponseList },
      ...badRequestResponse('The key is not valid'),
      ...notFoundResponse('Nothing was done under this key'),
    },
    handle: async ({ params, principal, clientIp }) => {
      const key = parseKeyInPath(params.key ?? '');
      const known = await idempotency.list(toIdempotencyScope(principal, clientIp), key, listedMax);
      if (known.length === 0) {
        throw new AppError(
          'notFound',
          'Nothing was done under this Idempotency-Key until now. A request may still be on its way; sending it again with the same key is safe.',
        );
      }
      return uncached(200, new TextBody(`{"items":[${known.map(toItem).join(',')}]}`));
    },
  });
}

/** The stored body is sent byte for byte. */
function toItem({ method, path, requestId, createdAt, expiresAt, response }: KnownRequest): string {
  const state = response === null ? 'running' : 'done';
  const isOpen = response !== null && response !== 'sealed';
  const before = { method, path, state, status: isOpen ? response.status : null };
  const headers = isOpen ? response.headers : {};
  const after = { requestId, createdAt, expiresAt, ...(response === 'sealed' ? { sealed: true } : {}) };
  const body = isOpen && response.text !== '' ? response.text : 'null';
  return `${JSON.stringify({ ...before, headers }).slice(0, -1)},"body":${body},${JSON.stringify(after).slice(1)}`;
}
