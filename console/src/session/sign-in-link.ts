/** Sign-in by a link that `curd console` prints. It works once, and its token ends with the tab. */
import { Curd } from '../../../client/src/index.ts';
import { shopCommand } from '../environment.ts';
import { signInRequired, type Tokens } from './credentials.ts';

const origin = window.location.origin;
const tokenKey = 'curd.console.token';

function tokensOf(accessToken: string): Tokens {
  return {
    current(refused) {
      if (refused === accessToken) {
        throw signInRequired();
      }
      return accessToken;
    },
    end: () => new Curd({ baseUrl: origin, token: accessToken }).console.signOut(),
  };
}

/** Takes the link from the URL at once, so that it is not bookmarked or sent. */
export function linkInUrl(): string | null {
  const link = /^#link=([\w-]+)$/.exec(window.location.hash)?.[1];
  if (link === undefined) {
    return null;
  }
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return link;
}

/** The tokens of an earlier sign-in of this tab; null without one. */
export function storedTokens(): Tokens | null {
  const stored = sessionStorage.getItem(tokenKey);
  return stored === null ? null : tokensOf(JSON.parse(stored).accessToken);
}

/** @param text what the command prints, or the characters after `#link=` */
export async function exchangeLink(text: string): Promise<Tokens> {
  const link = /(?:^|#link=)([\w-]{43})$/.exec(text.trim())?.[1];
  if (link === undefined) {
    throw new Error(`This is not a link of the console. Run "${shopCommand} console", and copy all of it.`);
  }
  const token = await new Curd({ baseUrl: origin, maxRetries: 0 }).console.signIn({ link });
  sessionStorage.setItem(tokenKey, JSON.stringify(token));
  return tokensOf(token.accessToken);
}

/** Deletes the token in this tab. */
export function forgetLink(): void {
  sessionStorage.removeItem(tokenKey);
}
