/**
 * The authorization server: oidc-provider, configured to what is offered of OAuth 2.0. Loading it takes half a second and
 * 50 MB, so the first request to it loads it.
 */
import { generateKeyPairSync, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Configuration, KoaContextWithOIDC, default as Provider } from 'oidc-provider';
import { scopes as knownScopes } from '../../../access/access.ts';
import { mcpScopes } from '../../../access/mcp.ts';
import { type Clock, machineTime } from '../../../clock.ts';
import type { Database } from '../../../database/database.ts';
import type { Log } from '../../../log.ts';
import { consoleClientId } from '../clients.ts';
import type { ConsoleClient } from '../console-client.ts';
import type { CustomerDirectory } from '../customer-directory.ts';
import { oauthErrorPage, type PageLayout } from '../pages/pages.ts';
import type { ScopeApprovals } from '../scope-approvals.ts';
import { permittedScopes } from '../scopes.ts';
import { createAdapters } from './adapter.ts';
import { refusalOf } from './authorize-request.ts';
import { extendProvider, implicitMode, noteFailure, unknownResource } from './provider-extensions.ts';
import { createRotations } from './rotation.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Seconds. */
const lifetimes = {
  code: minute,
  accessToken: hour,
  implicitToken: 10 * minute,
  adminToken: 15 * minute,
  refreshIdle: 14 * day,
  refreshAbsolute: 30 * day,
  adminRefresh: 8 * hour,
  browserSession: 12 * hour,
  interaction: hour,
  /** A request for admin needs a login that is at most this old. */
  adminLogin: 5 * minute,
} as const;

export interface ProviderDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly directory: CustomerDirectory;
  readonly approvals: ScopeApprovals;
  /** null where this server has no console. */
  readonly consoleClient: ConsoleClient | null;
  readonly page: PageLayout;
  readonly secret: string;
  /** The public URL of this server, without /v2. */
  readonly issuer: string;
  /** The URL of the MCP endpoint, for which tokens can be requested; null where this server has none. */
  readonly mcpUrl: string | null;
}

/** Loads the library and creates the authorization server. */
export async function createProvider(dependencies: ProviderDependencies): Promise<Provider> {
  const { issuer, log, clock, secret } = dependencies;
  const library = await loadQuietly(log);
  const alreadyUsed = () => new library.errors.InvalidGrant('already used');
  const rotations = createRotations(clock, secret, alreadyUsed);
  const adapter = createAdapters({ ...dependencies, alreadyUsed, rotations });
  const provider = new library.Provider(issuer, configure(dependencies, library, adapter));
  // The library trusts the X-Forwarded headers of each request: endpoints.ts sets them from the issuer.
  provider.proxy = true;
  provider.on('server_error', (ctx, error) => {
    if (!noteFailure(ctx, error)) {
      log.error({ err: error }, 'the authorization server failed');
    }
  });
  provider.Client.prototype.compareClientSecret = async function compareHashes(
    secret: string,
  ): Promise<boolean> {
    const stored = Buffer.from(this.clientSecret ?? '');
    const sent = Buffer.from(hash('sha256', secret));
    return stored.length === sent.length && timingSafeEqual(stored, sent);
  };
  extendProvider(provider, library, { ...dependencies, rotations });
  return provider;
}

/** Loads the library, which on a Node release without LTS writes a warning to standard error, where the log is JSON. */
async function loadQuietly(log: Log): Promise<typeof import('oidc-provider')> {
  const { warn } = console;
  console.warn = (message: string) => log.debug(message);
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
}

function configure(
  dependencies: ProviderDependencies,
  library: typeof import('oidc-provider'),
  adapter: ReturnType<typeof createAdapters>,
): Configuration {
  const { clock, directory, approvals, page, secret, issuer, mcpUrl } = dependencies;
  const { errors, interactionPolicy } = library;
  const isHttps = issuer.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true, secure: isHttps } as const;
  const prefix = isHttps ? '__Secure-' : '';
  const asksForAdmin = (scope: string | undefined) => scope?.split(' ').includes('admin') ?? false;

  const policy = interactionPolicy.base();
  policy.get('consent')?.checks.add(
    new interactionPolicy.Check(
      'asked_each_time',
      'this application asks each time',
      'interaction_required',
      ({ oidc }) => {
        const isAskedEachTime =
          oidc.client?.clientAuthMethod === 'none' || oidc.params?.response_mode === implicitMode;
        return isAskedEachTime && oidc.result?.consent === undefined;
      },
    ),
  );
  policy.get('login')?.checks.add(
    new interactionPolicy.Check(
      'fresh_login',
      'admin needs a fresh login',
      'login_required',
      ({ oidc }) =>
        asksForAdmin(oidc.params?.scope as string | undefined) &&
        oidc.result?.login === undefined &&
        // The login page is shown at once after a sign-out of the console, or a refusal there.
        (oidc.client?.clientId === consoleClientId || (oidc.session?.past(lifetimes.adminLogin) ?? true)),
    ),
  );

  /** The earlier grant, unless the customer may be granted more now: then the consent page is shown again. */
  async function loadExistingGrant({ oidc }: KoaContextWithOIDC) {
    const { client, session, result, provider } = oidc;
    const clientId = client?.clientId ?? '';
    const grantId = result?.consent?.grantId ?? session?.grantIdFor(clientId);
    const grant = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    if (grant === undefined || result?.consent !== undefined) {
      return grant;
    }
    const customerId = Number(session?.accountId);
    const role = (await directory.find(customerId))?.role ?? 'customer';
    const permitted: readonly string[] = permittedScopes(
      role,
      await approvals.isApproved(clientId, customerId),
    );
    const rejected = grant.getRejectedOIDCScope().split(' ');
    const requested = String(oidc.params?.scope ?? '').split(' ');
    return rejected.some((scope) => permitted.includes(scope) && requested.includes(scope))
      ? undefined
      : grant;
  }

  return {
    adapter,
    // The library needs a key, although no token is signed.
    jwks: {
      keys: [
        {
          ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
          alg: 'ES256',
          use: 'sig',
        } as never,
      ],
    },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: {
      keys: [Buffer.from(hkdfSync('sha256', secret, '', 'authorization cookies', 32)).toString('base64url')],
      names: {
        session: `${prefix}curd_session`,
        interaction: `${prefix}curd_interaction`,
        resume: `${prefix}curd_resume`,
      },
      long: { ...cookie, path: '/oauth' },
      short: cookie,
    },
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      introspection: '/oauth/introspect',
      jwks: '/oauth/jwks',
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        getResourceServerInfo(_ctx, resource) {
          if (resource !== mcpUrl) {
            throw new errors.InvalidTarget(unknownResource(mcpUrl));
          }
          return { scope: mcpScopes.join(' '), audience: resource, accessTokenFormat: 'opaque' };
        },
        useGrantedResource: () => true,
      },
      clientCredentials: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      introspection: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) =>
          client.clientAuthMethod !== 'none' && token.clientId === client.clientId,
      },
    },
    scopes: [...knownScopes],
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    extraClientMetadata: { properties: ['own_grants'] },
    extraParams: {
      // The library runs this check last, when it knows where to send an error. The parameter itself is not extra.
      async response_type({ req }) {
        const refusal = refusalOf(req);
        if (refusal?.error === 'unauthorized_client') {
          throw new errors.UnauthorizedClient('this application is not registered for this response_type');
        }
        if (refusal?.error === 'invalid_scope') {
          throw new errors.InvalidScope('the scope is not known, or not one of this resource', refusal.scope);
        }
        if (refusal?.error === 'invalid_target') {
          throw new errors.InvalidTarget('one resource can be requested, and not with response_type=token');
        }
      },
    },
    pkce: {
      required: ({ oidc }, client) =>
        (client.clientAuthMethod === 'none' || asksForAdmin(oidc.params?.scope as string | undefined)) &&
        oidc.params?.response_mode !== implicitMode,
    },
    ttl: {
      AuthorizationCode: lifetimes.code,
      AccessToken: (_ctx, token) =>
        token.gty === 'implicit'
          ? lifetimes.implicitToken
          : asksForAdmin(token.scope)
            ? lifetimes.adminToken
            : lifetimes.accessToken,
      ClientCredentials: (_ctx, token) =>
        asksForAdmin(token.scope) ? lifetimes.adminToken : lifetimes.accessToken,
      RefreshToken: (_ctx, token) => {
        const now = Math.floor(machineTime(clock) / 1000);
        const age = now - (token.iiat ?? now);
        const longest = asksForAdmin(token.scope) ? lifetimes.adminRefresh : lifetimes.refreshAbsolute;
        return Math.max(1, Math.min(lifetimes.refreshIdle, longest - age));
      },
      // Counted from the login: use of the session does not extend it.
      Session: (_ctx, session) => {
        const now = Math.floor(machineTime(clock) / 1000);
        const age = Math.max(0, now - (session.loginTs ?? now));
        return Math.max(1, lifetimes.browserSession - age);
      },
      Interaction: lifetimes.interaction,
      Grant: lifetimes.refreshAbsolute,
    },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    loadExistingGrant,
    async findAccount(_ctx, accountId) {
      const customer = await directory.find(Number(accountId));
      return customer === undefined ? undefined : { accountId, claims: async () => ({ sub: accountId }) };
    },
    interactions: { policy, url: (_ctx, interaction) => `/oauth/interaction/${interaction.uid}` },
    async renderError(ctx, out) {
      ctx.type = 'html';
      ctx.body = oauthErrorPage(page, out.error, out.error_description);
    },
    clientBasedCORS: () => true,
  };
}
