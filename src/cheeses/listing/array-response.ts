/** Responses that are an array of all matches: one text when they fit on a page, otherwise a stream of pages. */
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { matchesIfNoneMatch, weakTag } from '../../http/responses/etag.ts';
import { nextLink } from '../../http/responses/link.ts';
import { type RouteResponse, TextBody, TextStream } from '../../http/responses/response.ts';
import { tagsOfList } from '../cache-tags.ts';
import type { Filters } from '../search-index/matches.ts';
import type { CheeseLists, CheesePage } from './cheese-lists.ts';
import type { Unchanged } from './list-query.ts';

const streamedPageSize = 500;
/** Bytes that one read returns. A long response needs a few times as much memory. */
const streamedBytes = 256 * 1024;

/** All matches sorted by id, or the first `limit` with a link to the next page. */
export async function arrayResponse(
  lists: CheeseLists,
  path: string,
  filters: Filters,
  { limit, cursor }: { readonly limit?: number; readonly cursor?: string },
  headers: IncomingHttpHeaders,
): Promise<RouteResponse> {
  // The sort createdAt is the order of ids, because ids are assigned in the order of creation.
  const read = (after: string | undefined, isKnown?: (version: number) => boolean) =>
    lists.list(
      { ...filters, sort: 'createdAt', cursor: after, limit: limit ?? streamedPageSize },
      { withTotal: false, isKnown, bytesMax: limit === undefined ? streamedBytes : undefined },
    );
  const first = await read(cursor, ifNoneMatch(headers));
  if ('unchanged' in first) {
    return { ...notModified(first), ...(limit === undefined ? {} : { cacheTags: tagsOfList() }) };
  }
  const ETag = weakTag(first.version);
  const cacheTags = tagsOfList(first.ids);
  if (first.nextCursor === null) {
    return { status: 200, headers: { ETag }, cacheTags, body: new TextBody(`[${first.items}]`) };
  }
  if (limit !== undefined) {
    const Link = nextLink(path, {
      ...requiredParameters(filters),
      cursor: first.nextCursor,
      limit: String(limit),
    });
    return { status: 200, headers: { ETag, Link }, cacheTags, body: new TextBody(`[${first.items}]`) };
  }
  // Caches must not keep it: its end may be of a later version than its beginning.
  return { status: 200, headers: { ETag }, body: new TextStream(() => arrayText(first, read)) };
}

/** status and tags are required on these paths, so the link contains them besides the cursor. */
function requiredParameters({ status, tags = [] }: Filters): Record<string, string> {
  return status === undefined ? { tags: tags.join(',') } : { status: status.join(',') };
}

/** Whether the client has the list at a version of the catalogue; undefined without If-None-Match. */
export function ifNoneMatch(headers: IncomingHttpHeaders): ((version: number) => boolean) | undefined {
  const header = headers['if-none-match'];
  return header === undefined ? undefined : (version) => matchesIfNoneMatch(header, weakTag(version));
}

/** The response is sent as 304, because the If-None-Match of the request contains the ETag. */
export function notModified({ version }: Unchanged): RouteResponse {
  return { status: 200, headers: { ETag: weakTag(version) } };
}

async function* arrayText(
  first: CheesePage,
  read: (cursor: string) => Promise<CheesePage | Unchanged>,
): AsyncGenerator<string> {
  yield `[${first.items}`;
  for (let cursor = first.nextCursor; cursor !== null; ) {
    // SQLite returns pages synchronously. Without this pause, no other request would run before the last page.
    await setImmediate();
    const page = (await read(cursor)) as CheesePage;
    if (page.items !== '') {
      yield `,${page.items}`;
    }
    cursor = page.nextCursor;
  }
  yield ']';
}
