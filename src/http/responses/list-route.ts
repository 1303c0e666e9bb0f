/** A route that lists something in pages, each with a link to the next one. */
import type { Access } from '../../access/access.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { limitParameter } from '../../schema/parts.ts';
import type { Parameters as QueryParameters } from '../../schema/schema.ts';
import { type Route, type RouteDefinition, route } from '../route.ts';
import { badRequestResponse } from './error-responses.ts';
import { nextPageHeader } from './link.ts';
import { type DocumentedResponses, TextBody } from './response.ts';

type ListQuery = QueryParameters & { readonly limit: ReturnType<typeof limitParameter> };
type Nothing = Record<never, never>;
type Definition<Q extends ListQuery, A extends Access> = RouteDefinition<Q, Nothing, Nothing, A>;

interface Listed {
  /** A string is JSON of the items, separated by commas, without the brackets of an array. */
  readonly items: readonly unknown[] | string;
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

interface ListDefinition<Q extends ListQuery, A extends Access>
  extends Omit<Definition<Q, A>, 'method' | 'responses' | 'handle'> {
  readonly query: Q;
  readonly page: DocumentedResponses[200];
  /** Besides 200 and 400. */
  readonly errors?: DocumentedResponses;
  /** A client may keep a page and ask whether it is current. Without this, pages are not stored. */
  readonly cacheControl?: 'private, no-cache';
  readonly list: (...request: Parameters<Definition<Q, A>['handle']>) => MaybePromise<Listed>;
}

export function listRoute<const Q extends ListQuery, const A extends Access>(
  definition: ListDefinition<Q, A>,
): Route {
  const { page, errors, cacheControl = 'no-store', list, ...rest } = definition;
  return route({
    ...rest,
    method: 'GET',
    responses: { 200: page, ...badRequestResponse('A parameter is not valid'), ...errors },
    handle: async (request) => {
      const listed = await list(request);
      const { items, ...end } = listed;
      const path = rest.path.replaceAll(/:(\w+)/g, (_, name) =>
        encodeURIComponent(request.params[name] ?? ''),
      );
      const { limit } = request.query as unknown as { readonly limit: number };
      return {
        status: 200,
        headers: { 'Cache-Control': cacheControl, ...nextPageHeader(`/v2${path}`, end.nextCursor, limit) },
        body:
          typeof items === 'string'
            ? new TextBody(`{"items":[${items}],${JSON.stringify(end).slice(1)}`)
            : { ...listed },
      };
    },
  });
}
