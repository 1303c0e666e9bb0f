/** The pipeline: the ordered list of steps that every request to a route passes. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { effectsShownTo } from '../../access/confinement.ts';
import type { Principal } from '../../access/principal.ts';
import type { Clock } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import { Effects, rollingBack } from '../../database/dry-run.ts';
import { AppError } from '../../errors.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import { requireMediaType } from '../bodies/body.ts';
import { noteIgnored } from '../bodies/ignored-members.ts';
import { Exchange, type PipelineDependencies } from '../exchange.ts';
import { withUnreadBodies } from '../raw-routes.ts';
import { applyTagPrefix } from '../responses/etag.ts';
import type { RouteResponse } from '../responses/response.ts';
import { sendResponse, setClockHeader } from '../responses/send-response.ts';
import { fullPath, isChange, type Route } from '../route.ts';
import { toTraceId } from '../trace.ts';
import {
  authenticate,
  authorize,
  rateLimit,
  readTestState,
  recheckCredential,
  toClientIp,
  toVisitorIp,
} from './authenticate.ts';
import { dryRunResponse, readDryRun } from './dry-run.ts';
import {
  createExecutor,
  executionSteps,
  type RouteInput,
  runSteps,
  type Step,
  selectSteps,
} from './execute.ts';
import type { GuardedRoute } from './guard.ts';
import { createOpenConnection } from './open-connection.ts';
import { respondToUpload } from './upload-request.ts';

const isLimited = ({ access }: Route) => access !== 'operational';
const isNoUpload = ({ upload }: Route) => upload === undefined;

/** The order of the steps is the order of refusals. The framework reads the body between the first two lists. */
export const pipeline = {
  beforeBody: [
    {
      name: 'refuseOverload',
      appliesTo: isLimited,
      run: ({ dependencies, route }) => dependencies.overload.check(isChange(route)),
    },
    // The parser of Node can still refuse how a body is sent, until the current callback has returned.
    { name: 'waitForParser', run: ({ hasBody }) => (hasBody ? Promise.resolve() : undefined) },
    { name: 'readTestState', isForTests: true, appliesTo: isLimited, run: readTestState },
    { name: 'authenticate', appliesTo: isLimited, run: authenticate },
    { name: 'rateLimit', run: rateLimit },
    {
      name: 'refuseForeignOrigin',
      appliesTo: ({ origins }) => origins !== undefined,
      run: refuseForeignOrigin,
    },
    { name: 'authorize', appliesTo: isLimited, run: authorize },
    { name: 'simulate', isForTests: true, appliesTo: isLimited, run: simulate },
    { name: 'checkDryRun', appliesTo: isLimited, run: checkDryRun },
    { name: 'applyTagPrefix', isForTests: true, appliesTo: isLimited, run: applyTagPrefix },
    {
      name: 'requireMediaType',
      appliesTo: ({ body }) => body !== undefined,
      run: ({ route, request }) => requireMediaType(route, request.headers),
    },
    { name: 'requireOpenConnection', run: requireOpenConnection },
    { name: 'limitBodyTime', appliesTo: isNoUpload, run: limitBodyTime },
  ],
  afterBody: [
    {
      name: 'reportDeprecated',
      appliesTo: ({ deprecated }) => deprecated !== undefined,
      run: ({ route, principal, dependencies }) =>
        dependencies.reportDeprecated(route.operationId, principal?.id ?? 'anonymous'),
    },
    {
      name: 'recheckCredential',
      appliesTo: (route) => isLimited(route) && isNoUpload(route),
      run: recheckCredential,
    },
  ],
  execute: executionSteps,
  send: [{ name: 'send', run: send }],
} as const satisfies {
  beforeBody: readonly Step<Exchange>[];
  afterBody: readonly Step<Exchange>[];
  execute: typeof executionSteps;
  send: readonly Step<Exchange>[];
};

/** Registers a route with the steps that apply to it. */
export function registerRoute(app: FastifyInstance, route: Route, dependencies: PipelineDependencies): void {
  if (route.upload === undefined) {
    registerOn(app, route, dependencies);
  } else {
    withUnreadBodies(app, (scope) => registerOn(scope, route, dependencies));
  }
}

function registerOn(app: FastifyInstance, route: Route, dependencies: PipelineDependencies): void {
  const { uploads, overload, testState } = dependencies;
  const beforeBodySteps: readonly Step<Exchange>[] = pipeline.beforeBody;
  const beforeBody = selectSteps<Exchange>(
    beforeBodySteps.filter(({ isForTests = false }) => testState !== null || !isForTests),
    route,
  );
  const afterBody = selectSteps<Exchange>(pipeline.afterBody, route);
  const sending = selectSteps<Exchange>(pipeline.send, route);
  const respond = responder(route);
  const isTracked = isChange(route);
  app.route({
    method: route.method,
    url: fullPath(route),
    exposeHeadRoute: route.method === 'GET' && !route.mutatesOnGet,
    ...(route.bodyBytesMax === undefined ? {} : { bodyLimit: route.bodyBytesMax }),
    config: { cors: route.cors ?? 'public' },
    onRequest: (request, reply, done) => {
      const exchange = new Exchange(route, request, reply, dependencies);
      request.exchange = exchange;
      const pending = runSteps(beforeBody, exchange);
      if (pending === undefined) {
        return done();
      }
      if (route.upload !== undefined) {
        pending.catch(() => uploads.drain(request.raw));
      }
      return pending;
    },
    handler: (request, reply) => {
      const exchange = request.exchange as Exchange;
      exchange.handlerAt = performance.now();
      const responding = chain(runSteps(afterBody, exchange), () => respond(exchange));
      const tracked = isTracked && responding instanceof Promise ? overload.track(responding) : responding;
      return chain(tracked, (response) => {
        exchange.response = exchange.dryRun === null ? response : dryRunResponse(exchange.dryRun, response);
        return chain(runSteps(sending, exchange), () => reply);
      });
    },
  });
}

function responder(route: Route): (exchange: Exchange) => MaybePromise<RouteResponse> {
  const execute = createExecutor(route);
  const { upload } = route;
  return upload === undefined
    ? (exchange) => execute(inputOf(exchange, null))
    : (exchange) => respondToUpload(exchange, upload, (receive) => execute(inputOf(exchange, receive)));
}

/** What `execute` needs of the request. */
function inputOf(exchange: Exchange, receive: RouteInput['receive']): RouteInput {
  const { request, principal, dryRun, dependencies } = exchange;
  const { headers } = request;
  return {
    url: request.url,
    params: request.params as Record<string, string>,
    query: request.query as URLSearchParams,
    // Range is for GET only (RFC 9110, section 14.2).
    headers: request.method === 'HEAD' ? { ...headers, range: undefined } : headers,
    body: { bytes: request.body as Uint8Array | undefined, mediaType: headers['content-type'] },
    principal,
    ...changesOf(exchange, principal, dryRun?.effects ?? null),
    idempotency: dependencies.idempotency,
    clientIp: () => toClientIp(exchange),
    visitorIp: () => toVisitorIp(exchange),
    rateLimitStatus: () => exchange.charge?.rateLimitStatus() ?? null,
    countAs: (requests) => exchange.clientIpCount?.countAs(requests),
    openConnection: () => createOpenConnection(exchange),
    inner: (route, isDryRun) => innerInputOf(exchange, route, isDryRun),
    noteTool: (tool) => {
      exchange.tool = tool;
    },
    noteIgnored: (ignored) => noteIgnored(exchange, ignored),
    receive,
  };
}

/** Who makes changes, and in which transaction. */
function changesOf(
  { request, dependencies }: Exchange,
  principal: Principal | null,
  effects: Effects | null,
): Pick<RouteInput, 'origin' | 'transaction'> {
  const { transaction, clock } = dependencies;
  return {
    origin: new RequestOrigin(request, principal, clock, effects),
    transaction: effects === null ? transaction : rollingBack(transaction, effects, clock),
  };
}

/** The input of a route that another one runs. @throws AppError forbidden; rateLimited if an earlier dry run still counts */
function innerInputOf(exchange: Exchange, route: Route, isDryRun: boolean): ReturnType<RouteInput['inner']> {
  const principal = exchange.dependencies.guard.authorize(exchange.principals, route as GuardedRoute);
  const effects = isDryRun ? effectsFor(exchange, route, principal) : null;
  return { principal, ...changesOf(exchange, principal, effects) };
}

/** The trace is read only if an event is written. */
class RequestOrigin implements Origin {
  readonly actor: string;
  readonly limits: Principal['limits'];
  readonly requestId: string;
  readonly effects: Effects | null;
  readonly #request: FastifyRequest;
  readonly #clock: Clock;

  constructor(request: FastifyRequest, principal: Principal | null, clock: Clock, effects: Effects | null) {
    this.actor = principal?.id ?? 'anonymous';
    this.limits = principal?.limits ?? null;
    this.effects = effects;
    this.requestId = request.id;
    this.#request = request;
    this.#clock = clock;
  }

  get traceId(): string {
    return toTraceId(this.#request.headers.traceparent, this.#clock);
  }
}

/** @throws AppError badRequest, or the simulated error */
function simulate(exchange: Exchange): MaybePromise<void> {
  const header = exchange.request.headers['sandbox-simulate'] as string | undefined;
  return header === undefined ? undefined : exchange.dependencies.simulate?.(exchange, header);
}

/**
 * A page of another site must not send requests to a server in the network of its visitor, whose name it lets point
 * there (DNS rebinding).
 * @throws AppError forbidden
 */
function refuseForeignOrigin({ request, route }: Exchange): void {
  const { origin } = request.headers;
  if (origin !== undefined && !route.origins?.().includes(origin)) {
    throw new AppError(
      'forbidden',
      'Pages of this origin may not send requests to this path. The operator can add the origin to CURD_CORS_ORIGINS.',
    );
  }
}

function checkDryRun(exchange: Exchange): void {
  const { request, route, principal } = exchange;
  if (request.headers['dry-run'] !== undefined) {
    exchange.dryRun = readDryRun(route, request.headers, () => effectsFor(exchange, route, principal));
  }
}

/** @throws AppError rateLimited if an earlier dry run still counts */
function effectsFor(exchange: Exchange, route: Route, principal: Principal | null): Effects {
  const { principals, dependencies } = exchange;
  const limit = dependencies.rateLimits.limitDryRun(principals, toClientIp(exchange), route.operationId);
  return new Effects(limit, effectsShownTo(principal, route.path));
}

/**
 * A closed connection has emitted its events already, so reading its body would wait forever.
 * @throws AppError badRequest, for the log and the metrics
 */
function requireOpenConnection({ request }: Exchange): void {
  if (request.raw.destroyed) {
    throw new AppError('badRequest', 'The connection was closed before the body arrived.');
  }
}

/** Node has one timeout for all requests, and it is that of uploads. */
function limitBodyTime({ request, reply, hasBody, dependencies }: Exchange): void {
  if (!hasBody) {
    return;
  }
  const { raw } = request;
  const timer = setTimeout(() => {
    // The framework listens while it reads the body, and sends the response to the error.
    if (raw.listenerCount('error') > 0) {
      reply.header('Connection', 'close');
      raw.emit('error', new AppError('requestTimeout'));
    }
  }, dependencies.config.requestTimeoutMs).unref();
  const stop = () => clearTimeout(timer);
  raw.once('end', stop);
  reply.raw.once('close', stop);
}

function send(exchange: Exchange): MaybePromise<void> {
  const { request, reply, dependencies, simulation } = exchange;
  setClockHeader(reply, dependencies.clock);
  const response = exchange.response as RouteResponse;
  if (simulation !== null && simulation.replaceResponse !== null) {
    dependencies.recordResponse(request, response.status);
    return simulation.replaceResponse();
  }
  const sent = sendResponse(exchange, response);
  dependencies.recordResponse(request, reply.statusCode);
  return sent;
}
