/**
 * Who is signed in, and the client of the API with their rights. Tokens live in memory and in `sessionStorage`, which ends
 * with the tab. After 30 minutes without input the page is locked: tokens and data are deleted.
 */

import { type Session as OAuthSession, signIn as signInByOAuth } from '../../client/oauth/index.ts';
import { Curd, isCurdError, type TokenSource } from '../../client/src/index.ts';

const lockAfterMs = 30 * 60_000;
const tokenKey = 'curd.console.token';
const scopes = 'read:cheeses write:cheeses read:orders write:orders read:profile write:profile admin';

/** A token of a sign-in by link. */
interface LinkToken {
  readonly accessToken: string;
  readonly expiresAt: string;
}

export interface Person {
  /** The actor in events: `client:console`, or with the customer. */
  readonly id: string;
  /** The username; null for a sign-in by link. */
  readonly username: string | null;
  readonly isAdmin: boolean;
  readonly mayWriteCheeses: boolean;
}

export type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'signedOut'; readonly message: string | null }
  | { readonly kind: 'locked' }
  | { readonly kind: 'signedIn'; readonly curd: Curd; readonly person: Person };

let state: SessionState = { kind: 'starting' };
let oauthSession: OAuthSession | null = null;
const listeners = new Set<() => void>();
const endings = new Set<() => void>();

export const session = {
  get: (): SessionState => state,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  /** Calls a function when the data of the session must be deleted. */
  onEnd(ending: () => void): void {
    endings.add(ending);
  },
};

function set(next: SessionState): void {
  state = next;
  for (const listener of listeners) {
    listener();
  }
}

function end(next: SessionState): void {
  sessionStorage.clear();
  oauthSession = null;
  for (const ending of endings) {
    ending();
  }
  set(next);
}

const origin = window.location.origin;

async function enter(token: TokenSource): Promise<void> {
  const curd = new Curd({ baseUrl: origin, token });
  try {
    const who = await curd.credential.explain();
    set({
      kind: 'signedIn',
      curd,
      person: {
        id: who.id,
        username: who.customer,
        isAdmin: who.scopes.includes('admin'),
        mayWriteCheeses: who.scopes.includes('admin') || who.scopes.includes('write:cheeses'),
      },
    });
  } catch (error) {
    end({ kind: 'signedOut', message: messageOf(error) });
  }
}

/** The sentence for people, without the request id in brackets. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Takes the link from the URL at once, so that it is not bookmarked or sent. */
function linkInUrl(): string | null {
  const link = /^#link=([\w-]+)$/.exec(window.location.hash)?.[1];
  if (link === undefined) {
    return null;
  }
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return link;
}

async function signInByLink(link: string): Promise<void> {
  try {
    const token = await new Curd({ baseUrl: origin, maxRetries: 0 }).console.signIn({ link });
    sessionStorage.setItem(tokenKey, JSON.stringify(token));
    await enter(() => token.accessToken);
  } catch (error) {
    end({ kind: 'signedOut', message: messageOf(error) });
  }
}

/** Continues an earlier sign-in of this tab, or completes the one that begins with this page. */
export async function start(): Promise<void> {
  watchInput();
  const link = linkInUrl();
  if (link !== null) {
    await signInByLink(link);
    return;
  }
  const stored = sessionStorage.getItem(tokenKey);
  if (stored !== null) {
    const { accessToken } = JSON.parse(stored) as LinkToken;
    await enter(() => accessToken);
    return;
  }
  const isReturning = new URL(window.location.href).searchParams.has('state');
  const hasTokens = sessionStorage.getItem('curd.tokens.console') !== null;
  if (isReturning || hasTokens) {
    await signInWithPassword();
    return;
  }
  set({ kind: 'signedOut', message: null });
}

/** Leaves the page for the login of the shop, and returns to the same URL. */
export async function signInWithPassword(): Promise<void> {
  if (!window.isSecureContext) {
    set({
      kind: 'signedOut',
      message: 'This needs https, or this machine. Use a link: npx curd console',
    });
    return;
  }
  try {
    oauthSession = await signInByOAuth({
      issuer: origin,
      clientId: 'console',
      redirectUri: `${origin}/console/`,
      scope: scopes,
    });
    await enter(oauthSession.token);
  } catch (error) {
    end({ kind: 'signedOut', message: messageOf(error) });
  }
}

/** Ends the tokens at the server and in this tab. */
export async function signOut(): Promise<void> {
  const current = state;
  const oauth = oauthSession;
  try {
    if (oauth !== null) {
      await oauth.signOut();
    } else if (current.kind === 'signedIn') {
      await current.curd.console.signOut();
    }
  } catch {
    // The token has ended already, or the server is away: it ends by itself.
  }
  end({ kind: 'signedOut', message: null });
}

/** A request was refused because the token or its approval has ended. */
export function onRefused(error: unknown): void {
  if (isCurdError(error) && error.status === 401 && state.kind === 'signedIn') {
    end({ kind: 'signedOut', message: 'The sign-in has ended. Sign in again.' });
  }
}

function watchInput(): void {
  let timer: number | undefined;
  const restart = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (state.kind === 'signedIn') {
        end({ kind: 'locked' });
      }
    }, lockAfterMs);
  };
  for (const type of ['pointerdown', 'keydown', 'scroll']) {
    window.addEventListener(type, restart, { passive: true, capture: true });
  }
  restart();
}
