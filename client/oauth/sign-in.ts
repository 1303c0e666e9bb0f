/** The sign-in of a person in a page: authorization code with PKCE (RFC 6749, RFC 7636). */
import * as oauth from 'oauth4webapi';
import { storageEntry, type TokenStorage } from '../browser/storage.ts';
import { discover, isUsable, SignInRequired, type Tokens, tokensOf } from './server.ts';

export interface SignInOptions {
  /** URL of the shop: `https://shop.example`. */
  readonly issuer: string;
  /** Of a public application, registered with `curd clients create --public`. */
  readonly clientId: string;
  /** The page that calls `signIn`. */
  readonly redirectUri: string;
  readonly scope: string;
  /** `sessionStorage` by default: for one tab. With `localStorage`, the tabs of a browser share the sign-in. */
  readonly storage?: TokenStorage | undefined;
}

export interface Session {
  /** The current token: the `token` option of `Curd`. @throws SignInRequired */
  readonly token: (refused?: string) => Promise<string>;
  /** Revokes all tokens of this sign-in. */
  readonly signOut: () => Promise<void>;
}

/** What must survive the redirect to the server and back. */
interface Pending {
  readonly state: string;
  readonly verifier: string;
  /** The URL of the page before the redirect. */
  readonly returnTo: string;
}

/** The part of a page that is used here: servers have no such types. */
interface Page {
  readonly location: { readonly href: string; assign(url: string): void };
  readonly history: { replaceState(data: null, unused: string, url: string): void };
  readonly sessionStorage: TokenStorage;
  readonly navigator: {
    readonly locks?: { request<T>(name: string, run: () => Promise<T>): Promise<T> };
  };
}

/**
 * Signs a person in. Leaves the page for that, and completes the sign-in when the page is called again after it. Returns
 * at once if somebody is signed in already.
 * @throws AuthorizationResponseError of oauth4webapi when the person refuses
 */
export async function signIn(options: SignInOptions): Promise<Session> {
  const { issuer, clientId, redirectUri, scope } = options;
  const { location, history, sessionStorage, navigator } = globalThis as unknown as Page;
  const storage = options.storage ?? sessionStorage;
  const pending = storageEntry<Pending>(storage, `curd.sign-in.${clientId}`);
  const tokens = storageEntry<Tokens>(storage, `curd.tokens.${clientId}`);
  const client: oauth.Client = { client_id: clientId };
  const url = new URL(location.href);

  const begun = pending.read();
  if (begun !== null && url.searchParams.get('state') === begun.state) {
    // The code is removed from the URL before it is used: it must not be bookmarked or sent to others.
    pending.remove();
    history.replaceState(null, '', begun.returnTo);
    const { server, options: insecure } = await discover(issuer);
    const parameters = oauth.validateAuthResponse(server, client, url, begun.state);
    const { verifier } = begun;
    const none = oauth.None();
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      none,
      parameters,
      redirectUri,
      verifier,
      insecure,
    );
    tokens.write(tokensOf(await oauth.processAuthorizationCodeResponse(server, client, response)));
  } else if (tokens.read() === null) {
    const { server } = await discover(issuer);
    const state = oauth.generateRandomState();
    const verifier = oauth.generateRandomCodeVerifier();
    pending.write({ state, verifier, returnTo: location.href });
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    location.assign(`${server.authorization_endpoint}?${query}`);
    // The page ends here.
    return new Promise(() => {});
  }

  /** One at a time, in all tabs: a refresh token can be used once. Pages without https have no locks. */
  const exclusively = <T>(run: () => Promise<T>) =>
    navigator.locks?.request(`curd.tokens.${clientId}`, run) ?? run();

  async function refresh(refused: string | undefined): Promise<string> {
    const current = tokens.read();
    // Another tab may have refreshed it meanwhile.
    if (current !== null && isUsable(current, refused)) {
      return current.accessToken;
    }
    if (current?.refreshToken === undefined) {
      tokens.remove();
      throw new SignInRequired('Nobody is signed in. Call signIn.');
    }
    const { server, options: insecure } = await discover(issuer);
    try {
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        oauth.None(),
        current.refreshToken,
        insecure,
      );
      const next = tokensOf(await oauth.processRefreshTokenResponse(server, client, response));
      tokens.write({ ...next, refreshToken: next.refreshToken ?? current.refreshToken });
      return next.accessToken;
    } catch (error) {
      if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') {
        tokens.remove();
        throw new SignInRequired('The sign-in has expired or was revoked. Call signIn.', { cause: error });
      }
      throw error;
    }
  }

  return {
    token: async (refused) => {
      const current = tokens.read();
      return current !== null && isUsable(current, refused)
        ? current.accessToken
        : exclusively(() => refresh(refused));
    },
    signOut: () =>
      exclusively(async () => {
        const current = tokens.read();
        tokens.remove();
        if (current !== null) {
          const { server, options: insecure } = await discover(issuer);
          // With a refresh token, the server revokes all tokens of the sign-in.
          const token = current.refreshToken ?? current.accessToken;
          await oauth.processRevocationResponse(
            await oauth.revocationRequest(server, client, oauth.None(), token, insecure),
          );
        }
      }),
  };
}
