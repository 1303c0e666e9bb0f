/**
 * Who is signed in, and the client of the API with their rights. Tokens live in memory and in `sessionStorage`, which ends
 * with the tab. After 30 minutes without input the page is locked: tokens and data are deleted.
 */

import type { Session as OAuthSession } from '../../client/oauth/index.ts';
import { Curd, isCurdError, type Result, type TokenSource } from '../../client/src/index.ts';
import { oauthTokenKey, pendingSignInKey, tokenStorage } from './token-storage.ts';

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
  /** The request for the scope admin of a sign-in with a password. */
  readonly approval: Result<'explainCredential'>['approval'];
}

export type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'signedOut'; readonly message: string | null }
  | { readonly kind: 'locked' }
  /** Staff whose scope admin an operator must approve. */
  | { readonly kind: 'waiting'; readonly curd: Curd; readonly person: Person }
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
  tokenStorage.removeItem(oauthTokenKey);
  leave(next);
}

/** Deletes the data of the session. */
function leave(next: SessionState): void {
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
    await admit(curd, await readPerson(curd));
  } catch (error) {
    end({ kind: 'signedOut', message: messageOf(error) });
  }
}

/** Shows the screens, or what is missing. */
async function admit(curd: Curd, person: Person): Promise<void> {
  if (!person.mayWriteCheeses) {
    await endTokens();
    end({ kind: 'signedOut', message: 'Only staff of the shop can sign in to the console.' });
    return;
  }
  const isWaiting = !person.isAdmin && person.approval !== null && person.approval.status !== 'approved';
  set({ kind: isWaiting ? 'waiting' : 'signedIn', curd, person });
}

async function readPerson(curd: Curd): Promise<Person> {
  const who = await curd.credential.explain();
  const isAdmin = who.scopes.includes('admin');
  return {
    id: who.id,
    username: who.customer,
    isAdmin,
    mayWriteCheeses: isAdmin || who.scopes.includes('write:cheeses'),
    approval: who.approval,
  };
}

/** Asks whether the request for the scope admin was decided. */
export async function checkApproval(): Promise<void> {
  const current = state;
  if (current.kind !== 'waiting') {
    return;
  }
  try {
    const person = await readPerson(current.curd);
    if (state === current) {
      await admit(current.curd, person);
    }
  } catch (error) {
    // While the server is away, the page keeps waiting.
    onRefused(error);
  }
}

/** Opens the screens of staff without the scope admin. */
export function enterWithoutAdmin(): void {
  if (state.kind === 'waiting') {
    set({ ...state, kind: 'signedIn' });
  }
}

/** The sentence for people. Only faults of the server keep the request id in brackets, by which they are found. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  if (isCurdError(error) && error.status < 500) {
    return error.message.replace(/ \[[\w-]+\]$/, '');
  }
  // The authorization server says why it refused.
  const { error_description: description } = error as { error_description?: string };
  return description === undefined ? error.message : `The sign-in was refused: ${description}.`;
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
  const { searchParams } = new URL(window.location.href);
  const isReturning =
    sessionStorage.getItem(pendingSignInKey) !== null &&
    (searchParams.has('code') || searchParams.has('error'));
  const hasTokens = sessionStorage.getItem(oauthTokenKey) !== null;
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
    // Loaded when it is needed: a sign-in by link does without.
    const { signIn: signInByOAuth } = await import('../../client/oauth/index.ts');
    oauthSession = await signInByOAuth({
      issuer: origin,
      clientId: 'console',
      redirectUri: `${origin}/console/`,
      scope: scopes,
      storage: tokenStorage,
    });
    await enter(oauthSession.token);
  } catch (error) {
    end({ kind: 'signedOut', message: messageOf(error) });
  }
}

/** Ends the tokens at the server and in this tab. */
export async function signOut(): Promise<void> {
  await endTokens();
  end({ kind: 'signedOut', message: null });
}

async function endTokens(): Promise<void> {
  const current = state;
  const oauth = oauthSession;
  try {
    if (oauth !== null) {
      await oauth.signOut();
    } else if (current.kind === 'signedIn' || current.kind === 'waiting') {
      await current.curd.console.signOut();
    }
  } catch {
    // The token has ended already, or the server is away: it ends by itself.
  }
}

/** By its name, because the class belongs to code that is loaded when it is needed. */
const isSignInRequired = (error: unknown) => error instanceof Error && error.name === 'SignInRequired';

/** A request was refused because the token or its approval has ended. */
export function onRefused(error: unknown): void {
  const current = state;
  if (current.kind !== 'signedIn' && current.kind !== 'waiting') {
    return;
  }
  const hasEnded =
    isSignInRequired(error) ||
    (isCurdError(error) && (error.status === 401 || isSignInRequired(error.cause)));
  if (hasEnded) {
    end({ kind: 'signedOut', message: 'The sign-in has expired or was revoked. Sign in again.' });
  } else if (isCurdError(error, 'forbidden') && current.person.isAdmin) {
    void leaveWithoutAdmin(current.curd);
  }
}

/** After a refusal of what an operator may do: the approval may have expired. */
async function leaveWithoutAdmin(curd: Curd): Promise<void> {
  try {
    if (!(await readPerson(curd)).isAdmin) {
      await endTokens();
      end({ kind: 'signedOut', message: 'The approval has ended. Sign in again to request another one.' });
    }
  } catch (error) {
    onRefused(error);
  }
}

function watchInput(): void {
  let lastInput = Date.now();
  let timer: number | undefined;

  function lock(): void {
    if (state.kind === 'signedIn' || state.kind === 'waiting') {
      // Without waiting for the server. It removes the tokens of OAuth from this tab, too.
      void endTokens();
      sessionStorage.removeItem(tokenKey);
      leave({ kind: 'locked' });
    }
  }

  function restart(): void {
    // A computer that slept may not have run the timer yet.
    if (Date.now() - lastInput >= lockAfterMs) {
      lock();
    }
    lastInput = Date.now();
    window.clearTimeout(timer);
    timer = window.setTimeout(lock, lockAfterMs);
  }

  for (const type of ['pointerdown', 'keydown', 'scroll']) {
    window.addEventListener(type, restart, { passive: true, capture: true });
  }
  restart();
}
