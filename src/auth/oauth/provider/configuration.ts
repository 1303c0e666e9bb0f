/** Parts of the configuration of oidc-provider: features, lifetimes, cookies, and when a page asks. */
import { hkdfSync } from 'node:crypto';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { mcpScopes } from '../../../access/mcp.ts';
import { type Clock, machineTime } from '../../../clock.ts';
import { consoleClientId } from '../clients.ts';
import type { CustomerDirectory } from '../customer-directory.ts';
import type { ScopeApprovals } from '../scope-approvals.ts';
import { permittedScopes } from '../scopes.ts';
import { findRefusal } from './authorize-request.ts';
import { implicitMode, unknownResource } from './provider-extensions.ts';

type Library = typeof import('oidc-provider');
type Part<Name extends keyof Configuration> = NonNullable<Configuration[Name]>;

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

export const asksForAdmin = (scope: string | undefined) => scope?.split(' ').includes('admin') ?? false;

export const routes: Part<'routes'> = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  jwks: '/oauth/jwks',
};

export function configureCookies(secret: string, issuer: string): Part<'cookies'> {
  const isHttps = issuer.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true, secure: isHttps } as const;
  const prefix = isHttps ? '__Secure-' : '';
  return {
    keys: [Buffer.from(hkdfSync('sha256', secret, '', 'authorization cookies', 32)).toString('base64url')],
    names: {
      session: `${prefix}curd_session`,
      interaction: `${prefix}curd_interaction`,
      resume: `${prefix}curd_resume`,
    },
    long: { ...cookie, path: '/oauth' },
    short: cookie,
  };
}

export function configureFeatures({ errors }: Library, mcpUrl: string | null): Part<'features'> {
  return {
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
  };
}

export function configureLifetimes(clock: Clock): Part<'ttl'> {
  return {
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
  };
}

/**
 * A check of what Curd adds to a request for authorization. The library runs it last, when it knows where to send an
 * error. The parameter itself, response_type, is not extra.
 */
export function checkExtensions({ errors }: Library) {
  return async ({ req }: KoaContextWithOIDC): Promise<void> => {
    const refusal = findRefusal(req);
    if (refusal?.error === 'unauthorized_client') {
      throw new errors.UnauthorizedClient('this application is not registered for this response_type');
    }
    if (refusal?.error === 'invalid_scope') {
      throw new errors.InvalidScope('the scope is not known, or not one of this resource', refusal.scope);
    }
    if (refusal?.error === 'invalid_target') {
      throw new errors.InvalidTarget('one resource can be requested, and not with response_type=token');
    }
  };
}

/** When the login page and the consent page are shown. */
export function createInteractionPolicy({ interactionPolicy }: Library) {
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
  return policy;
}

interface GrantDependencies {
  readonly directory: CustomerDirectory;
  readonly approvals: ScopeApprovals;
}

/** Loads the earlier grant, unless the customer may be granted more now: then the consent page is shown again. */
export function createGrantLoader({ directory, approvals }: GrantDependencies) {
  return async ({ oidc }: KoaContextWithOIDC) => {
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
  };
}
