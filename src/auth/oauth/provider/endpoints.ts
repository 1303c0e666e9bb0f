/**
 * The endpoints of the authorization server: those of the protocol, which the library serves after own checks, and the
 * pages. The library is loaded with the first request.
 */
import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { scopes } from '../../../access/access.ts';
import { mcpPath } from '../../../access/mcp.ts';
import { AppError } from '../../../errors.ts';
import { isUtf8 } from '../../../http/bodies/body.ts';
import { setPageHeaders } from '../../../http/pages/send-page.ts';
import type { RawRequest, RawRoute } from '../../../http/raw-routes.ts';
import { isRepeated } from '../../../http/repeated-headers.ts';
import { Asset } from '../../../http/responses/asset.ts';
import { toErrorHeaders, toErrorStatus } from '../../../http/responses/error-mapping.ts';
import { documentedText } from '../../../http/responses/error-responses.ts';
import { revalidated } from '../../../http/responses/etag.ts';
import { type Route, route } from '../../../http/route.ts';
import type { CountClientIp } from '../../../limits/client-ip-limits.ts';
import type { Registration } from '../customer-directory.ts';
import type { Interactions } from '../pages/interactions.ts';
import { createPageRoute, reportIfFailure } from '../pages/page-route.ts';
import { readAuthorizeRequest } from './authorize-request.ts';
import { withDescriptions } from './descriptions.ts';
import { oauthErrorBody } from './error-body.ts';
import type { ProviderDependencies } from './provider.ts';
import { findFailure } from './provider-extensions.ts';
import { AuthorizationServer } from './schemas.ts';

export interface EndpointDependencies extends Omit<ProviderDependencies, 'issuer' | 'mcpUrl'> {
  /** null if customers cannot register. */
  readonly registration: Registration | null;
  /** Whether a customer can get a link for a new password by mail. */
  readonly hasForgotPassword: boolean;
  /** Known when the server listens. */
  readonly issuer: () => string;
  /** Whether tokens for the MCP endpoint can be requested. */
  readonly hasMcp: boolean;
  /** Requests to these endpoints carry no credential of the API. @throws AppError rateLimited */
  readonly countClientIp: CountClientIp;
}

interface Loaded {
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly interactions: Interactions;
}

export function oauthEndpoints(dependencies: EndpointDependencies): RawRoute[] {
  let loading: Promise<Loaded> | undefined;

  async function load(): Promise<Loaded> {
    const [{ createProvider }, { createInteractions }] = await Promise.all([
      import('./provider.ts'),
      import('../pages/interactions.ts'),
    ]);
    const issuer = dependencies.issuer();
    const mcpUrl = dependencies.hasMcp ? `${issuer}${mcpPath}` : null;
    const provider = await createProvider({ ...dependencies, issuer, mcpUrl });
    const secret = Buffer.from(
      hkdfSync('sha256', dependencies.secret, '', 'authorization forms', 32),
    ).toString('hex');
    return {
      serve: provider.callback() as Loaded['serve'],
      interactions: createInteractions({ ...dependencies, provider, secret, issuer }),
    };
  }

  function loaded(): Promise<Loaded> {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  /** The library reads host and scheme from headers. They are set from the issuer, because clients can forge them. */
  async function serveByLibrary({ request, response }: RawRequest, url: string): Promise<void> {
    const { host, protocol } = new URL(dependencies.issuer());
    request.headers.host = host;
    request.headers['x-forwarded-host'] = host;
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    request.url = url;
    const { serve } = await loaded();
    await serve(request, response);
    const failure = findFailure(request);
    if (failure !== undefined) {
      throw failure;
    }
  }

  async function authorize(raw: RawRequest): Promise<void> {
    setPageHeaders(raw.response);
    const query = await readAuthorizeRequest(raw.request, queryOf(raw.request), dependencies.database);
    await serveByLibrary(raw, `/oauth/authorize?${query}`);
  }

  const pageRoute = createPageRoute(dependencies);

  const interactionRoute = (method: 'GET' | 'POST', path: string, verb: keyof Interactions) =>
    pageRoute(method, path, async (raw) => (await loaded()).interactions[verb](raw));

  /** @throws AppError rateLimited, badRequest */
  function requirePermitted({ clientIp, request }: RawRequest): void {
    dependencies.countClientIp(clientIp, 'any');
    if (isRepeated(request.rawHeaders, 'authorization')) {
      throw new AppError('badRequest', 'Authorization is repeated. Send the credentials of the client once.');
    }
    // The library reads every form as UTF-8.
    if (!isUtf8(request.headers['content-type'])) {
      throw new AppError(
        'badRequest',
        'Content-Type declares another charset than UTF-8, or several. Send UTF-8.',
      );
    }
  }

  /** An endpoint for programs, with an alias under /v2. */
  const endpointRoutes = (name: 'token' | 'revoke' | 'introspect') =>
    [`/oauth/${name}`, `/v2/oauth/${name}`].map((path) => ({
      method: 'POST' as const,
      path,
      cors: 'public' as const,
      handle: (raw: RawRequest) =>
        withErrorBody(raw, () => {
          raw.request.headers.accept = 'application/json';
          requirePermitted(raw);
          return serveByLibrary(raw, `/oauth/${name}`);
        }),
    }));

  return withDescriptions([
    // Counted with logins, because each request is stored for an hour.
    pageRoute('GET', '/oauth/authorize', authorize, 'login'),
    pageRoute('GET', '/oauth/authorize/:uid', (raw) => {
      setPageHeaders(raw.response);
      return serveByLibrary(raw, `/oauth/authorize/${encodeURIComponent(raw.params.uid ?? '')}`);
    }),
    pageRoute('GET', '/v2/oauth/authorize', async ({ request, response }) => {
      const query = queryOf(request);
      setPageHeaders(response);
      response.writeHead(302, { Location: `/oauth/authorize${query === '' ? '' : `?${query}`}` }).end();
    }),
    ...endpointRoutes('token'),
    ...endpointRoutes('revoke'),
    ...endpointRoutes('introspect'),
    interactionRoute('GET', '/oauth/interaction/:uid', 'show'),
    interactionRoute('POST', '/oauth/interaction/:uid/login', 'login'),
    ...(dependencies.registration === null
      ? []
      : [
          interactionRoute('GET', '/oauth/interaction/:uid/register', 'showRegistration'),
          interactionRoute('POST', '/oauth/interaction/:uid/register', 'register'),
        ]),
    interactionRoute('POST', '/oauth/interaction/:uid/consent', 'consent'),
    interactionRoute('GET', '/oauth/logout', 'showLogout'),
    interactionRoute('POST', '/oauth/logout', 'logout'),
  ]);
}

function queryOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

const oauthCodes: Readonly<Record<number, string>> = { 400: 'invalid_request', 500: 'server_error' };

/** Sends errors as JSON, in the format of OAuth and of this API. */
async function withErrorBody(
  { response, reportFailure }: RawRequest,
  handle: () => Promise<void>,
): Promise<void> {
  try {
    await handle();
  } catch (error) {
    if (response.headersSent || !(error instanceof AppError)) {
      throw error;
    }
    reportIfFailure(error, reportFailure);
    const status = toErrorStatus(error);
    response.writeHead(status, {
      ...toErrorHeaders(error),
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
    });
    const code = oauthCodes[status] ?? 'temporarily_unavailable';
    response.end(JSON.stringify(oauthErrorBody(code, error.message, status)));
  }
}

/** The stylesheet of the pages. */
export function styleRoute(): Route {
  const css = readFileSync(new URL('../../../http/pages/style.css', import.meta.url), 'utf8');
  const style = revalidated(new Asset(css), { 'Cache-Control': 'public, max-age=3600' });
  return route({
    method: 'GET',
    path: '/oauth/style.css',
    operationId: 'getStyle',
    tag: 'OAuth',
    summary: 'The stylesheet of the pages for login and consent',
    description: 'For the HTML pages of this server.',
    access: 'operational',
    mediaType: 'text/css; charset=utf-8',
    responses: { 200: documentedText('The stylesheet', 'text/css') },
    handle: () => style,
  });
}

/** The metadata for clients (RFC 8414). */
export function metadataRoute(issuer: () => string): Route {
  return route({
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    operationId: 'getAuthorizationServer',
    tag: 'OAuth',
    summary: 'Endpoints and features of the authorization server',
    description: 'Programs find the endpoints of OAuth here (RFC 8414, section 3).',
    access: 'operational',
    cors: 'anyOrigin',
    responses: {
      200: {
        description: 'The metadata of RFC 8414',
        schema: AuthorizationServer,
        example: metadataOf('https://cheese.example'),
      },
    },
    handle: () => ({ status: 200, body: metadataOf(issuer()) }),
  });
}

function metadataOf(base: string) {
  const methods = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer: base,
    authorization_endpoint: `${base}/oauth/authorize`,
    token_endpoint: `${base}/oauth/token`,
    revocation_endpoint: `${base}/oauth/revoke`,
    introspection_endpoint: `${base}/oauth/introspect`,
    scopes_supported: scopes,
    response_types_supported: ['code', 'token'],
    response_modes_supported: ['query', 'fragment'],
    grant_types_supported: ['authorization_code', 'implicit', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: [...methods, 'none'],
    revocation_endpoint_auth_methods_supported: [...methods, 'none'],
    introspection_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${base}/docs`,
  };
}
