/**
 * Sign-in by a link that `curd console` prints. It works once. Its token is in `sessionStorage`, which ends with the tab. A
 * new tab gets it from an open one, so that it need not be stored where it would survive the browser.
 */
import { Curd } from '../../../client/src/index.ts';
import { shopCommand } from '../environment.ts';
import { signInRequired, type Tokens } from './credentials.ts';

const origin = window.location.origin;
const tokenKey = 'curd.console.token';
/** Messages between tabs: a new one asks, the others give their token, and one that signs out names what has ended. */
const channel = new BroadcastChannel('curd.console.session');
/** How long a new tab waits for the open ones. */
const answerMs = 300;

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

/** The tokens of a tab that is signed in by link and not locked; null if there is none. */
export async function tokensOfOtherTab(): Promise<Tokens | null> {
  const listening = new AbortController();
  const stored = await new Promise<string | null>((resolve) => {
    const receive = ({ data: { given } }: MessageEvent) => given !== undefined && resolve(given);
    channel.addEventListener('message', receive, listening);
    window.setTimeout(resolve, answerMs, null);
    channel.postMessage({ isAsking: true });
  });
  listening.abort();
  if (stored === null) {
    return null;
  }
  sessionStorage.setItem(tokenKey, stored);
  return storedTokens();
}

/** Gives the token to new tabs. @param onEnd called when another tab has signed out of the same session */
export function shareToken(onEnd: () => void): void {
  channel.onmessage = ({ data: { isAsking, ended } }) => {
    // There is none while the page is locked or signed in with a password.
    const stored = sessionStorage.getItem(tokenKey);
    if (stored !== null && isAsking) {
      channel.postMessage({ given: stored });
    } else if (stored !== null && ended === stored) {
      onEnd();
    }
  };
}

/** Signs the other tabs of the same session out. */
export function endOtherTabs(): void {
  const ended = sessionStorage.getItem(tokenKey);
  if (ended !== null) {
    channel.postMessage({ ended });
  }
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
