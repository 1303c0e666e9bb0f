/** Turns a route, which is data, into what happens when a request comes: the one chain that all requests share. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Context, Origin } from '../database/context.ts';
import type { Transaction } from '../database/database.ts';
import { AppError, type FieldError, invalid } from '../errors.ts';
import { after, type Eventual } from '../eventual.ts';
import { addressOf } from './address.ts';
import { acceptsGzip, compressed } from './compression.ts';
import { deprecationHeaders } from './deprecation.ts';
import { isCurrent } from './etag.ts';
import { type Idempotency, parseIdempotencyKey, type StoredAnswer } from './idempotency.ts';
import { parseJson } from './json-body.ts';
import { readHeaders, readQuery } from './parameters.ts';
import type { Principal } from './principal.ts';
import { type Access, type Answer, fullPath, type Route, Text } from './route.ts';
import { shape } from './shape.ts';
import { traceIdOf } from './trace.ts';

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
  readonly clock: Clock;
  readonly reportDeprecated: (operationId: string, principal: string) => void;
}

const jsonTypes = 'application/json, application/*+json';
const formTypes = 'application/x-www-form-urlencoded, multipart/form-data';

/**
 * Registers a route. The order of refusals is that of the chain: credentials (401, 403), media type and size
 * (415, 413), parameters (400), body (422), and then whatever the handler finds.
 */
export function mount(app: FastifyInstance, route: Route, dependencies: MountDependencies): void {
  const { guard, reportDeprecated } = dependencies;
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
      // Fastify goes on when the promise is kept or, without one, when it is told.
      return admitted instanceof Promise ? admitted : done();
    },
    handler: (request, reply) => {
      if (route.deprecated !== undefined) {
        reportDeprecated(route.operationId, request.principal?.id ?? 'anonymous');
      }
      return after(handle(route, request, dependencies), (answer) => send(answer, route, request, reply));
    },
  });
}

/** Where a body is to come, the parser is not through: it may still refuse how the body is sent. */
function headRead({ headers }: FastifyRequest): Eventual<void> {
  const isBare = headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
  return isBare ? undefined : Promise.resolve();
}

function handle(route: Route, request: FastifyRequest, dependencies: MountDependencies): Eventual<Answer> {
  const isStrict = /(^|[\s,;])handling\s*=\s*"?strict\b/i.test(String(request.headers.prefer ?? ''));
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
      once: (verb, render) => runOnce(verb, render, idempotencyKey, context, request, dependencies),
    }),
  );
}

function failOn(errors: readonly FieldError[], as: 'badRequest' | 'validation'): void {
  if (errors.length > 0) {
    throw as === 'validation'
      ? invalid(errors)
      : new AppError('badRequest', errors.map(({ field, message }) => `${field}: ${message}`).join('; '));
  }
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

function requireMediaType(route: Route, request: FastifyRequest): void {
  const { 'content-type': contentType, 'content-encoding': encoding } = request.headers;
  if (route.body === undefined) {
    return;
  }
  const isJson = contentType === undefined || /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType);
  if (!isJson && !(route.takesForms && isForm(contentType))) {
    const accept = route.takesForms ? `${jsonTypes}, ${formTypes}` : jsonTypes;
    throw new AppError('unsupportedMediaType', `Send the body as one of ${accept}.`, {
      headers: { Accept: accept },
    });
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const headers = { 'Accept-Encoding': 'identity' };
    throw new AppError('unsupportedMediaType', 'Send the body without Content-Encoding.', { headers });
  }
}

function isForm(contentType: string): boolean {
  return /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i.test(contentType);
}

async function readBody(route: Route, request: FastifyRequest, isStrict: boolean): Promise<unknown> {
  const bytes = bytesOf(request);
  if (route.bodyIsOptional && bytes.length === 0) {
    return {};
  }
  const contentType = request.headers['content-type'] ?? 'application/json';
  const given = isForm(contentType) ? await parseForm(bytes, contentType) : parseJson(bytes);
  const { value, errors } = shape(route.body ?? {}, given, isStrict);
  failOn(errors, 'validation');
  return value;
}

function bytesOf(request: FastifyRequest): Uint8Array {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

async function parseForm(bytes: Uint8Array, contentType: string): Promise<unknown> {
  try {
    const form = await new Response(Buffer.from(bytes), {
      headers: { 'Content-Type': contentType },
    }).formData();
    const twice = [...form.keys()].filter((name) => new Set(form.getAll(name)).size > 1);
    failOn(
      [...new Set(twice)].map((field) => ({ field, message: 'is given twice, with different values' })),
      'validation',
    );
    return Object.fromEntries(form);
  } catch (error) {
    if (error instanceof AppError) {
      throw error;
    }
    const message = 'the body is not the form that its Content-Type says';
    throw new AppError('validation', message, { cause: error, errors: [{ field: '', message }] });
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
    body: bytesOf(request),
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
    reply.header('Cache-Control', 'private, no-cache').header('Vary', varyOf(reply));
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

function textOf(body: NonNullable<Answer['body']>): string | Readable {
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
