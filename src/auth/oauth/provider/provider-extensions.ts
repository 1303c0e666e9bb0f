/** What the authorization server offers beyond its library, by the library's public interface. */
import type { IncomingMessage } from 'node:http';
import type { KoaContextWithOIDC, default as Provider } from 'oidc-provider';
import { mcpScopes } from '../../../access/mcp.ts';
import { AppError } from '../../../errors.ts';
import type { ScopeApprovals } from '../scope-approvals.ts';
import { oauthErrorBody } from './error-body.ts';
import type { Rotations } from './rotation.ts';

type Module = typeof import('oidc-provider');

/** The response mode of the implicit flow. Clients cannot request it: authorize-request.ts sets it. */
export const implicitMode = 'x-implicit';

/** Descriptions of errors for which the library gives no code of their own. A test compares them with its source. */
export const libraryErrorTexts = {
  noClientAuthentication: 'no client authentication mechanism provided',
  grantTypeNotAllowed: 'requested grant type is not allowed for this client',
} as const;

interface Dependencies {
  readonly approvals: ScopeApprovals;
  readonly rotations: Rotations;
  /** null if this server has no MCP endpoint. */
  readonly mcpUrl: string | null;
}

/** Why a resource is refused, and which one is not. */
export const unknownResource = (mcpUrl: string | null): string =>
  mcpUrl === null
    ? 'this server has no MCP endpoint, so request the token without resource'
    : `the resource must be ${mcpUrl}`;

/** Adds the implicit flow, client credentials that respect approvals, and errors in both formats. */
export function extendProvider(
  provider: Provider,
  library: Module,
  { approvals, rotations, mcpUrl }: Dependencies,
): void {
  addImplicitFlow(provider);
  addClientCredentials(provider, library, approvals, mcpUrl);
  provider.use(noteFailures);
  provider.use(keepCorsHeader);
  provider.use(addErrorBody);
  provider.use(rotations.respond);
}

/**
 * The implicit flow (RFC 6749, section 4.2), which the library lacks. authorize-request.ts translates it to a code flow
 * with this response mode; here the code is exchanged for a token, and never leaves the process.
 */
function addImplicitFlow(provider: Provider): void {
  const isRegistered = (client: object) =>
    ((client as { own_grants?: string[] }).own_grants ?? []).includes('implicit');

  provider.registerResponseMode(implicitMode, async (ctx, redirectUri, payload) => {
    const parameters = new URLSearchParams();
    const {
      code: value,
      error,
      error_description,
      state,
      iss,
    } = payload as Record<string, string | undefined>;
    const { client } = ctx.oidc;
    const code =
      value === undefined
        ? undefined
        : await provider.AuthorizationCode.find(value, { ignoreSessionBinding: true } as never);
    await code?.destroy();
    if (code === undefined || client === undefined) {
      parameters.set('error', error ?? 'server_error');
      if (error_description !== undefined) {
        parameters.set('error_description', error_description);
      }
    } else if (!isRegistered(client)) {
      parameters.set('error', 'unauthorized_client');
    } else {
      const scope = (code.scope ?? '')
        .split(' ')
        .filter((name) => name !== 'admin')
        .join(' ');
      const token = new provider.AccessToken({
        accountId: code.accountId,
        client,
        grantId: code.grantId,
        scope,
        gty: 'implicit',
      } as never);
      parameters.set('access_token', await token.save());
      parameters.set('token_type', 'Bearer');
      parameters.set('expires_in', String(token.expiration));
      parameters.set('scope', scope);
    }
    if (state !== undefined) {
      parameters.set('state', state);
    }
    if (iss !== undefined) {
      parameters.set('iss', iss);
    }
    ctx.status = 303;
    ctx.redirect(`${redirectUri}#${parameters}`);
    ctx.status = 303;
  });
}

/** Replaces the grant of the library, which ignores unknown scopes and has no approvals. */
function addClientCredentials(
  provider: Provider,
  { errors }: Module,
  approvals: ScopeApprovals,
  mcpUrl: string | null,
): void {
  provider.registerGrantType(
    'client_credentials',
    async (ctx) => {
      const { client, params } = ctx.oidc;
      if (client === undefined) {
        throw new errors.InvalidClient('the application is not known');
      }
      const { resource = '' } = params as { resource?: string };
      if (resource !== '' && resource !== mcpUrl) {
        throw new errors.InvalidTarget(unknownResource(mcpUrl));
      }
      const ofClient = (client.scope ?? '').split(' ');
      const listed =
        resource === ''
          ? ofClient
          : ofClient.filter((scope) => mcpScopes.some((mcpScope) => mcpScope === scope));
      const requested = [
        ...new Set(String(params?.scope ?? listed.filter((scope) => scope !== 'admin').join(' ')).split(' ')),
      ];
      const refused = requested.filter((scope) => !listed.includes(scope));
      if (refused.length > 0) {
        throw new errors.InvalidScope(
          'the scope is not known, or not one of this application and resource',
          refused.join(' '),
        );
      }
      const isApproved = !requested.includes('admin') || (await approvals.isApproved(client.clientId, null));
      if (!isApproved) {
        await approvals.request(client.clientId, null);
      }
      const granted = isApproved ? requested : requested.filter((scope) => scope !== 'admin');
      if (granted.join('') === '') {
        throw new errors.InvalidScope('admin waits for the approval of an operator', 'admin');
      }
      const token = new provider.ClientCredentials({ client, scope: granted.join(' ') });
      if (resource !== '') {
        token.setAudience(resource);
      }
      ctx.oidc.entity('ClientCredentials', token);
      ctx.body = {
        access_token: await token.save(),
        token_type: 'Bearer',
        expires_in: token.expiration,
        scope: token.scope,
      };
    },
    ['scope', 'resource'],
  );
}

/**
 * Errors of this program that the library caught or threw, such as a database that is busy. The library would send them
 * as 500: they are left to endpoints.ts.
 */
const failures = new WeakMap<IncomingMessage, AppError>();

/** The error that prevented the response to a request, if there was one. */
export function findFailure(request: IncomingMessage): AppError | undefined {
  return failures.get(request);
}

/** Returns whether the error is one of this program. */
export function noteFailure({ req }: KoaContextWithOIDC, error: unknown): boolean {
  if (error instanceof AppError) {
    failures.set(req, error);
    return true;
  }
  return false;
}

/** Removes what the library has prepared as the response to a failure, and lets endpoints.ts respond. */
async function noteFailures(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (!noteFailure(ctx, error)) {
      throw error;
    }
  }
  if (findFailure(ctx.req) !== undefined) {
    ctx.body = null;
    ctx.remove('Location');
    ctx.respond = false;
  }
}

/** The endpoints that pages of an application call with requests of their own. */
const pageEndpoints: ReadonlySet<string | undefined> = new Set(['token', 'revocation']);

/**
 * The library permits every origin. http/cors.ts has set the header before, if CURD_CORS_ORIGINS permits the origin. Pages
 * of a client's redirect URIs may read the responses to this client too, because its codes are sent to them.
 */
async function keepCorsHeader(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const isPermitted = Boolean(ctx.response.get('Access-Control-Allow-Origin'));
  await next();
  if (!isPermitted && !(pageEndpoints.has(ctx.oidc?.route) && isPageOfClient(ctx))) {
    ctx.remove('Access-Control-Allow-Origin');
  }
}

function isPageOfClient({ oidc, request }: KoaContextWithOIDC): boolean {
  const origin = request.get('Origin');
  // Sandboxed frames of any page send "null", which is the origin of redirect URIs of native applications as well.
  return origin !== 'null' && (oidc.client?.redirectUris ?? []).some((uri) => new URL(uri).origin === origin);
}

/** One body with error and error_description of OAuth, and with code, type and message of this API. */
async function addErrorBody(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  const body = ctx.body as { error?: string; error_description?: string } | null;
  if (ctx.status < 400 || typeof body !== 'object' || body?.error === undefined) {
    return;
  }
  let { error, error_description: description = error } = body;
  if (description === libraryErrorTexts.noClientAuthentication) {
    error = 'invalid_client';
    description = 'client authentication is needed';
    ctx.status = 401;
  } else if (description === libraryErrorTexts.grantTypeNotAllowed) {
    error = 'unauthorized_client';
  }
  if (ctx.status === 401 && !ctx.response.get('WWW-Authenticate')) {
    ctx.set('WWW-Authenticate', `Basic realm="${ctx.oidc?.issuer ?? 'curd'}"`);
  }
  const { status } = ctx;
  ctx.body = { ...body, ...oauthErrorBody(error, description, status) };
  ctx.status = status;
}
