/** Answers that are a whole array of matches: in one piece where a page holds them, streamed page by page beyond. */
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { matchesIfNoneMatch, weakTag } from '../http/etag.ts';
import { nextLink } from '../http/link.ts';
import { type RouteResponse, TextBody, TextStream } from '../http/response.ts';
import type { Filters } from './list-query.ts';
import type { CheeseListing, CheesePage, Unchanged } from './listing.ts';

const streamedPageSize = 500;
/** Of a part that is read at once: the memory that a long response takes is a few times that. */
const streamedBytes = 256 * 1024;

/** All matches in the order of their ids, or `limit` of them with a link to the next. */
export async function arrayResponse(
  listing: CheeseListing,
  path: string,
  filters: Filters,
  { limit, cursor }: { readonly limit?: number; readonly cursor?: string },
  headers: IncomingHttpHeaders,
): Promise<RouteResponse> {
  // Ids are handed out in the order of creation.
  const read = (after: string | undefined, isKnown?: (version: number) => boolean) =>
    listing.list(
      { ...filters, sort: 'createdAt', cursor: after, limit: limit ?? streamedPageSize },
      { withTotal: false, isKnown, bytesMax: limit === undefined ? streamedBytes : undefined },
    );
  const first = await read(cursor, ifNoneMatch(headers));
  if ('unchanged' in first) {
    return notModified(first);
  }
  const ETag = weakTag(first.version);
  if (first.nextCursor === null) {
    return { status: 200, headers: { ETag }, body: new TextBody(`[${first.items}]`) };
  }
  if (limit !== undefined) {
    const Link = nextLink(path, { ...required(filters), cursor: first.nextCursor, limit: String(limit) });
    return { status: 200, headers: { ETag, Link }, body: new TextBody(`[${first.items}]`) };
  }
  return { status: 200, headers: { ETag }, body: new TextStream(() => arrayText(first, read)) };
}

/** status and tags are required on these addresses, so they stand beside the cursor. */
function required({ statuses, tags = [] }: Filters): Record<string, string> {
  return statuses === undefined ? { tags: tags.join(',') } : { status: statuses.join(',') };
}

/** Does the client have the list as it is at a version of the catalogue? Undefined where it says nothing. */
export function ifNoneMatch(headers: IncomingHttpHeaders): ((version: number) => boolean) | undefined {
  const header = headers['if-none-match'];
  return header === undefined ? undefined : (version) => matchesIfNoneMatch(header, weakTag(version));
}

/** Becomes 304, as the client's If-None-Match has the tag. */
export function notModified({ version }: Unchanged): RouteResponse {
  return { status: 200, headers: { ETag: weakTag(version) } };
}

async function* arrayText(
  first: CheesePage,
  read: (cursor: string) => Promise<CheesePage | Unchanged>,
): AsyncGenerator<string> {
  yield `[${first.items}`;
  for (let cursor = first.nextCursor; cursor !== null; ) {
    // On SQLite a page is there without waiting: without this, no other request would be handled before the last page.
    await setImmediate();
    const page = (await read(cursor)) as CheesePage;
    if (page.items !== '') {
      yield `,${page.items}`;
    }
    cursor = page.nextCursor;
  }
  yield ']';
}
