/** How an answer goes out: conditions, compression, and the headers that go along. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import { Asset } from './asset.ts';
import { acceptsGzip, compress, worthwhileBytes } from './compression.ts';
import { deprecationHeaders } from './deprecation.ts';
import { matchesIfNoneMatch } from './etag.ts';
import { planHeaders } from './rate-limit-headers.ts';
import { FileBody, type RouteResponse, TextBody, TextStream } from './response.ts';
import type { Route } from './route.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The server is about to stop. */
    isClosing: boolean;
  }
}

/** Told of what breaks when a part of the answer has gone out. */
export type ReportFailure = (error: unknown, request: FastifyRequest) => void;

/** Who asks again on this connection would find nobody. */
export function closeIfStopping(reply: FastifyReply): void {
  if (reply.server.isClosing) {
    reply.header('Connection', 'close');
  }
}

/**
 * Sends what a handler has answered.
 * @param failed is told of a stream that breaks when a part of it has gone out: the client sees its connection end
 */
export function sendResponse(
  response: RouteResponse,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  failed: ReportFailure,
): MaybePromise<FastifyReply> {
  const { status, headers = {}, body } = response;
  closeIfStopping(reply);
  reply.headers(headers);
  if (headers['Idempotency-Replayed'] !== undefined) {
    refundRequest(request, reply);
  }
  if (route.deprecated !== undefined) {
    const { Link, ...rest } = deprecationHeaders(route.deprecated);
    reply.headers(rest).header('Link', headers.Link === undefined ? Link : `${headers.Link}, ${Link}`);
  }
  const tag = headers.ETag;
  if (tag !== undefined) {
    if (headers['Cache-Control'] === undefined) {
      reply.header('Cache-Control', 'private, no-cache');
    }
    if (headers['Cache-Control'] === undefined || body instanceof Asset) {
      reply.header('Vary', varyOf(reply));
    }
    if (
      (request.method === 'GET' || request.method === 'HEAD') &&
      matchesIfNoneMatch(request.headers['if-none-match'], tag)
    ) {
      refundRequest(request, reply);
      return reply.code(304).send();
    }
  }
  reply.code(status);
  if (body === undefined) {
    return reply.send();
  }
  if (body instanceof FileBody) {
    // For nothing at all, Fastify would replace the length.
    const bytes = request.method === 'HEAD' ? Readable.from([]) : body.open();
    return chain(bytes, (stream) => {
      watch(stream, request, reply, failed);
      return reply.send(stream);
    });
  }
  reply.header(
    'Content-Type',
    headers['Content-Type'] ?? route.mediaType ?? 'application/json; charset=utf-8',
  );
  if (body instanceof Asset) {
    return sendAsset(body, request, reply);
  }
  const isCompressed = route.compressible && acceptsGzip(request.headers['accept-encoding']);
  if (request.method === 'HEAD' && (isCompressed || body instanceof TextStream)) {
    // The body is not made, so its length is not known.
    return reply.send(Readable.from([]));
  }
  const text = textOf(body);
  if (text instanceof Readable) {
    watch(text, request, reply, failed);
  }
  return isCompressed ? sendCompressed(text, reply) : reply.send(text);
}

/** A client that has gone is no fault of ours. */
function watch(stream: Readable, request: FastifyRequest, reply: FastifyReply, failed: ReportFailure): void {
  stream.once('error', (error) => reply.raw.destroyed || failed(error, request));
}

/** What the client has already costs nothing of its hour. */
function refundRequest({ charge }: FastifyRequest, reply: FastifyReply): void {
  if (charge !== null) {
    charge.refund();
    reply.headers(planHeaders(charge.rateLimitStatus()));
  }
}

async function sendCompressed(text: string | Readable, reply: FastifyReply): Promise<FastifyReply> {
  const smaller = await compress(text);
  return smaller === null ? reply.send(text) : reply.header('Content-Encoding', 'gzip').send(smaller);
}

async function sendAsset(asset: Asset, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const isSmaller = asset.bytes.length >= worthwhileBytes;
  return isSmaller && acceptsGzip(request.headers['accept-encoding'])
    ? reply.header('Content-Encoding', 'gzip').send(await asset.gzipped())
    : reply.send(asset.bytes);
}

function textOf(body: Exclude<RouteResponse['body'], Asset | FileBody | undefined>): string | Readable {
  if (body instanceof TextStream) {
    // Buffered by bytes: as objects, sixteen pieces would wait for a client that does not read.
    return Readable.from(body.open(), { objectMode: false });
  }
  return body instanceof TextBody ? body.text : JSON.stringify(body);
}

/** Answers differ by encoding and by problem details; an allow-list of origins has put its own name there before. */
function varyOf(reply: FastifyReply): string {
  const before = reply.getHeader('Vary');
  return before === undefined ? 'Accept-Encoding, Accept' : `${before}, Accept-Encoding, Accept`;
}
