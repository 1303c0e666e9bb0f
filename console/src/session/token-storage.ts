/**
 * Stores the tokens of a sign-in with a password: the access token in memory, the refresh token in `sessionStorage`, so
 * that the sign-in survives a reload and ends with the tab.
 */
import type { TokenStorage } from '../../../client/oauth/index.ts';

export const oauthTokenKey = 'curd.tokens.console';
/** Set while the visitor is at the login page. */
export const pendingSignInKey = 'curd.sign-in.console';

interface AccessToken {
  readonly accessToken: string;
  readonly expiresAt: number;
}

/** Used after a reload: the refresh token replaces it before the first request. */
const noAccessToken: AccessToken = { accessToken: '', expiresAt: 0 };
let inMemory = noAccessToken;

export const tokenStorage: TokenStorage = {
  getItem(key) {
    const stored = sessionStorage.getItem(key);
    return stored === null || key !== oauthTokenKey
      ? stored
      : JSON.stringify({ ...JSON.parse(stored), ...inMemory });
  },
  setItem(key, value) {
    if (key !== oauthTokenKey) {
      sessionStorage.setItem(key, value);
      return;
    }
    const { accessToken, expiresAt, refreshToken } = JSON.parse(value);
    inMemory = { accessToken, expiresAt };
    sessionStorage.setItem(key, JSON.stringify({ refreshToken }));
  },
  removeItem(key) {
    if (key === oauthTokenKey) {
      inMemory = noAccessToken;
    }
    sessionStorage.removeItem(key);
  },
};
