/** The list of catalogue changes over HTTP. */
import { waitParameter } from '../../events/list-schemas.ts';
import type { LiveConnections } from '../../events/live-connections.ts';
import { badRequestResponse, goneResponse } from '../../http/responses/error-responses.ts';
import { weakTag } from '../../http/responses/etag.ts';
import { nextLink } from '../../http/responses/link.ts';
import { TextBody } from '../../http/responses/response.ts';
import { type Route, route } from '../../http/route.ts';
import { ifNoneMatch, notModified } from '../listing/array-response.ts';
import { readsCatalogue } from '../routes.ts';
import { CheeseChangeList } from '../schemas.ts';
import type { CatalogueChanges } from './catalogue-changes.ts';

export function catalogueChangeRoutes(changes: CatalogueChanges, connections: LiveConnections): Route[] {
  return [
    route({
      method: 'GET',
      path: '/cheeses/changes',
      operationId: 'listCheeseChanges',
      ...readsCatalogue,
      summary: 'List cheeses by their last change',
      description:
        'Each cheese once, in its newest state, in the order of the last changes; a deleted cheese has no `cheese`. Begin without `since` to copy the catalogue, and send `next` as `since` to follow it. A cheese that changes while you read comes again at the end. With `wait`, a request without changes waits for one.',
      query: {
        since: { type: 'string', minLength: 1, maxLength: 400, description: '`next` of an earlier page' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 100, description: 'Cheeses of a page' },
        wait: waitParameter,
      },
      responses: {
        200: { description: 'A page of changes', schema: CheeseChangeList },
        ...badRequestResponse('A parameter is not valid'),
        ...goneResponse('Start without `since`, and delete the cheeses that do not come'),
      },
      handle: async (request) => {
        const {
          query: { since, limit, wait },
          headers,
        } = request;
        const read = (signal?: AbortSignal) =>
          changes.waitForChanges({
            since,
            limit,
            waitMs: wait * 1000,
            isKnown: ifNoneMatch(headers),
            signal,
          });
        const page = wait > 0 ? await connections.longPoll(request, read) : await read();
        if ('unchanged' in page) {
          return notModified(page);
        }
        const { items, next, hasMore, version } = page;
        const link = hasMore
          ? { Link: nextLink('/v2/cheeses/changes', { since: next, limit: String(limit) }) }
          : {};
        return {
          status: 200,
          headers: { ETag: weakTag(version), ...link },
          body: new TextBody(`{"items":[${items}],"next":"${next}","hasMore":${hasMore}}`),
        };
      },
    }),
  ];
}
