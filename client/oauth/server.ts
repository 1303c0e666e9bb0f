/** The authorization server of a shop, and the tokens that it issues. */
import * as oauth from 'oauth4webapi';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A token is replaced so long before it expires, because the next request takes a moment. */
const earlyMs = 60_000;

/** A request needs a sign-in: no one is signed in, or the sign-in has expired or was revoked. */
export class SignInRequired extends Error {
  override name = 'SignInRequired';
}

/**
 * Reads the metadata of the server (RFC 8414).
 * @internal
 */
export async function discover(issuer: string) {
  const url = new URL(issuer);
  // Without TLS on this machine only.
  const options = { [oauth.allowInsecureRequests]: /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname) };
  const response = await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...options });
  return { server: await oauth.processDiscoveryResponse(url, response), options };
}

/** @internal */
export function tokensOf(response: oauth.TokenEndpointResponse): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds = 0 } = response;
  return { accessToken, refreshToken, expiresAt: Date.now() + seconds * 1000 };
}

/** @param refused a token that the API refused as invalid: it was revoked, or the clock here is slow */
export function isUsable(tokens: Tokens, refused: string | undefined): boolean {
  return tokens.accessToken !== refused && tokens.expiresAt - earlyMs > Date.now();
}
