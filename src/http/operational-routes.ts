/** Routes for operators and developers: health checks, metrics, the OpenAPI document and the reference page. */
import Fastify from 'fastify';
import { Asset } from './asset.ts';
import { documentedText, unavailableResponse as notReady } from './error-responses.ts';
import { immutable, revalidated } from './etag.ts';
import { type MetricDefinition, type Metrics, metricsType } from './metrics.ts';
import { type RouteResponse, TextBody } from './response.ts';
import { type Route, route } from './route.ts';

const tag = 'Operation';
const scriptPath = '/docs/js/scalar.js';

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
  readonly metrics: Metrics;
  readonly figures: readonly MetricDefinition[];
}

export function operationalRoutes({ requireReady, describe, metrics, figures }: Dependencies): Route[] {
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
      summary: 'What the server has done and has to do, for Prometheus',
      access: [{ kind: 'oauth', scope: 'admin' }],
      isAtRoot: true,
      compressible: true,
      mediaType: metricsType,
      responses: { 200: documentedText('Metrics as text', 'text/plain') },
      handle: async () => ({
        status: 200,
        headers: { 'Cache-Control': 'no-store' },
        body: new TextBody(await metrics.render(figures)),
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
      path: scriptPath,
      operationId: 'getReferenceScript',
      tag,
      summary: 'The script of the reference page',
      access: 'operational',
      mediaType: 'text/javascript; charset=utf-8',
      query: {
        v: {
          type: 'string',
          maxLength: 100,
          description: 'The version that the page names: kept for a year',
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

/** The package puts scripts and styles into the page itself. What they load must come from this server. */
const pageHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
};

/** On a phone, the button for the list of operations covers the URL of the request. */
const phoneStyle = '@media (width < 768px) { .scalar-container .scalar-sidebar-toggle { display: none } }';

/** The package shows this in empty inputs for credentials, where it looks like a key. */
const keyLikePlaceholder = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT';

interface ReferencePage {
  readonly page: RouteResponse;
  readonly script: Asset;
}

/** The package of the page takes 0.2 s and 20 MB, so it is loaded at the first request for the page. */
function createReferencePage(): () => Promise<ReferencePage> {
  let loaded: Promise<ReferencePage> | undefined;

  async function load(): Promise<ReferencePage> {
    const { default: reference } = await import('@scalar/fastify-api-reference');
    const pages = Fastify();
    await pages.register(reference, {
      routePrefix: '/docs',
      // The page sends nothing to other servers: no fonts, no telemetry, no services of the vendor of the package.
      configuration: {
        url: '/openapi.json',
        pageTitle: 'Curd API',
        withDefaultFonts: false,
        telemetry: false,
        authentication: { preferredSecurityScheme: 'apiKey' },
        agent: { disabled: true },
        mcp: { disabled: true },
        showDeveloperTools: 'never',
        hideClientButton: true,
        customCss: phoneStyle,
      },
    });
    const [page, code] = await Promise.all([pages.inject('/docs/'), pages.inject(scriptPath)]);
    await pages.close();
    // The package has no options for the placeholder, the language and the URL of the script.
    const script = new Asset(code.payload.replaceAll(keyLikePlaceholder, 'Key or token'));
    const html = page.payload
      .replace('<html>', '<html lang="en">')
      .replace('src="js/scalar.js"', `src="${scriptPath}?v=${script.version}"`)
      .replaceAll(keyLikePlaceholder, 'Key or token');
    return { page: revalidated(new Asset(html), pageHeaders), script };
  }

  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
