/** The HTTP server: settings of the framework, and responses to requests that match no route. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawServerDefault,
} from 'fastify';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Config } from '../settings/config.ts';
import type { Site } from './area.ts';
import { bodyBytesMax, headerBytesMax } from './bodies/size-limits.ts';
import { limitUnreadBody } from './bodies/unread-body.ts';
import { CommonResponses, createFixedHeaders, noRoute } from './common-responses.ts';
import { setPreflightHeaders } from './cors.ts';
import type { PipelineDependencies } from './exchange.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { RecentFailures } from './metrics/recent-failures.ts';
import type { RequestRecorder } from './metrics/request-log.ts';
import { STATUS_CODES } from './node-http.ts';
import { dryRunEcho } from './pipeline/dry-run.ts';
import { registerRoute } from './pipeline/pipeline.ts';
import { type RawRoute, registerRawRoutes } from './raw-routes.ts';
import { errorBody } from './responses/error-body.ts';
import { toErrorStatus } from './responses/error-mapping.ts';
import { fullPath, type Route } from './route.ts';
import { createRouteTable, type RouteTable } from './route-table.ts';
import { createRequestIds } from './trace.ts';

/** The length of the longest request line, so that a path segment that is too long for an id is 404. */
const parameterLengthMax = 16_384;

const noQuery = new URLSearchParams();

export interface ServerDependencies extends Omit<PipelineDependencies, 'recordResponse' | 'reportFailure'> {
  readonly config: Config;
  readonly site: () => Site;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly failures: RecentFailures;
  readonly requestLog: RequestRecorder;
  /** Routes that write their own responses. */
  readonly rawRoutes: readonly RawRoute[];
}

/** Creates a server with the given routes. It does not listen. */
export function createServer(routes: readonly Route[], dependencies: ServerDependencies): FastifyInstance {
  const { config, clock, rawRoutes } = dependencies;
  const requestId = createRequestIds(clock);
  const allRoutes = [...routes.flatMap(registrationsOf), ...rawRoutes];
  const routeTable = createRouteTable(allRoutes);
  const common = new CommonResponses(dependencies, allRoutes, routeTable);
  const app = Fastify(optionsOf(config, common, requestId));

  app.server.headersTimeout = config.headersTimeoutMs;
  app.server.maxConnections = config.connectionsMax;
  app.decorate('isClosing', false);
  app.addHook('preClose', async () => {
    app.isClosing = true;
  });
  app.decorateRequest('exchange', null);
  app.decorateRequest('startedAt', 0);

  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.on('timeout', closeUnlessWorking);
    common.begin(request, reply, done);
  });
  app.server.on('request', limitUnreadBody);
  app.server.on('checkExpectation', (request, response) => {
    respondToExpectation(request, response, config, requestId(request.headers['x-request-id']));
  });
  app.setErrorHandler((error, request, reply) => common.sendError(error, request, reply));
  app.setNotFoundHandler((request) => {
    throw noRoute(request, routeTable);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  const { recordResponse, reportFailure, logError } = common;
  for (const route of routes) {
    registerRoute(app, route, { ...dependencies, recordResponse, reportFailure });
  }
  registerRawRoutes(app, rawRoutes, dependencies, recordResponse, logError);
  for (const { method, path } of routeTable.shadowed()) {
    app.route({
      method,
      url: path,
      exposeHeadRoute: false,
      onRequest: (request, _reply, done) => done(noRoute(request, routeTable)),
      handler: () => undefined,
    });
  }
  app.options('*', (request, reply) => respondToOptions(request, reply, routeTable));
  return app;
}

function optionsOf(
  config: Config,
  common: CommonResponses,
  requestId: ReturnType<typeof createRequestIds>,
): FastifyHttpOptions<RawServerDefault> {
  const longestMs = Math.max(config.requestTimeoutMs, config.uploadTimeoutMs);
  return {
    logger: false,
    bodyLimit: bodyBytesMax,
    genReqId: (request) => requestId(request.headers['x-request-id']),
    // Uploads may take the longest; the pipeline ends other bodies sooner.
    requestTimeout: longestMs,
    keepAliveTimeout: config.idleTimeoutMs,
    // Later than the request timeout, so that a slow client gets its 408 before the connection is closed.
    connectionTimeout: longestMs + 5000,
    trustProxy: config.trustedProxies.length > 0 && [...config.trustedProxies],
    return503OnClosing: false,
    // Bodies are validated by schema/validate.ts and serialized by JSON.stringify. Without these functions, the framework
    // loads its own compilers: 116 files that take a tenth of the start.
    schemaController: {
      compilersFactory: {
        buildValidator: (() => () => () => true) as never,
        buildSerializer: () => () => JSON.stringify,
      },
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: parameterLengthMax,
      querystringParser: (text) =>
        (text === '' ? noQuery : new URLSearchParams(text)) as unknown as Record<string, unknown>,
    },
    frameworkErrors: (error, request, reply) => {
      request.startedAt = performance.now();
      common.setHeaders(request, reply);
      common.sendError(error, request, reply);
    },
    clientErrorHandler: (error, socket) => respondToUnparsed(error, socket, config, requestId()),
    // headerError checks the Host header, because the response of Node has no body.
    http: { requireHostHeader: false, maxHeaderSize: headerBytesMax, connectionsCheckingInterval: 1000 },
  };
}

/**
 * Closes a connection without traffic, except while its client waits for the response to a whole request: an import can
 * take many minutes.
 */
function closeUnlessWorking(this: ServerResponse, socket: Socket): void {
  if (!this.req.complete || this.headersSent) {
    socket.destroy();
  }
}

function registrationsOf(route: Route) {
  const path = fullPath(route);
  const methods = route.method === 'GET' && !route.mutatesOnGet ? ['GET', 'HEAD'] : [route.method];
  return methods.map((method) => ({ method, path, cors: route.cors ?? ('public' as const) }));
}

/** OPTIONS and preflights need no credential and are not counted (RFC 9110, section 9.3.7; Fetch, section 4.8). */
function respondToOptions(
  request: FastifyRequest,
  reply: FastifyReply,
  routeTable: RouteTable,
): FastifyReply {
  const methods = routeTable.methodsOf(request.url.split('?', 1)[0] ?? '');
  if (methods.length === 0) {
    throw noRoute(request, routeTable);
  }
  setPreflightHeaders(request, reply, methods);
  return reply.code(204).header('Allow', methods.join(', ')).send();
}

/** Node does not pass a request to the framework when its Expect header is not 100-continue. */
function respondToExpectation(
  request: IncomingMessage,
  response: ServerResponse,
  config: Config,
  requestId: string,
): void {
  const { mediaType, text } = errorBody(
    new AppError('expectationFailed'),
    request.headers.accept,
    request.url ?? '',
  );
  response.writeHead(417, {
    'Content-Type': mediaType,
    'Content-Length': Buffer.byteLength(text),
    'X-Request-Id': requestId,
    ...createFixedHeaders(config),
    ...dryRunEcho(request.headers),
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  response.end(text);
}

/** Node has no request for bytes that it cannot parse as HTTP, so the response is written to the socket. */
function respondToUnparsed(
  error: Error & { code?: string },
  socket: Socket,
  config: Config,
  requestId: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, text, mediaType } = parseErrorResponse(error);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${mediaType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(createFixedHeaders(config)).map(([name, value]) => `${name}: ${value}`),
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
  // A client that does not close its side would keep its place among the open connections.
  setTimeout(() => socket.destroy(), closeTimeoutMs).unref();
}

/** Time for a client to read the response before the connection is closed. */
const closeTimeoutMs = 2000;

function parseErrorResponse(error: Error & { code?: string }): {
  status: number;
  text: string;
  mediaType: string;
} {
  const appError =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new AppError('headerFieldsTooLarge')
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new AppError('requestTimeout')
        : new AppError('badRequest', 'This is not a valid HTTP request.');
  return { status: toErrorStatus(appError), ...errorBody(appError, undefined, '') };
}
