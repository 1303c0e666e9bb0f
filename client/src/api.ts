/** Typed requests: the paths, parameters and bodies of `schema.ts`, and its errors. */
import { createError, type ErrorType, type FieldError } from './errors.ts';
import type { Http, OutgoingRequest, Reply } from './http.ts';
import { attachMetadata } from './metadata.ts';
import type { CallOptions, Outcome, WriteOptions } from './options.ts';
import { type ItemOf, List, type Position } from './pages.ts';
import { retryAfterSeconds } from './retries.ts';
import type { paths } from './schema.ts';
import type { BodyOption, PathOf, QueryOf, ResultOf } from './types.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Path<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends Path<M>> = paths[P][M];
/** What a request needs: the parameters in its path and query, and its body. */
export type Input<M extends Method, P extends Path<M>> = PathOf<Operation<M, P>> &
  BodyOption<Operation<M, P>> & { query?: QueryOf<Operation<M, P>> | undefined };

/** The body of a successful response. */
export type Output<M extends Method, P extends Path<M>> = ResultOf<Operation<M, P>>;

interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: object | undefined;
  readonly body?: unknown;
}

/** The largest page, so that a loop needs few requests. */
const pageMax = 100;

export class Api {
  readonly http: Http;

  constructor(http: Http) {
    this.http = http;
  }

  get<P extends Path<'get'>>(path: P, input: Input<'get', P>, options?: CallOptions) {
    return this.#call<Output<'get', P>>('GET', path, input, options);
  }

  post<P extends Path<'post'>, Options extends WriteOptions>(
    path: P,
    input: Input<'post', P>,
    options?: Options,
  ) {
    return this.#call<Outcome<Options, Output<'post', P>>>('POST', path, input, options);
  }

  put<P extends Path<'put'>, Options extends WriteOptions>(
    path: P,
    input: Input<'put', P>,
    options?: Options,
  ) {
    return this.#call<Outcome<Options, Output<'put', P>>>('PUT', path, input, options);
  }

  patch<P extends Path<'patch'>, Options extends WriteOptions>(
    path: P,
    input: Input<'patch', P>,
    options?: Options,
  ) {
    return this.#call<Outcome<Options, Output<'patch', P>>>('PATCH', path, input, options);
  }

  delete<P extends Path<'delete'>, Options extends WriteOptions>(
    path: P,
    input: Input<'delete', P>,
    options?: Options,
  ) {
    return this.#call<Outcome<Options, Output<'delete', P>>>('DELETE', path, input, options);
  }

  /** A list with pages: one page when awaited, all items in a loop. */
  list<P extends Path<'get'>>(path: P, input: Input<'get', P>, options?: CallOptions) {
    return this.#list<Output<'get', P>>(path, input, options, pageMax);
  }

  /** A list in one response, which knows no limit. */
  listAll<P extends Path<'get'>>(path: P, input: Input<'get', P>, options?: CallOptions) {
    return this.#list<Output<'get', P>>(path, input, options);
  }

  /** The request of an operation, without credentials. */
  requestOf(method: string, path: string, input: AnyInput): OutgoingRequest {
    const url = `${this.http.baseUrl}${fillPath(path, input.path ?? {})}${queryOf(input.query)}`;
    return input.body === undefined
      ? { method, url }
      : { method, url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(input.body) };
  }

  #list<Body>(path: string, input: AnyInput, options: CallOptions = {}, loopLimit?: number) {
    const fetchPage = async (position: Position) => {
      const request = this.requestOf('GET', path, { ...input, query: { ...input.query, ...position } });
      const reply = await this.http.send(request, options, readText);
      const page = {
        ...parseBody<Body>(reply, request),
        etag: reply.response.headers.get('ETag') ?? undefined,
      };
      return attachMetadata(page, reply.response, reply.attempts);
    };
    return new List<ItemOf<Body>, Body>(fetchPage, input.query as Position | undefined, loopLimit);
  }

  async #call<T>(method: string, path: string, input: AnyInput, options: WriteOptions = {}): Promise<T> {
    const request = this.requestOf(method, path, input);
    return parseBody<T>(await this.http.send(request, options, readText), request);
  }
}

export const readText = (response: Response) => response.text();

/** The parameters that have a value. Arrays are joined by commas, as the API declares them. */
function queryOf(query: object = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const texts = pairs.map(([name, value]) => `${name}=${[value].flat().map(encodeURIComponent).join()}`);
  return texts.length === 0 ? '' : `?${texts.join('&')}`;
}

/** An id that is empty or a dot would lead to another path. */
function fillPath(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || /^\.{0,2}$/.test(String(value))) {
      throw new TypeError(`${name} is "${value}", which is not valid in the path ${path}.`);
    }
    return encodeURIComponent(String(value));
  });
}

/** The body of a response. @throws CurdError for every status but 2xx */
export function parseBody<T>(reply: Reply<string>, request: OutgoingRequest): T {
  const { response, value, attempts } = reply;
  if (attempts > 1 && response.status === doneStatusOf(request)) {
    return undefined as T;
  }
  const body = parseJson(value);
  if (!response.ok || body === notJson) {
    throw errorOfReply(reply, request, body);
  }
  return attachMetadata(body as T, response, attempts);
}

/** The status that says, in the response to a repetition, that an earlier attempt succeeded without its response. */
function doneStatusOf({ method, url }: OutgoingRequest): number | undefined {
  if (url.endsWith('/v2/customer/logout')) {
    return 401;
  }
  return method === 'DELETE' ? 404 : undefined;
}

const notJson = Symbol('not JSON');

function parseJson(text: string): unknown {
  if (text === '') {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return notJson;
  }
}

interface ErrorBody {
  readonly type?: ErrorType;
  readonly message?: string;
  readonly errors?: readonly FieldError[];
}

function errorOfReply(
  { response, value, attempts, idempotencyKey }: Reply<string>,
  { method, url }: OutgoingRequest,
  body: unknown,
) {
  const { status, headers } = response;
  const path = new URL(url).pathname;
  const { type, message, errors = [] } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
  let text =
    message ?? `${method} ${path}: the response with status ${status} is not JSON: ${value.slice(0, 200)}`;
  if (status === 0 || (status >= 300 && status < 400)) {
    text = `The server redirects to ${headers.get('Location') ?? 'another URL'}. Use that host in baseUrl.`;
  }
  if (message?.startsWith('There is nothing at this path') || status === 405) {
    text += ' The server may be older than this client.';
  }
  return createError(text, {
    status,
    type: type ?? 'internal_error',
    requestId: headers.get('X-Request-Id') ?? undefined,
    retryAfterSeconds: retryAfterSeconds(headers),
    attempts,
    idempotencyKey,
    method,
    path,
    errors,
  });
}
