/** Sends responses: conditional requests, compression and headers. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, timestamp } from '../../clock.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import type { Exchange } from '../exchange.ts';
import { deprecationHeaders } from '../pipeline/deprecation.ts';
import { Asset } from './asset.ts';
import { acceptsGzip, compress, worthwhileBytes } from './compression.ts';
import { matchesIfNoneMatch, withTagPrefix } from './etag.ts';
import { isPublic, setPublicHeaders } from './public-response.ts';
import { planHeaders } from './rate-limit-headers.ts';
import { FileBody, type RouteResponse, TextBody, TextStream } from './response.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The server is stopping. */
    isClosing: boolean;
  }
}

/** The next request on this connection would not be served. */
export function closeIfStopping(reply: FastifyReply): void {
  if (reply.server.isClosing) {
    reply.header('Connection', 'close');
  }
}

/**
 * The header X-Clock says that the clock was moved. Set at the beginning, for every kind of response, and again before it
 * is sent, when the time may be known better.
 */
export function setClockHeader(reply: FastifyReply, clock: Pick<Clock, 'now' | 'advancedMs'>): void {
  if (clock.advancedMs() > 0) {
    reply.header('x-clock', timestamp(clock.now()));
  }
}

/** Sends the response of a handler. If a stream fails after a part was sent, the connection is closed. */
export function sendResponse(exchange: Exchange, response: RouteResponse): MaybePromise<void> {
  const { route, reply, dependencies } = exchange;
  const { status, headers = {}, cacheTags } = response;
  const { edgeCacheMs } = dependencies.config;
  const isForCaches = edgeCacheMs !== null && cacheTags !== undefined && isPublic(exchange);
  closeIfStopping(reply);
  reply.headers(headers);
  if (headers['Idempotency-Replayed'] !== undefined) {
    refundRequest(exchange);
  }
  if (route.deprecated !== undefined) {
    const { Link, ...rest } = deprecationHeaders(route.deprecated);
    reply.headers(rest).header('Link', headers.Link === undefined ? Link : `${headers.Link}, ${Link}`);
  }
  const isNotModified = headers.ETag !== undefined && applyTag(exchange, response, headers.ETag);
  if (isNotModified) {
    refundRequest(exchange);
  }
  if (isForCaches) {
    setVary(reply);
    setPublicHeaders(reply, cacheTags, edgeCacheMs);
  }
  if (isNotModified) {
    reply.code(304).send();
    return;
  }
  reply.code(status);
  return sendBody(exchange, response);
}

/** Sets the headers that belong to an ETag. Returns whether the client has this response already. */
function applyTag(exchange: Exchange, { headers = {}, body }: RouteResponse, tag: string): boolean {
  const { request, reply, tagPrefix } = exchange;
  if (tagPrefix !== '') {
    reply.header('etag', withTagPrefix(tag, tagPrefix));
  }
  if (headers['Cache-Control'] === undefined) {
    reply.header('cache-control', 'private, no-cache');
  }
  if (headers['Cache-Control'] === undefined || body instanceof Asset) {
    setVary(reply);
  }
  return (
    (request.method === 'GET' || request.method === 'HEAD') &&
    matchesIfNoneMatch(request.headers['if-none-match'], tag)
  );
}

function sendBody(exchange: Exchange, { headers = {}, body }: RouteResponse): MaybePromise<void> {
  const { route, request, reply } = exchange;
  if (body === undefined) {
    reply.send();
    return;
  }
  if (body instanceof FileBody) {
    // A stream keeps Fastify from replacing Content-Length.
    const bytes = request.method === 'HEAD' ? Readable.from([]) : body.open();
    return chain(bytes, (stream) => {
      reportErrors(exchange, stream);
      reply.send(stream);
    });
  }
  const mediaType = headers['Content-Type'] ?? route.mediaType ?? 'application/json; charset=utf-8';
  reply.header('content-type', mediaType);
  if (body instanceof Asset) {
    return sendAsset(body, request, reply);
  }
  if (request.method === 'HEAD' && body instanceof TextStream) {
    // The body is not produced, so its length is not known.
    reply.send(Readable.from([]));
    return;
  }
  const text = textOf(body);
  if (text instanceof Readable) {
    reportErrors(exchange, text);
  }
  if (isCompressible(text, headers.ETag, mediaType)) {
    setVary(reply);
    if (acceptsGzip(request.headers['accept-encoding'])) {
      return sendCompressed(text, request, reply);
    }
  }
  reply.send(text);
}

/** A strong ETag promises the same bytes in every response. Events are sent one by one. */
function isCompressible(text: string | Readable, tag: string | undefined, mediaType: string): boolean {
  const isLong =
    typeof text === 'string' ? text.length >= worthwhileBytes : !mediaType.includes('event-stream');
  return isLong && (tag === undefined || tag.startsWith('W/'));
}

/** A stream also fails when the client has closed the connection, which is not reported. */
function reportErrors({ request, reply, dependencies }: Exchange, stream: Readable): void {
  stream.once('error', (error) => reply.raw.destroyed || dependencies.reportFailure(error, request));
}

/** A response that the client has already does not count for the hourly quota. */
function refundRequest({ charge, reply }: Exchange): void {
  if (charge !== null) {
    charge.refund();
    reply.headers(planHeaders(charge.rateLimitStatus()));
  }
}

async function sendCompressed(
  text: string | Readable,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  // The length of the compressed body is not known without it.
  const body = request.method === 'HEAD' ? Readable.from([]) : await compress(text);
  reply.header('Content-Encoding', 'gzip').send(body);
}

async function sendAsset(asset: Asset, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const isWorthwhile = asset.isText && asset.bytes.length >= worthwhileBytes;
  if (isWorthwhile && acceptsGzip(request.headers['accept-encoding'])) {
    reply.header('Content-Encoding', 'gzip').send(await asset.gzipped());
  } else {
    reply.send(asset.bytes);
  }
}

function textOf(body: Exclude<RouteResponse['body'], Asset | FileBody | undefined>): string | Readable {
  if (body instanceof TextStream) {
    // Buffered by bytes: in object mode, sixteen pieces would be kept for a client that does not read.
    return Readable.from(body.open(), { objectMode: false });
  }
  return body instanceof TextBody ? body.text : JSON.stringify(body);
}

/** Responses differ by encoding and by problem details. A list of permitted origins has set `Origin` before. */
function setVary(reply: FastifyReply): void {
  const before = String(reply.getHeader('vary') ?? '');
  if (!before.includes('Accept-Encoding')) {
    reply.header('vary', before === '' ? 'Accept-Encoding, Accept' : `${before}, Accept-Encoding, Accept`);
  }
}
