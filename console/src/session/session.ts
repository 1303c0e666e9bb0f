/**
 * Who is signed in, and the client of the API with their rights. Tokens live in memory and in `sessionStorage`, which ends
 * with the tab. When they end, the screens stay and a dialog asks to sign in again. After 30 minutes without input the
 * page is locked: tokens and data are deleted.
 */
import { Curd, isCurdError } from '../../../client/src/index.ts';
import { shopCommand } from '../environment.ts';
import { Credentials, isSignInRequired, type Tokens } from './credentials.ts';
import { keepDraftsOf } from './drafts.ts';
import { watchInput } from './idle.ts';
import { needsApproval, type Person, readPerson } from './person.ts';
import {
  endOtherTabs,
  exchangeLink,
  forgetLink,
  linkInUrl,
  shareToken,
  storedTokens,
  tokensOfOtherTab,
} from './sign-in-link.ts';
import { forgetTokens, isSigningIn, receiveTokens, signInByOAuth } from './sign-in-oauth.ts';
import { openSignInWindow } from './sign-in-window.ts';

const origin = window.location.origin;
/** How long a sign-out waits for requests. */
const departureMs = 3000;
const expiredText = 'The sign-in has expired or was revoked. Sign in again.';

type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'signedOut'; readonly message: string | null }
  /** @param message why the last sign-in failed */
  | { readonly kind: 'locked'; readonly message: string | null }
  /** A window for a sign-in, which has done its work. */
  | { readonly kind: 'handedOver' }
  /** Staff whose scope admin an operator must approve. */
  | { readonly kind: 'waiting'; readonly curd: Curd; readonly person: Person }
  | {
      readonly kind: 'signedIn';
      readonly curd: Curd;
      readonly person: Person;
      /** Why the person must sign in again; null while the tokens are valid. */
      readonly expired: string | null;
    };

let state: SessionState = { kind: 'starting' };
let credentials: Credentials | null = null;
let restartIdleTime = () => {};
const listeners = new Set<() => void>();
const endings = new Set<() => void>();
const departures = new Set<() => Promise<unknown>>();

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
  /** Calls a function that sends what waits to be sent. A sign-out waits for it, for a moment. */
  beforeSignOut(departure: () => Promise<unknown>): void {
    departures.add(departure);
  },
};

function set(next: SessionState): void {
  state = next;
  for (const listener of listeners) {
    listener();
  }
}

function end(message: string | null): void {
  forgetTokens();
  keepDraftsOf(null);
  leave({ kind: 'signedOut', message });
}

/** Deletes the data of the session. */
function leave(next: SessionState): void {
  credentials?.close();
  credentials = null;
  for (const ending of endings) {
    ending();
  }
  set(next);
}

/** The tokens have ended: the screens stay. Returns whether requests wait for the next sign-in. */
function expire(): boolean {
  if (state.kind !== 'signedIn') {
    return false;
  }
  if (state.expired === null) {
    forgetTokens();
    set({ ...state, expired: expiredText });
  }
  return true;
}

/** Shows why a sign-in failed. */
function fail(error: unknown): void {
  const message = toMessage(error);
  if (state.kind === 'locked') {
    set({ kind: 'locked', message });
  } else if (state.kind === 'signedIn' && state.expired !== null) {
    set({ ...state, expired: message });
  } else {
    end(message);
  }
}

/** Continues the session of the same person, or begins another one. */
async function enter(tokens: Tokens): Promise<void> {
  const person = await readPerson(new Curd({ baseUrl: origin, token: tokens.current }));
  if (!person.mayWriteCheeses) {
    await new Credentials(tokens, () => false).end();
    throw new Error('Only staff of the shop can sign in to the console.');
  }
  restartIdleTime();
  if (state.kind === 'signedIn' && isSame(state.person, person)) {
    credentials?.replace(tokens);
    set({ ...state, person, expired: null });
    return;
  }
  if (state.kind === 'signedIn') {
    leave({ kind: 'starting' });
  }
  keepDraftsOf(person.id);
  credentials = new Credentials(tokens, expire);
  admit(new Curd({ baseUrl: origin, token: credentials.token }), person);
}

/** Staff who entered without the scope admin may wait for it still. */
const isSame = (one: Person, other: Person) =>
  one.id === other.id && needsApproval(one) === needsApproval(other);

/** Shows the screens, or what is missing. */
function admit(curd: Curd, person: Person): void {
  set(
    needsApproval(person)
      ? { kind: 'waiting', curd, person }
      : { kind: 'signedIn', curd, person, expired: null },
  );
}

/** Asks whether the request for the scope admin was decided. */
export async function checkApproval(): Promise<void> {
  const current = state;
  if (current.kind !== 'waiting') {
    return;
  }
  try {
    const person = await readPerson(current.curd);
    if (state !== current) {
      return;
    }
    if (person.mayWriteCheeses) {
      admit(current.curd, person);
    } else {
      await credentials?.end();
      end('Only staff of the shop can sign in to the console.');
    }
  } catch (error) {
    // The page keeps waiting while the server is away.
    onRefused(error);
  }
}

/** Opens the screens of staff without the scope admin. */
export function enterWithoutAdmin(): void {
  if (state.kind === 'waiting') {
    set({ ...state, kind: 'signedIn', expired: null });
  }
}

/** The sentence for people. Only faults of the server keep the request id in brackets, by which they are found. */
export function toMessage(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  if (isCurdError(error, 'connection_failed')) {
    return error.method === 'GET'
      ? 'The server does not respond.'
      : 'The server does not respond. It may have done this: look when it is back, and do it again if not.';
  }
  if (isCurdError(error) && error.status < 500) {
    return error.message.replace(/ \[[\w-]+\]$/, '');
  }
  // The authorization server says why it refused.
  const { error_description: description } = error as { error_description?: string };
  return description === undefined ? error.message : `The sign-in was refused: ${description}.`;
}

/** @param text what `curd console` prints */
export async function signInByLink(text: string): Promise<void> {
  try {
    await enter(await exchangeLink(text));
  } catch (error) {
    fail(error);
  }
}

/** Continues an earlier sign-in of this tab or of another one, or completes the one that begins with this page. */
export async function start(): Promise<void> {
  restartIdleTime = watchInput(lock);
  shareToken(() => void leaveTab());
  window.addEventListener('hashchange', () => {
    const link = linkInUrl();
    if (link !== null && !(state.kind === 'signedIn' && state.expired === null)) {
      void signInByLink(link);
    }
  });
  const link = linkInUrl();
  const stored = storedTokens();
  if (link !== null) {
    await signInByLink(link);
  } else if (stored !== null) {
    await enter(stored).catch(fail);
  } else if (isSigningIn()) {
    await enterByOAuth();
  } else {
    const shared = await tokensOfOtherTab();
    if (shared !== null) {
      await enter(shared).catch(fail);
    } else if (state.kind === 'starting') {
      set({ kind: 'signedOut', message: null });
    }
  }
}

/** Opens the login of the shop: in a window if this page has something to keep, else in place of the page. */
export function signInWithPassword(): void {
  if (!window.isSecureContext) {
    fail(new Error(`This needs https, or this machine. Use a link: ${shopCommand} console`));
  } else if (state.kind === 'signedOut') {
    void enterByOAuth();
  } else {
    const isOpen = openSignInWindow((tokens) => {
      receiveTokens(tokens);
      void enterByOAuth();
    });
    if (!isOpen) {
      fail(new Error('The browser has blocked the window. Allow windows of this page, or use a link.'));
    }
  }
}

async function enterByOAuth(): Promise<void> {
  try {
    const tokens = await signInByOAuth();
    if (tokens === null) {
      set({ kind: 'handedOver' });
      window.close();
    } else {
      await enter(tokens);
    }
  } catch (error) {
    fail(error);
  }
}

/** Ends the tokens at the server and in all tabs that have them. */
export async function signOut(): Promise<void> {
  endOtherTabs();
  await leaveTab();
}

async function leaveTab(): Promise<void> {
  const sent = Promise.allSettled([...departures].map((departure) => departure()));
  await Promise.race([sent, new Promise((resolve) => window.setTimeout(resolve, departureMs))]);
  await credentials?.end();
  end(null);
}

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
    credentials?.suspend();
    if (!expire()) {
      end(expiredText);
    }
  } else if (isCurdError(error, 'forbidden') && current.person.isAdmin) {
    void leaveWithoutAdmin(current.curd);
  }
}

/** Called after a refusal of what an operator may do: the approval may have expired. */
async function leaveWithoutAdmin(curd: Curd): Promise<void> {
  try {
    if (!(await readPerson(curd)).isAdmin) {
      await credentials?.end();
      end('The approval has ended. Sign in again to request another one.');
    }
  } catch (error) {
    onRefused(error);
  }
}

function lock(): void {
  if (state.kind === 'signedIn' || state.kind === 'waiting') {
    // Does not wait for the server. It removes the tokens of OAuth from this tab, too.
    void credentials?.end();
    forgetLink();
    leave({ kind: 'locked', message: null });
  }
}
