/** Runs a route on plain data: the steps of the pipeline that know neither a connection nor a framework. */
import type { IncomingHttpHeaders } from 'node:http';
import { findActingCustomer, type Principal, toIdempotencyScope } from '../../access/principal.ts';
import type { Context, Origin } from '../../database/context.ts';
import type { Transaction } from '../../database/database.ts';
import { AppError, badRequestError, type FieldError } from '../../errors.ts';
import type { ReceivedFile } from '../../files/received-file.ts';
import type { RateLimitStatus } from '../../limits/usage-counter.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import type { IdempotencyStore } from '../../stored-responses/store.ts';
import { type BodyInput, rawBody, readBody } from '../bodies/body.ts';
import type { ReceivedForm } from '../bodies/multipart.ts';
import { type RouteResponse, TextBody } from '../responses/response.ts';
import {
  fullPath,
  type InnerRequest,
  type OpenConnection,
  type ReceivedUpload,
  type Route,
  type RouteRequest,
  type ToolUse,
} from '../route.ts';
import { parseIdempotencyKey } from './idempotency-key.ts';
import { takesKeyInUrl } from './key-in-url.ts';
import { readHeaders, readQuery, throwIfInvalid, unchangeableErrors } from './parameters.ts';

/** A step of the pipeline, or of the execution of a route. */
export interface Step<T> {
  readonly name: string;
  /** Decided once, when a route is registered. A step without it belongs to every route. */
  readonly appliesTo?: (route: Route) => boolean;
  /** A server in production does not have it. */
  readonly isForTests?: true;
  /** Throws to refuse the request. */
  readonly run: (subject: T) => MaybePromise<void>;
}

type Run<T> = Step<T>['run'];

/** The functions of the steps that a route has. */
export function selectSteps<T>(steps: readonly Step<T>[], route: Route): readonly Run<T>[] {
  return steps.filter(({ appliesTo }) => appliesTo?.(route) ?? true).map(({ run }) => run);
}

/** Runs one step after the other, and waits only for a step that returns a promise. */
export function runSteps<T>(steps: readonly Run<T>[], subject: T, start = 0): MaybePromise<void> {
  for (let index = start; index < steps.length; index += 1) {
    const pending = (steps[index] as Run<T>)(subject);
    if (pending instanceof Promise) {
      return index + 1 === steps.length ? pending : pending.then(() => runSteps(steps, subject, index + 1));
    }
  }
}

/** What a route is run on. */
export interface RouteInput extends BodyInput {
  /** Path and query, as an idempotency key is bound to them. */
  readonly url: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly principal: Principal | null;
  readonly origin: Origin;
  readonly transaction: Transaction;
  readonly idempotency: IdempotencyStore;
  /** A function, because most routes do not need it. */
  readonly clientIp: () => string;
  readonly visitorIp: () => string | null;
  /** null if the request has no valid credential. */
  readonly rateLimitStatus: () => RateLimitStatus | null;
  /** Counts the request as several if it is counted by client IP. @throws AppError rateLimited */
  readonly countAs: (requests: number) => MaybePromise<void>;
  readonly openConnection: () => OpenConnection;
  /** What another route is run with. @throws AppError forbidden */
  readonly inner: (
    route: Route,
    isDryRun: boolean,
  ) => Pick<RouteInput, 'principal' | 'origin' | 'transaction'>;
  readonly noteTool: (tool: ToolUse) => void;
  /** Receives the form of an upload; null for other routes. @throws AppError unsupportedMediaType, payloadTooLarge, validation */
  readonly receive: (() => Promise<ReceivedForm>) | null;
}

class Execution {
  readonly route: Route;
  readonly input: RouteInput;
  /** Unknown members and parameters are errors only if the client asks for that (RFC 7240). */
  readonly isStrict: boolean;
  query: Record<string, unknown> = {};
  body: unknown = undefined;
  idempotencyKey: string | undefined = undefined;
  /** Once the handler has received it. */
  form: ReceivedForm | null = null;
  response: RouteResponse | null = null;

  constructor(route: Route, input: RouteInput) {
    this.route = route;
    this.input = input;
    const { prefer } = input.headers;
    this.isStrict = prefer !== undefined && /(^|[\s,;])handling\s*=\s*"?strict\b/i.test(String(prefer));
  }
}

/** Sorted as they can refuse a request. */
export const executionSteps: readonly Step<Execution>[] = [
  { name: 'readParameters', run: readParameters },
  {
    name: 'readHeaders',
    appliesTo: ({ headers }) => headers !== undefined,
    run: ({ route, input }) =>
      throwIfInvalid(readHeaders(route.headers ?? {}, input.headers).errors, 'badRequest'),
  },
  { name: 'readIdempotencyKey', appliesTo: ({ method }) => method === 'POST', run: readIdempotencyKey },
  {
    name: 'readBody',
    appliesTo: ({ body }) => body !== undefined,
    run: (execution) =>
      chain(bodyOf(execution), (body) => {
        execution.body = body;
      }),
  },
  {
    name: 'handle',
    run: (execution) =>
      chain(execution.route.handle(requestOf(execution)), (response) => {
        execution.response = response;
      }),
  },
];

/** Returns the function that runs a route on an input; the steps of the route are chosen once. */
export function createExecutor(route: Route): (input: RouteInput) => MaybePromise<RouteResponse> {
  const steps = selectSteps(executionSteps, route);
  return (input) => {
    const execution = new Execution(route, input);
    return chain(runSteps(steps, execution), () => execution.response as RouteResponse);
  };
}

/** Runs a route once. */
export const execute = (route: Route, input: RouteInput): MaybePromise<RouteResponse> =>
  createExecutor(route)(input);

function readParameters(execution: Execution): void {
  const { route, input, isStrict } = execution;
  const known = isStrict && takesKeyInUrl(route) ? 'key' : undefined;
  const { values, errors } = readQuery(route.query ?? {}, input.query, isStrict, known);
  const all = unchangeableErrors(route, input.params, errors, (name) => input.query.has(name));
  throwIfInvalid(all, route.queryFailsAs ?? 'badRequest');
  execution.query = values;
}

function bodyOf(execution: Execution): MaybePromise<unknown> {
  try {
    return readBody(execution);
  } catch (error) {
    const isInvalid = error instanceof AppError && error.code === 'validation';
    throw isInvalid && execution.route.bodyFailsAs === 'badRequest' ? badRequestError(error.errors) : error;
  }
}

function readIdempotencyKey(execution: Execution): void {
  const header = execution.input.headers['idempotency-key'];
  if (header !== undefined) {
    execution.idempotencyKey = parseIdempotencyKey(String(header));
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the values were checked against the schemas that gave the types.
function requestOf(execution: Execution): RouteRequest<any, any, any, any> {
  const { route, input, query, body } = execution;
  const { params, headers, principal, rateLimitStatus, clientIp, visitorIp, countAs } = input;
  const { transaction, origin, openConnection, noteTool } = input;
  const context = { transaction, origin };
  return {
    params,
    query,
    body,
    headers,
    principal,
    rateLimitStatus,
    openConnection,
    clientIp,
    visitorIp,
    countAs,
    context,
    noteTool,
    authorizeFor: (other) => {
      input.inner(other, false);
    },
    runRoute: (other, request) => runInner(input, other, request),
    receive: route.upload === undefined ? refuseForm : () => receiveUpload(execution),
    withIdempotency: (verb, respond) => runWithIdempotency(execution, context, verb, respond),
  };
}

/** An idempotency key is bound to the URL that the request would have over HTTP. */
async function runInner(input: RouteInput, route: Route, request: InnerRequest): Promise<RouteResponse> {
  const { params = {}, query = new URLSearchParams(), headers = {}, body, isDryRun = false } = request;
  const path = fullPath(route).replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  return execute(route, {
    ...input,
    ...input.inner(route, isDryRun),
    url: query.size === 0 ? path : `${path}?${query}`,
    params,
    query,
    headers,
    body: { value: body },
    receive: null,
  });
}

const refuseForm = () => Promise.reject(new Error('There is no form to receive.'));

async function receiveUpload(execution: Execution): Promise<ReceivedUpload<Record<string, unknown>>> {
  const { input, route } = execution;
  if (input.receive === null || route.upload === undefined) {
    return refuseForm();
  }
  const { fileField, fields: declared, refusesOthers = false } = route.upload;
  const form = await input.receive();
  execution.form = form;
  const { file, fields, misplaced } = form;
  return {
    file,
    validated: () => {
      const { values, errors } = readQuery(declared, fields, execution.isStrict || refusesOthers);
      throwIfInvalid([...fileErrors(fileField, file, misplaced), ...errors], 'validation');
      return { file: file as ReceivedFile, fields: values };
    },
  };
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

async function runWithIdempotency<T>(
  execution: Execution,
  context: Context,
  verb: (context: Context) => Promise<T>,
  respond: (result: T) => RouteResponse,
): Promise<RouteResponse> {
  const { route, input, idempotencyKey: key } = execution;
  // A dry run neither reads nor stores a response.
  if (key === undefined || context.origin.effects !== null) {
    return respond(await verb(context));
  }
  const { storesPlainResponse: plain = false } = route;
  const isPlain =
    (plain === true || (plain !== false && plain(execution.query))) &&
    input.principal !== null &&
    findActingCustomer(input.principal) === null;
  const attempt = {
    scope: input.principal === null ? input.clientIp() : toIdempotencyScope(input.principal, input.clientIp),
    method: route.method,
    url: input.url,
    key,
    requestId: input.origin.requestId ?? '',
    body: await contentOf(execution),
    replay: route.replay ?? 'inTransaction',
    isEncrypted: !isPlain,
  } as const;
  const { response: stored, isReplay } = await input.idempotency.run(
    attempt,
    (transaction) => verb({ ...context, transaction }),
    (result) => storable(respond(result)),
  );
  const headers = isReplay ? { ...stored.headers, 'Idempotency-Replayed': 'true' } : stored.headers;
  const { status, text } = stored;
  return text === '' ? { status, headers } : { status, headers, body: new TextBody(text) };
}

/** The bytes that must be the same when an idempotency key is used again. */
async function contentOf({ route, input, form }: Execution): Promise<Uint8Array> {
  if (route.upload === undefined) {
    return rawBody(input.body);
  }
  if (form === null) {
    return Buffer.alloc(0);
  }
  const { file, fields } = form;
  return Buffer.from(JSON.stringify([await file?.digest(), file?.mediaType, [...fields]]));
}

function storable({ status, headers = {}, body }: RouteResponse) {
  return {
    status,
    headers,
    text: body instanceof TextBody ? body.text : body === undefined ? '' : JSON.stringify(body),
  };
}
