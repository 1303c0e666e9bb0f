/**
 * The HTTP server without a single business word: framework settings, what stands on every answer, and the answers
 * to requests that reach no route.
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Addresses, createAddresses } from './addresses.ts';
import { errorBody, toAppError } from './error-body.ts';
import { type MountDependencies, mount } from './mount.ts';
import { fullPath, type Route } from './route.ts';
import { requestIdOf } from './trace.ts';

/** The size of a JSON body. */
const bodyBytesMax = 1024 * 1024;
/** Longer path segments belong to no resource of ours. */
const parameterLengthMax = 4096;

const exposedHeaders =
  'ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Deprecation, Idempotency-Replayed';

export interface ServerDependencies extends MountDependencies {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
}

/** A server with the given routes mounted: those under /v2 relative to it, operational ones as they are. */
export function createServer(routes: readonly Route[], dependencies: ServerDependencies): FastifyInstance {
  const { config, clock, log } = dependencies;
  const addresses = createAddresses(routes.flatMap(addressesOf));
  const app = Fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    genReqId: (request) => requestIdOf(request.headers['x-request-id'], clock),
    requestTimeout: 60_000,
    keepAliveTimeout: 75_000,
    connectionTimeout: 0,
    return503OnClosing: false,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: parameterLengthMax,
      querystringParser: (text) => new URLSearchParams(text) as unknown as Record<string, unknown>,
    },
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply);
      sendError(error, request, reply);
    },
    clientErrorHandler: (error, socket) => answerUnparsed(error, socket, clock.uuid()),
  });

  function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
    reply.header('X-Request-Id', request.id);
    reply.header('X-Environment', config.environment);
    const { origin } = request.headers;
    if (origin !== undefined) {
      allowOrigin(origin, reply);
    }
  }

  function allowOrigin(origin: string, reply: FastifyReply): void {
    const isAnyAllowed = config.corsOrigins.includes('*');
    if (!isAnyAllowed) {
      reply.header('Vary', 'Origin');
    }
    if (isAnyAllowed || config.corsOrigins.includes(origin)) {
      reply.header('Access-Control-Allow-Origin', isAnyAllowed ? '*' : origin);
      reply.header('Access-Control-Expose-Headers', exposedHeaders);
    }
  }

  function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = toAppError(thrown);
    if (error.status >= 500) {
      log.error(
        { requestId: request.id, route: request.routeOptions?.url, err: error.cause ?? error },
        error.message,
      );
    }
    const { mediaType, text } = errorBody(error, request.headers.accept, request.url.split('?', 1)[0] ?? '');
    reply
      .code(error.status)
      .headers(error.headers)
      .header('Cache-Control', 'no-store')
      .header('Content-Type', mediaType)
      .send(text);
  }

  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply);
    done();
  });
  if (log.isLevelEnabled('debug')) {
    app.addHook('onResponse', async (request, reply) => {
      const { id: requestId, method, routeOptions } = request;
      const durationMs = Math.round(reply.elapsedTime * 100) / 100;
      log.debug(
        { requestId, method, route: routeOptions.url, status: reply.statusCode, durationMs },
        'answered',
      );
    });
  }
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  app.setNotFoundHandler((request) => {
    throw notHere(request, addresses);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  // Validation is shape.ts and serialisation is JSON.stringify; the schemas of a route are for its description.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));

  for (const route of routes) {
    mount(app, route, dependencies);
  }
  for (const { method, path } of addresses.shadowed()) {
    app.route({ method, url: path, handler: (request) => Promise.reject(notHere(request, addresses)) });
  }
  app.options('*', (request, reply) => answerOptions(request, reply, addresses));
  return app;
}

function addressesOf(route: Route): { method: string; path: string }[] {
  const path = fullPath(route);
  const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
  return methods.map((method) => ({ method, path }));
}

function notHere(request: FastifyRequest, addresses: Addresses): AppError {
  const methods = addresses.methodsOf(request.url.split('?', 1)[0] ?? '');
  if (methods.length === 0) {
    return new AppError('notFound', 'There is nothing at this address. The page /docs lists every endpoint.');
  }
  const allow = methods.join(', ');
  return new AppError('methodNotAllowed', `This address takes ${allow}.`, { headers: { Allow: allow } });
}

/** OPTIONS, and with it the preflight of browsers: no credentials, no quota (RFC 9110 9.3.7, Fetch 4.8). */
function answerOptions(request: FastifyRequest, reply: FastifyReply, addresses: Addresses): FastifyReply {
  const methods = addresses.methodsOf(request.url.split('?', 1)[0] ?? '');
  if (methods.length === 0) {
    throw notHere(request, addresses);
  }
  const wanted = request.headers['access-control-request-headers'];
  if (request.headers['access-control-request-method'] !== undefined) {
    reply.header('Access-Control-Allow-Methods', methods.join(', '));
    reply.header('Access-Control-Allow-Headers', wanted ?? '*');
    reply.header('Access-Control-Max-Age', '7200');
  }
  return reply.code(204).header('Allow', methods.join(', ')).send();
}

/** What Node could not parse as HTTP never becomes a request; it is answered on the bare connection. */
function answerUnparsed(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, text, mediaType } = unparsed(error);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${mediaType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

function unparsed(error: Error & { code?: string }): { status: number; text: string; mediaType: string } {
  const appError =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new AppError('headerFieldsTooLarge')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new AppError('requestTimeout')
        : new AppError('badRequest', 'This is not a valid HTTP request.');
  return { status: appError.status, ...errorBody(appError, undefined, '') };
}
