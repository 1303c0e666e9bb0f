/** Cross-origin requests by scripts in browsers (CORS, Fetch standard): which responses they may read, and preflights. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createRouteTable } from './route-table.ts';

/**
 * Which scripts may read the responses of a route: those of the origins in CURD_CORS_ORIGINS (`public`), only those of this
 * server, or those of all pages, because the responses are the same for everybody and needed before a request.
 */
export type CorsPolicy = 'public' | 'sameOrigin' | 'anyOrigin';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent if the framework matched none of our routes. */
    readonly cors?: CorsPolicy;
  }
}

const exposedHeaders =
  'ETag, Link, Location, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, Deprecation, Idempotency-Replayed, Curd-Ignored, Dry-Run, X-Simulated, X-Clock, WWW-Authenticate';

export interface CorsRoute {
  readonly method: string;
  readonly path: string;
  readonly cors?: CorsPolicy;
}

interface Dependencies {
  /** CURD_CORS_ORIGINS. */
  readonly origins: readonly string[];
  readonly routes: readonly CorsRoute[];
}

/** Returns a function that sets the headers of a response. */
export function createCors({ origins, routes }: Dependencies) {
  const isAnyAllowed = origins.includes('*');
  const sameOriginPaths = createRouteTable(routes.filter(({ cors }) => cors === 'sameOrigin'));

  /** The paths are compared only for requests that match no route, such as OPTIONS and those that get 405. */
  function isSameOrigin({ routeOptions, url }: FastifyRequest): boolean {
    const { cors } = routeOptions.config;
    return cors === undefined
      ? sameOriginPaths.methodsOf(url.split('?', 1)[0] ?? '').length > 0
      : cors === 'sameOrigin';
  }

  return (request: FastifyRequest, reply: FastifyReply): void => {
    if (!isAnyAllowed) {
      reply.header('vary', 'Origin');
    }
    // A request without Origin gets the asterisk too: a cache may return its response to a page later (Fetch,
    // "CORS protocol and HTTP caches").
    const { origin } = request.headers;
    const isForAll = isAnyAllowed || request.routeOptions.config.cors === 'anyOrigin';
    const allowed = isForAll ? '*' : origin;
    if (allowed !== undefined && (isForAll || origins.includes(allowed)) && !isSameOrigin(request)) {
      reply.header('access-control-allow-origin', allowed);
      if (origin !== undefined) {
        exposeHeaders(reply);
      }
    }
  };
}

/**
 * Lets pages read the headers of a response. Requests of programs, without Origin, do not pay for this long header; a
 * cache that returns their responses to pages gets it with setPublicHeaders.
 */
export function exposeHeaders(reply: FastifyReply): void {
  reply.header('access-control-expose-headers', exposedHeaders);
}

/** Lets only pages of these origins read a response, of those that the server permits. */
export function narrowCors(
  { headers: { origin } }: FastifyRequest,
  reply: FastifyReply,
  origins: readonly string[],
): void {
  reply.header('vary', 'Origin');
  if (origin === undefined || !origins.includes(origin)) {
    reply.removeHeader('access-control-allow-origin');
    reply.removeHeader('access-control-expose-headers');
  } else if (reply.hasHeader('access-control-allow-origin')) {
    reply.header('access-control-allow-origin', origin);
  }
}

/** Sets the headers of a response to OPTIONS if the request is a preflight of a browser (Fetch, section 4.8). */
export function setPreflightHeaders(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  methods: readonly string[],
): void {
  if (headers['access-control-request-method'] !== undefined) {
    reply.header('Access-Control-Allow-Methods', methods.join(', '));
    reply.header('Access-Control-Allow-Headers', headers['access-control-request-headers'] ?? '*');
    reply.header('Access-Control-Max-Age', '7200');
  }
}
