/** Routes that list categories and tags. */

import { badRequestResponse } from '../../http/responses/error-responses.ts';
import { weakTag } from '../../http/responses/etag.ts';
import { nextPageHeader } from '../../http/responses/link.ts';
import { type Route, route } from '../../http/route.ts';
import { cursorParameter, limitParameter } from '../../schema/parts.ts';
import type { Parameters } from '../../schema/schema.ts';
import { searchRule } from '../../schema/text-rules.ts';
import { tagsOfList } from '../cache-tags.ts';
import { statuses } from '../fields.ts';
import { readsCatalogue } from '../routes.ts';
import { ifNoneMatch, notModified } from './array-response.ts';
import type { NamedKind, NameLists } from './name-lists.ts';
import { CountedNameList } from './navigation-schemas.ts';

const query = {
  cursor: cursorParameter(4000),
  limit: limitParameter('Names per page'),
  q: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    rule: searchRule,
    description: 'The beginning of the name. Accents and case are ignored',
  },
  status: {
    type: 'array',
    items: { type: 'string', enum: statuses },
    description: 'Count only cheeses in these statuses',
  },
  empty: { type: 'boolean', description: 'Also list names without such cheeses' },
} as const satisfies Parameters;

export function navigationRoutes(names: NameLists): Route[] {
  const listRoute = (kind: NamedKind, path: `/${string}`, operationId: string, plural: string): Route =>
    route({
      method: 'GET',
      path,
      operationId,
      ...readsCatalogue,
      summary: `List ${plural}`,
      description: `Sorted by name without case and accents. ${plural[0]?.toUpperCase()}${plural.slice(1)} without cheeses are left out, unless \`empty\` is true.`,
      query,
      responses: {
        200: { description: `A page of ${plural}`, schema: CountedNameList },
        ...badRequestResponse('A parameter is not valid'),
      },
      handle: async ({ query: request, headers }) => {
        const page = await names.list(kind, request, ifNoneMatch(headers));
        if ('unchanged' in page) {
          return { ...notModified(page), cacheTags: tagsOfList() };
        }
        const { items, nextCursor, total, version } = page;
        return {
          status: 200,
          headers: { ETag: weakTag(version), ...nextPageHeader(`/v2${path}`, nextCursor, request.limit) },
          cacheTags: tagsOfList(),
          body: { items, nextCursor, hasMore: nextCursor !== null, total },
        };
      },
    });
  return [
    listRoute('category', '/categories', 'listCategories', 'categories'),
    listRoute('tag', '/tags', 'listTags', 'tags'),
  ];
}
