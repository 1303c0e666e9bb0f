/** Turns a route, which is data, into what happens when a request comes: the one chain that all requests share. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import type { Context, Origin } from '../database/context.ts';
import type { Transaction } from '../database/database.ts';
import { AppError, type FieldError } from '../errors.ts';
import type { ReceivedFile } from '../files/received-file.ts';
import { type IdempotencyStore, parseIdempotencyKey, type StoredResponse } from '../idempotency/store.ts';
import type { Overload } from '../limits/overload.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import { type Admission, createAdmission, type Guard, isBare } from './authenticate.ts';
import { rawBody, readBody, requireMediaType, throwIfInvalid, withUnchangeable } from './body.ts';
import { clientNetwork } from './client-ip.ts';
import { readHeaders, readQuery } from './parameters.ts';
import { withUnreadBodies } from './raw-routes.ts';
import { type RouteResponse, TextBody } from './response.ts';
import { fullPath, type ReceivedUpload, type Route } from './route.ts';
import { type ReportFailure, sendResponse } from './send-response.ts';
import { traceIdOf } from './trace.ts';
import type { Uploads } from './uploads.ts';

export interface PipelineDependencies {
  readonly guard: Guard;
  readonly rateLimits: RateLimits;
  readonly transaction: Transaction;
  readonly idempotency: IdempotencyStore;
  readonly uploads: Uploads;
  readonly overload: Overload;
  /** How long a body may take to arrive. */
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  /** Told of every answer. */
  readonly answered: (request: FastifyRequest, status: number) => void;
  readonly failed: ReportFailure;
  readonly reportDeprecated: (operationId: string, principal: string) => void;
}

/**
 * Registers a route. The order of refusals is that of the chain: credentials (401, 403), media type and size
 * (415, 413), parameters (400), body (422), and then whatever the handler finds.
 */
export function registerRoute(app: FastifyInstance, route: Route, dependencies: PipelineDependencies): void {
  if (route.upload === undefined) {
    registerOn(app, route, dependencies);
  } else {
    withUnreadBodies(app, (scope) => registerOn(scope, route, dependencies));
  }
}

function registerOn(app: FastifyInstance, route: Route, dependencies: PipelineDependencies): void {
  const { guard, rateLimits, reportDeprecated, uploads, overload } = dependencies;
  const isChange = route.method !== 'GET' || route.mutatesOnGet === true;
  const { admit, readmit } = createAdmission(guard, rateLimits);
  app.route({
    method: route.method,
    url: fullPath(route),
    exposeHeadRoute: route.method === 'GET' && !route.mutatesOnGet,
    config: { cors: route.cors ?? 'public' },
    onRequest: (request, reply, done) => {
      if (route.access !== 'operational') {
        overload.check(isChange);
      }
      const admitted = chain(headRead(request), () =>
        chain(admit(route, request, reply), () => {
          requireMediaType(route, request);
          requireConnection(request);
          if (route.upload === undefined) {
            limitTime(request, reply, dependencies.requestTimeoutMs);
          }
        }),
      );
      if (route.upload !== undefined && admitted instanceof Promise) {
        admitted.catch(() => uploads.drain(request.raw));
      }
      // Fastify goes on when the promise is kept or, without one, when it is told.
      return admitted instanceof Promise ? admitted : done();
    },
    handler: (request, reply) => {
      if (route.deprecated !== undefined) {
        reportDeprecated(route.operationId, request.principal?.id ?? 'anonymous');
      }
      const answered =
        route.upload === undefined
          ? chain(readmit(route, request), () =>
              handle(route, request, dependencies, { bytes: () => rawBody(request), receive: noForm }),
            )
          : handleUpload(route, route.upload, request, dependencies, readmit);
      const counted = isChange && answered instanceof Promise ? overload.track(answered) : answered;
      return chain(counted, (response) => {
        const sent = sendResponse(response, route, request, reply, dependencies.failed);
        dependencies.answered(request, reply.statusCode);
        return sent;
      });
    },
  });
}

/**
 * Who reads a body waits for events that a closed connection has emitted already.
 * @throws AppError badRequest, for the log and the metrics
 */
function requireConnection({ raw }: FastifyRequest): void {
  if (raw.destroyed) {
    throw new AppError('badRequest', 'The connection was closed before the body arrived.');
  }
}

/** Node has one time for all requests, which is that of uploads. */
function limitTime({ raw }: FastifyRequest, reply: FastifyReply, requestTimeoutMs: number): void {
  if (isBare(raw.headers)) {
    return;
  }
  const timer = setTimeout(() => {
    // Whoever reads the body is told, and answers.
    if (raw.listenerCount('error') > 0) {
      reply.header('Connection', 'close');
      raw.emit('error', new AppError('requestTimeout'));
    }
  }, requestTimeoutMs).unref();
  const stop = () => clearTimeout(timer);
  raw.once('end', stop);
  reply.raw.once('close', stop);
}

/** Where a body is to come, the parser is not through: it may still refuse how the body is sent. */
function headRead({ headers }: FastifyRequest): MaybePromise<void> {
  return isBare(headers) ? undefined : Promise.resolve();
}

/** What a request carries: what tells it from another under the same idempotency key, and its form. */
interface RequestContent {
  readonly bytes: () => MaybePromise<Uint8Array>;
  readonly receive: () => Promise<ReceivedUpload<Record<string, unknown>>>;
}

const noForm = () => Promise.reject(new Error('the route declares no form'));

function handleUpload(
  route: Route,
  upload: NonNullable<Route['upload']>,
  request: FastifyRequest,
  dependencies: PipelineDependencies,
  readmit: Admission['readmit'],
): Promise<RouteResponse> {
  return dependencies.uploads.withUpload(
    request.raw,
    request.principal?.id ?? '',
    upload,
    async (receive) => {
      let describe = async () => '';
      const content: RequestContent = {
        bytes: async () => Buffer.from(await describe()),
        receive: async () => {
          const { file, fields, misplaced } = await receive();
          await readmit(route, request);
          describe = async () => JSON.stringify([await file?.digest(), file?.mediaType, [...fields]]);
          return {
            file,
            validated: () => {
              const reading = readQuery(upload.fields, fields, isStrictly(request));
              throwIfInvalid(
                [...fileErrors(upload.fileField, file, misplaced), ...reading.errors],
                'validation',
              );
              return { file: file as ReceivedFile, fields: reading.values };
            },
          };
        },
      };
      return handle(route, request, dependencies, content);
    },
  );
}

function fileErrors(
  fileField: string,
  file: ReceivedFile | null,
  misplaced: readonly string[],
): FieldError[] {
  return [
    ...(file === null ? [{ field: fileField, message: 'is required: send the file in this part' }] : []),
    ...misplaced.map((field) => ({ field, message: `contains a file, which must be sent as ${fileField}` })),
  ];
}

/** Unknown members and parameters are faults only where the client says so (RFC 7240). */
function isStrictly({ headers }: FastifyRequest): boolean {
  return /(^|[\s,;])handling\s*=\s*"?strict\b/i.test(String(headers.prefer ?? ''));
}

function handle(
  route: Route,
  request: FastifyRequest,
  dependencies: PipelineDependencies,
  content: RequestContent,
): MaybePromise<RouteResponse> {
  const isStrict = isStrictly(request);
  const search = request.query as URLSearchParams;
  const query = readQuery(route.query ?? {}, search, isStrict);
  const errors = withUnchangeable(route, query.errors, (name) => search.has(name));
  throwIfInvalid(errors, route.queryFailsAs ?? 'badRequest');
  throwIfInvalid(readHeaders(route.headers ?? {}, request.headers).errors, 'badRequest');
  const idempotencyKey = route.method === 'POST' ? idempotencyKeyOf(request) : undefined;
  const context = {
    transaction: dependencies.transaction,
    origin: new RequestOrigin(request, dependencies.clock),
  };
  const body = route.body === undefined ? undefined : readBody(route, request, isStrict);
  return chain(body, (body) =>
    route.handle({
      params: request.params as Record<string, string>,
      query: query.values,
      body,
      // Range is for GET alone (RFC 9110, section 14.2).
      headers: request.method === 'HEAD' ? { ...request.headers, range: undefined } : request.headers,
      principal: request.principal,
      // Functions, and no getters: V8 gives each object with getters of its own a class of its own, which lives long
      // and holds the request. Collecting them took a fifth of all time.
      rateLimitStatus: () => request.charge?.rateLimitStatus() ?? null,
      clientIp: () => clientNetwork(request.ip),
      countAs: (requests) => request.clientIpCount?.countAs(requests),
      context,
      receive: content.receive,
      withIdempotency: (verb, render) =>
        runOnce(verb, render, route, idempotencyKey, context, request, content, dependencies),
    }),
  );
}

/** The trace is looked for only where an event is written. */
class RequestOrigin implements Origin {
  readonly actor: string;
  readonly requestId: string;
  readonly #request: FastifyRequest;
  readonly #clock: Clock;

  constructor(request: FastifyRequest, clock: Clock) {
    this.actor = request.principal?.id ?? 'anonymous';
    this.requestId = request.id;
    this.#request = request;
    this.#clock = clock;
  }

  get traceId(): string {
    return traceIdOf(this.#request.headers.traceparent, this.#clock);
  }
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  return header === undefined ? undefined : parseIdempotencyKey(String(header));
}

async function runOnce<T>(
  verb: (context: Context) => Promise<T>,
  render: (result: T) => RouteResponse,
  { replay = 'inTransaction' }: Route,
  key: string | undefined,
  context: Context,
  request: FastifyRequest,
  content: RequestContent,
  { idempotency }: PipelineDependencies,
): Promise<RouteResponse> {
  if (key === undefined) {
    return render(await verb(context));
  }
  const attempt = {
    scope: request.principal === null ? clientNetwork(request.ip) : scopeOf(request.principal),
    method: request.method,
    url: request.url,
    key,
    body: await content.bytes(),
    replay,
  };
  const { answer: response, isReplay } = await idempotency.run(
    attempt,
    (transaction) => verb({ ...context, transaction }),
    (result) => storable(render(result)),
  );
  const headers = isReplay ? { ...response.headers, 'Idempotency-Replayed': 'true' } : response.headers;
  return { status: response.status, headers, body: new TextBody(response.text) };
}

/** A key that acts for several customers keeps their idempotency keys apart. */
function scopeOf({ id, customerId }: Principal): string {
  return customerId === null ? id : `${id} customer:${customerId}`;
}

function storable({ status, headers = {}, body }: RouteResponse): StoredResponse {
  return { status, headers, text: body instanceof TextBody ? body.text : JSON.stringify(body) };
}
