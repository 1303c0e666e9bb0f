/** What the authorization server offers beyond its library, by the library's public means. */
import type { KoaContextWithOIDC, default as Provider } from 'oidc-provider';
import type { ApprovalService } from './approvals.ts';
import { oauthErrorBody } from './error-body.ts';

type Module = typeof import('oidc-provider');

/** The response mode of the implicit flow, which no client can ask for by itself. */
export const implicitMode = 'x-implicit';

/** The implicit flow, client credentials that know approvals, and errors in both shapes. */
export function extendProvider(provider: Provider, library: Module, approvals: ApprovalService): void {
  addImplicitFlow(provider);
  addClientCredentials(provider, library, approvals);
  provider.use(keepAllowedOrigins);
  provider.use(addErrorShape);
}

/**
 * The implicit flow (RFC 6749, section 4.2), which the library does not have: endpoints.ts turns it into a code flow
 * with this response mode, and here the code becomes a token before it leaves the process.
 */
function addImplicitFlow(provider: Provider): void {
  const isOwn = (client: object) =>
    ((client as { own_grants?: string[] }).own_grants ?? []).includes('implicit');

  provider.registerResponseMode(implicitMode, async (ctx, redirectUri, payload) => {
    const out = new URLSearchParams();
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
      out.set('error', error ?? 'server_error');
      if (error_description !== undefined) {
        out.set('error_description', error_description);
      }
    } else if (!isOwn(client)) {
      out.set('error', 'unauthorized_client');
    } else {
      const scope = (code.scope ?? '')
        .split(' ')
        .filter((one) => one !== 'admin')
        .join(' ');
      const token = new provider.AccessToken({
        accountId: code.accountId,
        client,
        grantId: code.grantId,
        scope,
        gty: 'implicit',
      } as never);
      out.set('access_token', await token.save());
      out.set('token_type', 'Bearer');
      out.set('expires_in', String(token.expiration));
      out.set('scope', scope);
    }
    if (state !== undefined) {
      out.set('state', state);
    }
    if (iss !== undefined) {
      out.set('iss', iss);
    }
    ctx.status = 303;
    ctx.redirect(`${redirectUri}#${out}`);
    ctx.status = 303;
  });
}

/** The library's own would answer an unknown scope with a token without any, and knows nothing of approvals. */
function addClientCredentials(provider: Provider, { errors }: Module, approvals: ApprovalService): void {
  provider.registerGrantType(
    'client_credentials',
    async (ctx) => {
      const { client, params } = ctx.oidc;
      if (client === undefined) {
        throw new errors.InvalidClient('the application is not known');
      }
      const listed = (client.scope ?? '').split(' ');
      const asked = [
        ...new Set(String(params?.scope ?? listed.filter((scope) => scope !== 'admin').join(' ')).split(' ')),
      ];
      const refused = asked.filter((scope) => !listed.includes(scope));
      if (refused.length > 0) {
        throw new errors.InvalidScope(
          'the scope is not known, or not one of this application',
          refused.join(' '),
        );
      }
      const isApproved = !asked.includes('admin') || (await approvals.isApproved(client.clientId, null));
      if (!isApproved) {
        await approvals.request(client.clientId, null);
      }
      const granted = isApproved ? asked : asked.filter((scope) => scope !== 'admin');
      if (granted.join('') === '') {
        throw new errors.InvalidScope('admin waits for the approval of an operator', 'admin');
      }
      const token = new provider.ClientCredentials({ client, scope: granted.join(' ') });
      ctx.oidc.entity('ClientCredentials', token);
      ctx.body = {
        access_token: await token.save(),
        token_type: 'Bearer',
        expires_in: token.expiration,
        scope: token.scope,
      };
    },
    ['scope'],
  );
}

/** The library allows every origin. http/cors.ts has set the header already where the origin is permitted. */
async function keepAllowedOrigins(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const isAllowed = Boolean(ctx.response.get('Access-Control-Allow-Origin'));
  await next();
  if (!isAllowed) {
    ctx.remove('Access-Control-Allow-Origin');
  }
}

/** One body for both worlds: error and error_description of OAuth, and code, type and message of this API. */
async function addErrorShape(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  const body = ctx.body as { error?: string; error_description?: string } | null;
  if (ctx.status < 400 || typeof body !== 'object' || body?.error === undefined) {
    return;
  }
  let { error, error_description: description = error } = body;
  if (description === 'no client authentication mechanism provided') {
    error = 'invalid_client';
    description = 'client authentication is needed';
    ctx.status = 401;
  } else if (description === 'requested grant type is not allowed for this client') {
    error = 'unauthorized_client';
  }
  if (ctx.status === 401 && !ctx.response.get('WWW-Authenticate')) {
    ctx.set('WWW-Authenticate', `Basic realm="${ctx.oidc?.issuer ?? 'curd'}"`);
  }
  const { status } = ctx;
  ctx.body = { ...body, ...oauthErrorBody(error, description, status) };
  ctx.status = status;
}
