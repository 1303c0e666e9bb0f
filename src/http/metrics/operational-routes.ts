/** Routes for operators and developers: health checks (`/healthz` and `/readyz`), metrics, the OpenAPI document and the reference. */
import { type Clock, clockState } from '../../clock.ts';
import { clockSchema, objectOf } from '../../schema/parts.ts';
import { referenceRoutes } from '../reference/routes.ts';
import { Asset } from '../responses/asset.ts';
import { documentedText, unavailableResponse as notReady } from '../responses/error-responses.ts';
import { revalidated } from '../responses/etag.ts';
import { type RouteResponse, TextBody, uncached } from '../responses/response.ts';
import { type Route, route } from '../route.ts';
import { type Metrics, metricsType } from './metrics.ts';

const tag = 'Operation';

const Status = {
  title: 'Status',
  ...objectOf({ status: { type: 'string', enum: ['ok'] } }),
  examples: [{ status: 'ok' }],
} as const;

const Readiness = {
  ...Status,
  title: 'Readiness',
  properties: {
    ...Status.properties,
    clock: {
      ...clockSchema,
      description: 'Only where the clock was moved forward, to test what happens later',
    },
  },
} as const;

const OpenapiDocument = {
  title: 'OpenapiDocument',
  type: 'object',
  additionalProperties: true,
  examples: [{ openapi: '3.1.0', info: { title: 'Curd', version: '2.0.0' }, paths: {} }],
} as const;

interface Dependencies {
  /** @throws AppError unavailable when the server cannot process requests */
  readonly requireReady: () => Promise<void>;
  readonly clock: Clock;
  /** Returns the OpenAPI document. */
  readonly describe: () => unknown;
  readonly metrics: Pick<Metrics, 'renderAll'>;
}

export function operationalRoutes({ requireReady, clock, describe, metrics }: Dependencies): Route[] {
  let description: RouteResponse | undefined;
  const described = (): RouteResponse => {
    description ??= revalidated(new Asset(JSON.stringify(describe())));
    return description;
  };
  const openapi = {
    method: 'GET',
    tag,
    summary: 'The OpenAPI document',
    description: 'This document, in version 3.1. The same document is at /openapi.json and /v2/openapi.json.',
    access: 'operational',
    responses: { 200: { description: 'OpenAPI 3.1', schema: OpenapiDocument } },
    handle: described,
  } as const;
  return [
    route({
      method: 'GET',
      path: '/healthz',
      operationId: 'getHealth',
      tag,
      summary: 'The process is alive',
      description: 'For the program that restarts the server. It does not look at the database.',
      access: 'operational',
      rateLimitGroup: 'health',
      responses: { 200: { description: 'Alive', schema: Status } },
      handle: () => ({ status: 200, body: { status: 'ok' } }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      operationId: 'getReadiness',
      tag,
      summary: 'The server can process requests: the database responds, and the disk has space',
      description:
        'For a load balancer: send requests to this server only while the response is 200. The database responds, and the disk has space.',
      access: 'operational',
      rateLimitGroup: 'health',
      responses: {
        200: { description: 'Ready', schema: Readiness },
        ...notReady('The database does not respond, or the disk is full'),
      },
      handle: async () => {
        await requireReady();
        await clock.refresh();
        const ahead = clock.advancedMs() > 0 ? { clock: clockState(clock) } : {};
        return { status: 200, body: { status: 'ok', ...ahead } };
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      tag,
      summary: 'Metrics of the server, in the text format of Prometheus',
      description: 'For Prometheus. The credential needs the scope `admin`.',
      access: [{ kind: 'oauth', scope: 'admin' }],
      isAtRoot: true,
      mediaType: metricsType,
      responses: { 200: documentedText('Metrics as text', 'text/plain') },
      handle: async () => uncached(200, new TextBody(await metrics.renderAll())),
    }),
    route({ ...openapi, path: '/openapi.json', operationId: 'getOpenapi' }),
    route({ ...openapi, path: '/v2/openapi.json', operationId: 'getOpenapiAlias' }),
    ...referenceRoutes(describe),
  ];
}
