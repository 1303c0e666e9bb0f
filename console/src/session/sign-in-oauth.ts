/** Sign-in with a password, at the login page of the shop. */
import type { Tokens } from './credentials.ts';
import { handOver, pageOfWindow } from './sign-in-window.ts';
import { oauthTokenKey, pendingSignInKey, tokenStorage } from './token-storage.ts';

const origin = window.location.origin;
/** The consent page names these: what the screens of staff need, and what operators need. */
const scope = 'read:cheeses write:cheeses admin';

/** Whether this page continues a sign-in: it has tokens, returns from the login page, or is a window for a sign-in. */
export function isSigningIn(): boolean {
  const { searchParams } = new URL(window.location.href);
  const isReturning =
    sessionStorage.getItem(pendingSignInKey) !== null &&
    (searchParams.has('code') || searchParams.has('error'));
  return isReturning || sessionStorage.getItem(oauthTokenKey) !== null || pageOfWindow() !== null;
}

/**
 * Uses the tokens of this tab. Without tokens, leaves the page for the login of the shop and returns to the same URL.
 * @returns null if another page has received the tokens
 */
export async function signInByOAuth(): Promise<Tokens | null> {
  // Loaded when it is needed: a sign-in by link does without.
  const { signIn } = await import('../../../client/oauth/index.ts');
  const redirectUri = `${origin}/console/`;
  const options = { issuer: origin, clientId: 'console', redirectUri, scope, storage: tokenStorage };
  const { token, signOut } = await signIn(options);
  const page = pageOfWindow();
  if (page !== null && (await handOver(page, tokenStorage.getItem(oauthTokenKey) ?? ''))) {
    forgetTokens();
    return null;
  }
  return { current: token, end: signOut };
}

/** Makes the tokens those of this tab. */
export function receiveTokens(tokens: string): void {
  tokenStorage.setItem(oauthTokenKey, tokens);
}

/** Deletes the tokens in this tab. */
export function forgetTokens(): void {
  sessionStorage.clear();
  tokenStorage.removeItem(oauthTokenKey);
}
