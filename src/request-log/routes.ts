/** The request log over HTTP. */
import { anyOf, apiKey, oauth, session } from '../access/access.ts';
import { notFoundResponse } from '../http/responses/error-responses.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { uncached } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import { parseFilters } from './filters.ts';
import { LoggedRequestList, LoggedRequestsWithId, requestListQuery } from './schemas.ts';
import type { RequestService } from './service.ts';

const tag = 'Requests';
// OAuth tokens need the scope admin: a customer who has one must not see what the account did for others.
const access = anyOf(apiKey, session, oauth('admin'));
const visible =
  'An API key sees what the keys and applications of its account did, a session what its customer did with sessions, and the scope `admin` everything, requests without a valid credential included.';
const kept =
  'Kept for 24 hours are changes, responses from 400 on, requests slower than 500 ms, and requests that sent a valid `X-Request-Id`: at most 20 a second of a caller, and the newest 10,000 of an account.';

export function requestLogRoutes(requests: RequestService): Route[] {
  return [
    listRoute({
      path: '/requests',
      operationId: 'listRequests',
      tag,
      summary: 'List requests that were sent to this server',
      description: `The newest first. ${kept} ${visible} They are listed a second after their response, and requests to the request log are not kept.`,
      access,
      query: requestListQuery,
      page: { description: 'A page of requests', schema: LoggedRequestList },
      list: ({ query: { cursor, limit, ...given }, principal }) =>
        requests.list(principal, { ...parseFilters(given), cursor, limit }),
    }),
    route({
      method: 'GET',
      path: '/requests/:requestId',
      operationId: 'getRequest',
      examples: { requestId: 'probe-1' },
      tag,
      summary: 'Find out what happened to a request',
      description: `The requests with this \`X-Request-Id\`, the newest first: at most 20, because clients choose ids. ${kept} ${visible}`,
      access,
      responses: {
        200: { description: 'The requests, with their events', schema: LoggedRequestsWithId },
        ...notFoundResponse('No request with this id is kept'),
      },
      handle: async ({ params, principal }) =>
        uncached(200, { items: await requests.find(principal, params.requestId ?? '') }),
    }),
  ];
}
