/** Turns a route, which is data, into what happens when a request comes: the one chain that all requests share. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Context, Origin } from '../database/context.ts';
import type { Transaction } from '../database/database.ts';
import { after, type Eventual } from '../eventual.ts';
import { addressOf } from './address.ts';
import { bytesOf, failOn, readBody, requireMediaType } from './body.ts';
import { acceptsGzip, compressed } from './compression.ts';
import { deprecationHeaders } from './deprecation.ts';
import { isCurrent } from './etag.ts';
import { type Idempotency, parseIdempotencyKey, type StoredAnswer } from './idempotency.ts';
import { readHeaders, readQuery } from './parameters.ts';
import type { Principal } from './principal.ts';
import { withUnreadBodies } from './raw.ts';
import { type Access, type Answer, Bytes, fullPath, type ReceivedUpload, type Route, Text } from './route.ts';
import { traceIdOf } from './trace.ts';
import type { Uploads } from './uploads.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** Who is calling, and whether the route's access is met; throws 401 and 403. */
export type Guard = (request: FastifyRequest, access: Access) => Eventual<Principal | null>;

export interface MountDependencies {
  readonly guard: Guard;
  readonly transaction: Transaction;
  readonly idempotency: Idempotency;
  readonly uploads: Uploads;
  readonly clock: Clock;
  readonly reportDeprecated: (operationId: string, principal: string) => void;
}

/**
 * Registers a route. The order of refusals is that of the chain: credentials (401, 403), media type and size
 * (415, 413), parameters (400), body (422), and then whatever the handler finds.
 */
export function mount(app: FastifyInstance, route: Route, dependencies: MountDependencies): void {
  if (route.upload === undefined) {
    mountOn(app, route, dependencies);
  } else {
    withUnreadBodies(app, (scope) => mountOn(scope, route, dependencies));
  }
}

function mountOn(app: FastifyInstance, route: Route, dependencies: MountDependencies): void {
  const { guard, reportDeprecated, uploads } = dependencies;
  app.route({
    method: route.method,
    url: fullPath(route),
    exposeHeadRoute: route.method === 'GET' && !route.isUnsafe,
    config: { route },
    onRequest: (request, _reply, done) => {
      const admitted = after(headRead(request), () =>
        after(guard(request, route.access), (principal) => {
          request.principal = principal;
          requireMediaType(route, request);
        }),
      );
      if (route.upload !== undefined && admitted instanceof Promise) {
        admitted.catch(() => uploads.refuse(request.raw));
      }
      // Fastify goes on when the promise is kept or, without one, when it is told.
      return admitted instanceof Promise ? admitted : done();
    },
    handler: (request, reply) => {
      if (route.deprecated !== undefined) {
        reportDeprecated(route.operationId, request.principal?.id ?? 'anonymous');
      }
      const content =
        route.upload === undefined
          ? handle(route, request, dependencies, { bytes: () => bytesOf(request), receive: noForm })
          : handleUpload(route, route.upload, request, dependencies);
      return after(content, (answer) => send(answer, route, request, reply));
    },
  });
}

/** Where a body is to come, the parser is not through: it may still refuse how the body is sent. */
function headRead({ headers }: FastifyRequest): Eventual<void> {
  const isBare = headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
  return isBare ? undefined : Promise.resolve();
}

/** What a request carries: what tells it from another under the same idempotency key, and its form. */
interface Content {
  readonly bytes: () => Uint8Array;
  readonly receive: () => Promise<ReceivedUpload<Record<string, unknown>>>;
}

const noForm = () => Promise.reject(new Error('the route declares no form'));

function handleUpload(
  route: Route,
  upload: NonNullable<Route['upload']>,
  request: FastifyRequest,
  dependencies: MountDependencies,
): Promise<Answer> {
  return dependencies.uploads.during(request.raw, upload, async (receive) => {
    let description = '';
    const content: Content = {
      bytes: () => Buffer.from(description),
      receive: async () => {
        const { file, fields } = await receive();
        description = JSON.stringify([file?.digest, file?.mediaType, [...fields]]);
        return {
          file,
          fields: () => {
            const reading = readQuery(upload.fields, fields, isStrictly(request));
            failOn(reading.errors, 'validation');
            return reading.values;
          },
        };
      },
    };
    return handle(route, request, dependencies, content);
  });
}

/** Unknown members and parameters are faults only where the client says so (RFC 7240). */
function isStrictly({ headers }: FastifyRequest): boolean {
  return /(^|[\s,;])handling\s*=\s*"?strict\b/i.test(String(headers.prefer ?? ''));
}

function handle(
  route: Route,
  request: FastifyRequest,
  dependencies: MountDependencies,
  content: Content,
): Eventual<Answer> {
  const isStrict = isStrictly(request);
  const query = readQuery(route.query ?? {}, request.query as URLSearchParams, isStrict);
  failOn(query.errors, route.queryFailsAs ?? 'badRequest');
  failOn(readHeaders(route.headers ?? {}, request.headers).errors, 'badRequest');
  const idempotencyKey = route.method === 'POST' ? idempotencyKeyOf(request) : undefined;
  const context = {
    transaction: dependencies.transaction,
    origin: new RequestOrigin(request, dependencies.clock),
  };
  const body = route.body === undefined ? undefined : readBody(route, request, isStrict);
  return after(body, (body) =>
    route.handle({
      params: request.params as Record<string, string>,
      query: query.values,
      body,
      headers: request.headers,
      principal: request.principal,
      get address() {
        return addressOf(request.ip);
      },
      context,
      receive: content.receive,
      once: (verb, render) => runOnce(verb, render, idempotencyKey, context, request, content, dependencies),
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
  render: (result: T) => Answer,
  key: string | undefined,
  context: Context,
  request: FastifyRequest,
  content: Content,
  { idempotency }: MountDependencies,
): Promise<Answer> {
  if (key === undefined) {
    return render(await verb(context));
  }
  const attempt = {
    scope: request.principal === null ? addressOf(request.ip) : scopeOf(request.principal),
    method: request.method,
    url: request.url,
    key,
    body: content.bytes(),
  };
  const { answer, isReplay } = await idempotency.once(
    attempt,
    (transaction) => verb({ ...context, transaction }),
    (result) => storable(render(result)),
  );
  const headers = isReplay ? { ...answer.headers, 'Idempotency-Replayed': 'true' } : answer.headers;
  return { status: answer.status, headers, body: new Text(answer.text) };
}

/** A key that acts for several customers keeps their idempotency keys apart. */
function scopeOf({ id, customerId }: Principal): string {
  return customerId === null ? id : `${id} customer:${customerId}`;
}

function storable({ status, headers = {}, body }: Answer): StoredAnswer {
  return { status, headers, text: body instanceof Text ? body.text : JSON.stringify(body) };
}

function send(
  answer: Answer,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Eventual<FastifyReply> {
  const { status, headers = {}, body } = answer;
  reply.headers(headers);
  if (route.deprecated !== undefined) {
    const { Link, ...rest } = deprecationHeaders(route.deprecated);
    reply.headers(rest).header('Link', headers.Link === undefined ? Link : `${headers.Link}, ${Link}`);
  }
  const tag = headers.ETag;
  if (tag !== undefined) {
    if (headers['Cache-Control'] === undefined) {
      reply.header('Cache-Control', 'private, no-cache').header('Vary', varyOf(reply));
    }
    if (
      (request.method === 'GET' || request.method === 'HEAD') &&
      isCurrent(request.headers['if-none-match'], tag)
    ) {
      return reply.code(304).send();
    }
  }
  reply.code(status);
  if (body === undefined) {
    return reply.send();
  }
  if (body instanceof Bytes) {
    // For nothing at all, Fastify would replace the length.
    const bytes = request.method === 'HEAD' ? Readable.from([]) : body.open();
    return after(bytes, (stream) => reply.send(stream));
  }
  reply.header('Content-Type', route.mediaType ?? 'application/json; charset=utf-8');
  const text = textOf(body);
  return route.isLong && acceptsGzip(request.headers['accept-encoding'])
    ? sendCompressed(text, reply)
    : reply.send(text);
}

async function sendCompressed(text: string | Readable, reply: FastifyReply): Promise<FastifyReply> {
  const smaller = await compressed(text);
  return smaller === null ? reply.send(text) : reply.header('Content-Encoding', 'gzip').send(smaller);
}

function textOf(body: Exclude<Answer['body'], Bytes | undefined>): string | Readable {
  if (body instanceof Text) {
    return body.text;
  }
  return body instanceof Readable ? body : JSON.stringify(body);
}

/** Answers differ by encoding and by problem details; an allow-list of origins has put its own name there before. */
function varyOf(reply: FastifyReply): string {
  const before = reply.getHeader('Vary');
  return before === undefined ? 'Accept-Encoding, Accept' : `${before}, Accept-Encoding, Accept`;
}
