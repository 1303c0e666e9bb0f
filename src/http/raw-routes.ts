/** Addresses that write their own answers: pages for people, and endpoints that a library serves whole. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { clientNetwork } from './client-ip.ts';
import type { CorsPolicy } from './cors.ts';
import type { Described } from './route.ts';

export interface RawRequest {
  /** Its body is not read yet. */
  readonly request: IncomingMessage;
  /** Carries the headers that stand on every answer already. */
  readonly response: ServerResponse;
  readonly params: Readonly<Record<string, string>>;
  /** The address that the call came from. */
  readonly clientIp: string;
}

/** Whatever the OpenAPI document says of such a route; its body is a form. */
export type RawDescription = Pick<
  Described,
  'operationId' | 'tag' | 'summary' | 'description' | 'query' | 'body' | 'responses' | 'examples'
>;

export interface RawRoute extends RawDescription {
  readonly method: 'GET' | 'POST';
  /** The whole path, with parameters as `:name`. */
  readonly path: string;
  readonly cors: CorsPolicy;
  readonly handle: (call: RawRequest) => Promise<void>;
}

/** Registers them where no body is read beforehand. What they throw before they have answered is answered as ever. */
export function registerRawRoutes(
  app: FastifyInstance,
  routes: readonly RawRoute[],
  answered: (request: FastifyRequest, status: number) => void,
): void {
  withUnreadBodies(app, (scope) => {
    for (const { method, path, cors, handle } of routes) {
      scope.route({
        method,
        url: path,
        exposeHeadRoute: false,
        config: { cors },
        handler: async (request, reply) => {
          const { raw: response } = reply;
          for (const [name, value] of Object.entries(reply.getHeaders())) {
            if (value !== undefined) {
              response.setHeader(name, value);
            }
          }
          const params = request.params as Record<string, string>;
          await handle({ request: request.raw, response, params, clientIp: clientNetwork(request.ip) });
          answered(request, response.statusCode);
          return reply.hijack();
        },
      });
    }
  });
}

/** What the OpenAPI document says of them. */
export function describeRaw({ cors: _, handle: _handle, ...rest }: RawRoute): Described {
  return { ...rest, access: 'operational', bodyTypes: ['application/x-www-form-urlencoded'] };
}

/** Registers routes that are called before anything of a body was read. */
export function withUnreadBodies(app: FastifyInstance, register: (scope: FastifyInstance) => void): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    register(scope);
  });
}
