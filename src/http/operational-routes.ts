/** Routes for operators and developers: health checks, metrics, the OpenAPI document and the reference page. */
import { Asset } from './asset.ts';
import { documentedText, unavailableResponse as notReady } from './error-responses.ts';
import { immutable, revalidated } from './etag.ts';
import { type Metrics, metricsType } from './metrics.ts';
import { createReferencePage, referenceScriptPath } from './reference-page.ts';
import { type RouteResponse, TextBody } from './response.ts';
import { type Route, route } from './route.ts';

const tag = 'Operation';

const Status = {
  title: 'Status',
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', enum: ['ok'] } },
  examples: [{ status: 'ok' }],
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
  /** Returns the OpenAPI document. */
  readonly describe: () => unknown;
  readonly metrics: Pick<Metrics, 'renderAll'>;
}

export function operationalRoutes({ requireReady, describe, metrics }: Dependencies): Route[] {
  let description: RouteResponse | undefined;
  const described = (): RouteResponse => {
    description ??= revalidated(new Asset(JSON.stringify(describe())));
    return description;
  };
  const reference = createReferencePage();
  const openapi = {
    method: 'GET',
    tag,
    summary: 'The OpenAPI document',
    access: 'operational',
    compressible: true,
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
      access: 'operational',
      rateLimitGroup: 'health',
      responses: {
        200: { description: 'Ready', schema: Status },
        ...notReady('The database does not respond, or the disk is full'),
      },
      handle: async () => {
        await requireReady();
        return { status: 200, body: { status: 'ok' } };
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      tag,
      summary: 'Metrics of the server, in the text format of Prometheus',
      access: [{ kind: 'oauth', scope: 'admin' }],
      isAtRoot: true,
      compressible: true,
      mediaType: metricsType,
      responses: { 200: documentedText('Metrics as text', 'text/plain') },
      handle: async () => ({
        status: 200,
        headers: { 'Cache-Control': 'no-store' },
        body: new TextBody(await metrics.renderAll()),
      }),
    }),
    route({ ...openapi, path: '/openapi.json', operationId: 'getOpenapi' }),
    route({ ...openapi, path: '/v2/openapi.json', operationId: 'getOpenapiAlias' }),
    route({
      method: 'GET',
      path: '/docs',
      operationId: 'getReference',
      tag,
      summary: 'The reference page',
      access: 'operational',
      mediaType: 'text/html; charset=utf-8',
      responses: { 200: documentedText('The page', 'text/html') },
      handle: async () => (await reference()).page,
    }),
    route({
      method: 'GET',
      path: referenceScriptPath,
      operationId: 'getReferenceScript',
      tag,
      summary: 'The script of the reference page',
      access: 'operational',
      mediaType: 'text/javascript; charset=utf-8',
      query: {
        v: {
          type: 'string',
          maxLength: 100,
          description: 'Version of the script; the current version can be cached for a year',
        },
      },
      responses: { 200: documentedText('The script', 'text/javascript') },
      handle: async ({ query }) => {
        const { script } = await reference();
        return query.v === script.version ? immutable(script) : revalidated(script);
      },
    }),
  ];
}
