/** Tokens of links for a new password: 256 random bits, of which only the SHA-256 is stored. */
import { hash } from 'node:crypto';
import type { Clock } from '../../clock.ts';

export const resetLifetimeMs = 30 * 60_000;

export function makeResetToken(clock: Clock): string {
  return Buffer.from(clock.random(32)).toString('base64url');
}

/** The stored form. */
export function hashResetToken(token: string): string {
  return hash('sha256', token);
}

/** @param base the public URL of the server. The token is in the path, because a page without scripts reads no fragment. */
export function resetUrl(base: string, token: string): string {
  return `${base}/oauth/password-reset/${token}`;
}
