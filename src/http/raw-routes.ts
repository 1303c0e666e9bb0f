/** Routes that write their own responses: HTML pages, and the OAuth endpoints of a library. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Principal } from '../access/principal.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { clientNetwork, statedClientIp } from './client-ip.ts';
import type { CorsPolicy } from './cors.ts';
import { noDryRun, requireDryRunMode } from './pipeline/dry-run.ts';
import type { Guard } from './pipeline/guard.ts';
import { setClockHeader } from './responses/send-response.ts';
import type { Described } from './route.ts';

export interface RawRequest {
  /** Its body is not read yet. */
  readonly request: IncomingMessage;
  /** Has the headers of every response already. */
  readonly response: ServerResponse;
  readonly params: Readonly<Record<string, string>>;
  /** The client IP that limits count. */
  readonly clientIp: string;
  /** The one that a request with an API key states; null on routes that do not accept it. @throws AppError badRequest */
  readonly statedClientIp: () => Promise<string | null>;
  /** Logs a failure for which the route sends the response itself. */
  readonly reportFailure: (failure: AppError) => void;
}

/** What the OpenAPI document states about such a route. Its body is a form. */
export type RawDescription = Pick<
  Described,
  | 'operationId'
  | 'tag'
  | 'summary'
  | 'description'
  | 'query'
  | 'body'
  | 'responses'
  | 'examples'
  | 'acceptsClientIp'
>;

export interface RawRoute extends RawDescription {
  readonly method: 'GET' | 'POST';
  /** The whole path, with parameters as `:name`. */
  readonly path: string;
  readonly cors: CorsPolicy;
  readonly handle: (request: RawRequest) => Promise<void>;
}

/** Registers raw routes. An error that is thrown before the response is sent becomes an error response. */
export function registerRawRoutes(
  app: FastifyInstance,
  routes: readonly RawRoute[],
  { guard, clock }: { readonly guard: Pick<Guard, 'authenticate'>; readonly clock: Clock },
  recordResponse: (request: FastifyRequest, status: number) => void,
  reportFailure: (failure: AppError, request: FastifyRequest) => void,
): void {
  withUnreadBodies(app, (scope) => {
    for (const { method, path, cors, handle, acceptsClientIp } of routes) {
      scope.route({
        method,
        url: path,
        exposeHeadRoute: false,
        config: { cors },
        handler: async (request, reply) => {
          if (requireDryRunMode(request.headers['dry-run']) !== null) {
            throw noDryRun();
          }
          await clock.refresh();
          setClockHeader(reply, clock);
          const { raw: response } = reply;
          for (const [name, value] of Object.entries(reply.getHeaders())) {
            if (value !== undefined) {
              response.setHeader(name, value);
            }
          }
          await handle({
            request: request.raw,
            response,
            params: request.params as Record<string, string>,
            clientIp: clientNetwork(request.ip),
            statedClientIp: async () => (acceptsClientIp ? statedIn(request.raw, guard) : null),
            reportFailure: (failure) => reportFailure(failure, request),
          });
          recordResponse(request, response.statusCode);
          return reply.hijack();
        },
      });
    }
  });
}

/** The client IP that a request with a valid API key states; null without both. @throws AppError badRequest */
async function statedIn(
  request: IncomingMessage,
  guard: Pick<Guard, 'authenticate'>,
): Promise<string | null> {
  const isStated = request.headers['curd-client-ip'] !== undefined;
  return isStated ? statedClientIp(request.headers, await principalsOf(request, guard)) : null;
}

/** Raw routes refuse no credential of the API. */
async function principalsOf(
  request: IncomingMessage,
  guard: Pick<Guard, 'authenticate'>,
): Promise<readonly Principal[]> {
  try {
    return await guard.authenticate(request, 'api');
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthorized') {
      return [];
    }
    throw error;
  }
}

/** The description of a raw route for the OpenAPI document. */
export function describeRaw({ cors: _, handle: _handle, ...rest }: RawRoute): Described {
  return { ...rest, access: 'operational', bodyTypes: ['application/x-www-form-urlencoded'] };
}

/** Registers routes whose handlers read the body themselves. */
export function withUnreadBodies(app: FastifyInstance, register: (scope: FastifyInstance) => void): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    register(scope);
  });
}
