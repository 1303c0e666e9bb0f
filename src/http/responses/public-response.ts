/**
 * Responses that a cache in front of the server may keep and send to everybody: reads with a publishable key alone, if
 * CURD_EDGE_CACHE is set. Their tags say which changes make them stale.
 */
import type { FastifyReply } from 'fastify';
import { exposeHeaders } from '../cors.ts';
import type { Exchange } from '../exchange.ts';

/** A response that took longer is not public. The purger relies on it: see edge/purger.ts. */
const publicMs = 1000;
const tagBytesMax = 4096;
const staleSeconds = 600;

/** The tag of every response, for changes of everything, such as a restored backup. */
export const everythingTag = 'shop';

/** What belongs to one request. */
const ownHeaders = [
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-request-id',
  'set-cookie',
];

/**
 * Whether caches that may keep responses may send this one to everybody. With a credential in Authorization they never
 * may (RFC 9111, section 3.5).
 */
export function isPublic({ request, principals, dryRun, simulation }: Exchange): boolean {
  const [principal] = principals;
  return (
    principals.length === 1 &&
    principal?.kind === 'publishable' &&
    request.headers.authorization === undefined &&
    dryRun === null &&
    simulation === null &&
    performance.now() - request.startedAt < publicMs
  );
}

/**
 * Comes after all other headers. A key in the URL makes the URL different; one in a header is named by `Vary`.
 * @param tags of what the response depends on @param edgeCacheMs how long a cache may keep the response
 */
export function setPublicHeaders(reply: FastifyReply, tags: readonly string[], edgeCacheMs: number): void {
  for (const name of ownHeaders) {
    reply.removeHeader(name);
  }
  if (reply.request.headers['x-api-key'] !== undefined) {
    reply.header('vary', `${reply.getHeader('vary')}, X-API-Key`);
  }
  if (reply.hasHeader('access-control-allow-origin')) {
    exposeHeaders(reply);
  }
  const shown = withinBytes([everythingTag, ...tags]);
  reply.headers({
    'cache-control': `public, max-age=0, s-maxage=${Math.floor(edgeCacheMs / 1000)}, stale-while-revalidate=${staleSeconds}`,
    // Caches that separate tags by commas, and those that separate them by spaces.
    'cache-tag': shown.join(','),
    'surrogate-key': shown.join(' '),
  });
}

/** The first tags, which are those of the whole response. */
function withinBytes(tags: readonly string[]): readonly string[] {
  let bytes = 0;
  const end = tags.findIndex((tag) => {
    bytes += tag.length + 1;
    return bytes > tagBytesMax;
  });
  return end === -1 ? tags : tags.slice(0, end);
}
