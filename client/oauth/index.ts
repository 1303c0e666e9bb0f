/** OAuth 2.0: the sign-in of a person in a page, and tokens for servers. */
import * as oauth from 'oauth4webapi';
import { discover, isUsable, type Tokens, tokensOf } from './server.ts';

export type { TokenStorage } from '../browser/storage.ts';
export { SignInRequired } from './server.ts';
export { type Session, type SignInOptions, signIn } from './sign-in.ts';

export interface ClientCredentialsOptions {
  /** URL of the shop: `https://shop.example`. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

/** Tokens for an application that acts for itself: a function for the `token` option of `Curd`. */
export function clientCredentials(options: ClientCredentialsOptions): (refused?: string) => Promise<string> {
  let current: Promise<Tokens> | undefined;
  return async (refused) => {
    const earlier = current;
    const known = await earlier;
    // Another caller may have begun a request meanwhile: then all wait for that one.
    if (current === earlier && (known === undefined || !isUsable(known, refused))) {
      const next = requestTokens(options);
      current = next;
      next.catch(() => {
        if (current === next) {
          current = undefined;
        }
      });
    }
    return ((await current) as Tokens).accessToken;
  };
}

async function requestTokens({
  issuer,
  clientId,
  clientSecret,
  scope,
}: ClientCredentialsOptions): Promise<Tokens> {
  const { server, options } = await discover(issuer);
  const client: oauth.Client = { client_id: clientId };
  const secret = oauth.ClientSecretBasic(clientSecret);
  const response = await oauth.clientCredentialsGrantRequest(server, client, secret, { scope }, options);
  return tokensOf(await oauth.processClientCredentialsResponse(server, client, response));
}
