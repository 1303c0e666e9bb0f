/** Answers that are a whole array of matches: in one piece where a page holds them, streamed page by page beyond. */
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { isCurrent, weakTag } from '../http/etag.ts';
import { type Answer, Text } from '../http/route.ts';
import type { CheeseListing, CheesePage, Filters } from './listing.ts';
import type { CheeseService } from './service.ts';

const streamedPageSize = 500;

interface Dependencies {
  readonly listing: CheeseListing;
  readonly cheeses: CheeseService;
}

/** All matches in the order of their ids, or `limit` of them with a link to the next. */
export async function answerArray(
  { listing, cheeses }: Dependencies,
  path: string,
  filters: Filters,
  { limit, cursor }: { readonly limit?: number; readonly cursor?: string },
  headers: IncomingHttpHeaders,
): Promise<Answer> {
  const known = await unchanged(cheeses, headers);
  if (known !== null) {
    return known;
  }
  // Ids are handed out in the order of creation.
  const read = (after: string | undefined) =>
    listing.list(
      { ...filters, sort: 'createdAt', cursor: after, limit: limit ?? streamedPageSize },
      { withTotal: false },
    );
  const first = await read(cursor);
  const ETag = weakTag(first.version);
  if (first.nextCursor === null) {
    return { status: 200, headers: { ETag }, body: new Text(`[${first.items}]`) };
  }
  if (limit !== undefined) {
    const Link = nextLink(path, { ...required(filters), cursor: first.nextCursor, limit: String(limit) });
    return { status: 200, headers: { ETag, Link }, body: new Text(`[${first.items}]`) };
  }
  return { status: 200, headers: { ETag }, body: Readable.from(arrayText(first, read)) };
}

/** status and tags are required on these addresses, so they stand beside the cursor. */
function required({ statuses, tags = [] }: Filters): Record<string, string> {
  return statuses === undefined ? { tags: tags.join(',') } : { status: statuses.join(',') };
}

/** The Link header to the next page (RFC 8288). */
export function nextLink(path: string, query: Readonly<Record<string, string>>): string {
  return `<${path}?${new URLSearchParams(query)}>; rel="next"`;
}

/** The answer to a client whose copy is of the catalogue as it stands: it becomes 304 without reading a list. */
export async function unchanged(
  cheeses: CheeseService,
  headers: IncomingHttpHeaders,
): Promise<Answer | null> {
  if (headers['if-none-match'] === undefined) {
    return null;
  }
  const ETag = weakTag(await cheeses.version());
  return isCurrent(headers['if-none-match'], ETag) ? { status: 200, headers: { ETag } } : null;
}

async function* arrayText(
  first: CheesePage,
  read: (cursor: string) => Promise<CheesePage>,
): AsyncGenerator<string> {
  yield `[${first.items}`;
  for (let cursor = first.nextCursor; cursor !== null; ) {
    const page = await read(cursor);
    yield page.items === '' ? '' : `,${page.items}`;
    cursor = page.nextCursor;
  }
  yield ']';
}
