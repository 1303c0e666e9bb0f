/** Headers, errors and records, which are the same for the responses of all routes and of none. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { AppError, forMethod, isFailure, parameterError } from '../errors.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { Log } from '../log.ts';
import type { Config } from '../settings/config.ts';
import type { Site } from './area.ts';
import { clientNetwork } from './client-ip.ts';
import { type CorsRoute, createCors } from './cors.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { RecentFailures } from './metrics/recent-failures.ts';
import { createErrorLog, createRequestLog, type RequestRecorder } from './metrics/request-log.ts';
import { dryRunEcho } from './pipeline/dry-run.ts';
import { repeatedHeader } from './repeated-headers.ts';
import { toAppError } from './responses/error-body.ts';
import { toErrorStatus } from './responses/error-mapping.ts';
import { createErrorSender } from './responses/send-error.ts';
import { setClockHeader } from './responses/send-response.ts';
import type { RouteTable } from './route-table.ts';

interface Dependencies {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly site: () => Site;
  readonly metrics: Metrics;
  readonly failures: RecentFailures;
  readonly requestLog: RequestRecorder;
  readonly rateLimits: Pick<RateLimits, 'countClientIp'>;
}

export class CommonResponses {
  readonly #dependencies: Dependencies;
  readonly #routeTable: RouteTable;
  readonly #fixedHeaders: Record<string, string>;
  readonly #setCorsHeaders: ReturnType<typeof createCors>;
  readonly #writeError: ReturnType<typeof createErrorSender>;
  readonly #logResponse: ReturnType<typeof createRequestLog> | null;
  readonly logError: ReturnType<typeof createErrorLog>;

  constructor(dependencies: Dependencies, routes: readonly CorsRoute[], routeTable: RouteTable) {
    const { config, site, clock, log, failures, requestLog } = dependencies;
    const logOptions = { log, clock, withClientIp: config.logClientIp };
    this.#dependencies = dependencies;
    this.#routeTable = routeTable;
    this.#fixedHeaders = createFixedHeaders(config);
    this.#setCorsHeaders = createCors({ origins: config.corsOrigins, routes });
    this.#writeError = createErrorSender(config, site, clock);
    this.#logResponse = log.isLevelEnabled('debug') ? createRequestLog(logOptions) : null;
    this.logError = createErrorLog(logOptions, failures, (error, request) =>
      requestLog.describe(request, toErrorStatus(error), performance.now() - request.startedAt, error),
    );
  }

  /** Begins each request, before its body is read. */
  begin(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    request.startedAt = performance.now();
    this.setHeaders(request, reply);
    if (reply.raw.socket === null && !request.raw.destroyed) {
      // This request waits behind another one of its connection, which has no complete response yet. One response at a
      // time bounds what a client costs that sends many requests and reads nothing.
      reply.raw.once('socket', () => done(this.#refusalOfHead(request)));
    } else {
      done(this.#refusalOfHead(request));
    }
  }

  setHeaders(request: FastifyRequest, reply: FastifyReply): void {
    reply.header('x-request-id', request.id).headers(this.#fixedHeaders);
    this.#setCorsHeaders(request, reply);
    setClockHeader(reply, this.#dependencies.clock);
    if (request.headers['dry-run'] !== undefined) {
      reply.headers(dryRunEcho(request.headers));
    }
  }

  /** Called wherever a response is sent: an onResponse hook of Fastify would take 9 us of the 40 us of a request. */
  readonly recordResponse = (
    request: FastifyRequest,
    status: number,
    error: AppError | null = null,
  ): void => {
    const milliseconds = performance.now() - request.startedAt;
    this.#dependencies.metrics.record(request, status, milliseconds);
    this.#logResponse?.(request, status, milliseconds);
    this.#dependencies.requestLog.record(request, status, milliseconds, error);
  };

  readonly reportFailure = (error: unknown, request: FastifyRequest): void =>
    this.logError(toAppError(error), request);

  sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = forMethod(toAppError(thrown, request.routeOptions?.bodyLimit), request.method);
    const status = toErrorStatus(error);
    if (isFailure(error.code) && error !== request.exchange?.simulation?.error) {
      this.logError(error, request);
    }
    this.#writeError(error, request, reply);
    this.recordResponse(request, status, error);
  }

  /** Checked before the body is read: 404 and 405 come before errors of the body. */
  #refusalOfHead(request: FastifyRequest): AppError | undefined {
    return request.is404 ? this.#refusalOfPath(request) : headerError(request);
  }

  /** Requests to unknown paths are counted, because their responses cost something too. */
  #refusalOfPath(request: FastifyRequest): AppError {
    try {
      this.#dependencies.rateLimits.countClientIp(clientNetwork(request.ip), 'public');
    } catch (error) {
      return error as AppError;
    }
    return noRoute(request, this.#routeTable);
  }
}

/** Headers that are equal in every response. */
export function createFixedHeaders({ environment, publicUrl }: Config): Record<string, string> {
  return {
    'x-environment': environment,
    'x-content-type-options': 'nosniff',
    ...(publicUrl?.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}

export function noRoute(request: FastifyRequest, routeTable: RouteTable): AppError {
  const methods = routeTable.methodsOf(request.url.split('?', 1)[0] ?? '');
  if (methods.length === 0) {
    return new AppError('notFound', 'There is nothing at this path. The page /docs lists every endpoint.');
  }
  return new AppError('methodNotAllowed', `This path supports ${methods.join(', ')}.`, {
    details: { allows: methods },
  });
}

/** HTTP/1.1 requires one Host header (RFC 9112, section 3.2). Some other headers must not be repeated. */
function headerError({ headers, raw }: FastifyRequest): AppError | undefined {
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    return parameterError('Host', 'the header is required.');
  }
  const repeated = repeatedHeader(raw.rawHeaders);
  return repeated === undefined
    ? undefined
    : parameterError(repeated, 'the header is repeated. Send it once.');
}
