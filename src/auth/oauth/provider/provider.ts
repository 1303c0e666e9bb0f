/**
 * The authorization server: oidc-provider, configured to what is offered of OAuth 2.0. Loading it takes half a second and
 * 50 MB, so the first request to it loads it.
 */
import { generateKeyPairSync, hash, timingSafeEqual } from 'node:crypto';
import type { Configuration, default as Provider } from 'oidc-provider';
import { scopes as knownScopes } from '../../../access/access.ts';
import type { Clock } from '../../../clock.ts';
import type { Database } from '../../../database/database.ts';
import type { Log } from '../../../log.ts';
import type { ConsoleClient } from '../console-client.ts';
import type { CustomerDirectory } from '../customer-directory.ts';
import { oauthErrorPage, type PageLayout } from '../pages/pages.ts';
import type { ScopeApprovals } from '../scope-approvals.ts';
import { createAdapters } from './adapter.ts';
import {
  asksForAdmin,
  checkExtensions,
  configureCookies,
  configureFeatures,
  configureLifetimes,
  createGrantLoader,
  createInteractionPolicy,
  routes,
} from './configuration.ts';
import { extendProvider, implicitMode, noteFailure } from './provider-extensions.ts';
import { createRotations } from './rotation.ts';

export interface ProviderDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly directory: CustomerDirectory;
  readonly approvals: ScopeApprovals;
  /** null if this server has no console. */
  readonly consoleClient: ConsoleClient | null;
  readonly page: PageLayout;
  readonly secret: string;
  /** The public URL of this server, without /v2. */
  readonly issuer: string;
  /** The URL of the MCP endpoint, for which tokens can be requested; null if this server has none. */
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
  provider.on('grant.error', (ctx, { error, error_description, error_detail, cause }) => {
    const reason = error_detail ?? (cause instanceof Error ? cause.message : null);
    if (error === 'invalid_grant' && reason !== null) {
      ctx.body = { error, error_description: `${error_description}: ${reason}` };
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
  const { clock, directory, page, secret, issuer, mcpUrl } = dependencies;
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
    cookies: configureCookies(secret, issuer),
    routes,
    features: configureFeatures(library, mcpUrl),
    scopes: [...knownScopes],
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    extraClientMetadata: { properties: ['own_grants'] },
    extraParams: { response_type: checkExtensions(library) },
    pkce: {
      required: ({ oidc }, client) =>
        (client.clientAuthMethod === 'none' || asksForAdmin(oidc.params?.scope as string | undefined)) &&
        oidc.params?.response_mode !== implicitMode,
    },
    ttl: configureLifetimes(clock),
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    loadExistingGrant: createGrantLoader(dependencies),
    async findAccount(_ctx, accountId) {
      const customer = await directory.find(Number(accountId));
      return customer === undefined ? undefined : { accountId, claims: async () => ({ sub: accountId }) };
    },
    interactions: {
      policy: createInteractionPolicy(library),
      url: (_ctx, interaction) => `/oauth/interaction/${interaction.uid}`,
    },
    async renderError(ctx, out) {
      ctx.type = 'html';
      ctx.body = oauthErrorPage(page, out.error, out.error_description);
    },
    clientBasedCORS: () => true,
  };
}
