/**
 * Times of the objects of oidc-provider. The library reads the clock of the machine, and stored objects have the time of
 * the shop, which can be ahead: so times are shifted when an object is stored and when it is read.
 */
import type { AdapterPayload } from 'oidc-provider';

/** Members of objects that are times, in seconds since the epoch. A test finds new ones after an upgrade. */
export const timeMembers = ['iat', 'exp', 'nbf', 'iiat', 'loginTs', 'authTime', 'consumed'] as const;

/** Returns a copy with later times. */
export function shiftTimes<T extends Pick<AdapterPayload, 'kind'>>(payload: T, milliseconds: number): T {
  if (milliseconds === 0) {
    return payload;
  }
  const seconds = Math.round(milliseconds / 1000);
  const values = payload as Readonly<Record<string, unknown>>;
  const shifted = timeMembers
    .filter((name) => typeof values[name] === 'number')
    .map((name) => [name, (values[name] as number) + seconds]);
  return { ...payload, ...Object.fromEntries(shifted) };
}
