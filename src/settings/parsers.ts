/** Reads the text of single settings, and says in a sentence what to set instead where it cannot be used. */
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { parseDuration } from '../duration.ts';
import type { settings } from './table.ts';

export const environments = ['local', 'sandbox', 'production'] as const;
export type Environment = (typeof environments)[number];

/** US dollars of delivered orders from which a customer is in a tier; below the first it is bronze. */
export interface TierThresholds {
  readonly silver: number;
  readonly gold: number;
  readonly platinum: number;
}

/** What a plan permits: requests an hour, null for any number, and requests a second. */
export interface PlanLimits {
  readonly perHour: number | null;
  readonly burst: number;
}

/**
 * Requests a minute from one client IP without a valid credential: of any kind, to log in or register, and to public
 * paths such as pages and images.
 */
export interface ClientIpLimits {
  readonly perMinute: number;
  readonly accountsPerMinute: number;
  readonly publicPerMinute: number;
}

/** Failed logins that are let through: of a username from an address, of an address, of a username. */
export interface LoginLimits {
  readonly pair: number;
  readonly address: number;
  readonly username: number;
}

export type DatabaseLocation =
  | { readonly engine: 'sqlite'; readonly file: string }
  | { readonly engine: 'postgres'; readonly url: string };

export type ImageLocation =
  | { readonly kind: 'folder'; readonly folder: string }
  /** The prefix ends in a slash, or is empty. */
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string };

export type Variable = (typeof settings)[number]['variable'];

/** A setting that cannot be used, with a sentence that says what to set instead. */
export class ConfigError extends Error {}

/** @throws ConfigError */
export function parseEnum<const T extends string>(
  variable: Variable,
  value: string,
  allowed: readonly T[],
): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) {
    throw new ConfigError(`${variable} is "${value}": set it to one of ${allowed.join(', ')}.`);
  }
  return found;
}

/** @throws ConfigError */
export function parseInteger(variable: Variable, text: string, least: number, most: number): number {
  const number = Number(text);
  if (!/^\d{1,15}$/.test(text) || number < least || number > most) {
    throw new ConfigError(`${variable} is "${text}": set it to a number from ${least} to ${most}.`);
  }
  return number;
}

/** Milliseconds. @throws ConfigError */
export function parseDurationSetting(variable: Variable, text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === null) {
    throw new ConfigError(
      `${variable} is "${text}": set it to a whole number and a unit, such as 500ms, 5s or 2d.`,
    );
  }
  return milliseconds;
}

/** Milliseconds that a timer can count. @throws ConfigError */
export function parseTimeout(variable: Variable, text: string): number {
  const milliseconds = parseDurationSetting(variable, text);
  if (milliseconds < 1 || milliseconds > timeoutMsMax) {
    throw new ConfigError(`${variable} is "${text}": set it to something from 1ms to 24h.`);
  }
  return milliseconds;
}

const timeoutMsMax = 24 * 60 * 60 * 1000;

/** A JSON object of numbers, laid over the defaults. @throws ConfigError */
export function parseNumberMap<T extends object>(
  variable: Variable,
  text: string | undefined,
  defaults: T,
): T {
  if (text === undefined) {
    return defaults;
  }
  const given = jsonObject(variable, text);
  const isFit = ([name, value]: [string, unknown]) =>
    Object.hasOwn(defaults, name) && typeof value === 'number' && value >= 0;
  if (!Object.entries(given).every(isFit)) {
    throw new ConfigError(`${variable} is "${text}": set it to JSON such as ${JSON.stringify(defaults)}.`);
  }
  return { ...defaults, ...given };
}

/** @throws ConfigError */
function jsonObject(variable: Variable, text: string): Readonly<Record<string, unknown>> {
  try {
    const given = JSON.parse(text);
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) {
      return given;
    }
  } catch {
    // Said below.
  }
  throw new ConfigError(`${variable} is "${text}": set it to a JSON object.`);
}

/** An http or https address without a trailing slash. @throws ConfigError */
export function parseUrl(variable: Variable, text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new ConfigError(`${variable} is "${text}": set it to an http or https address without a query.`);
  }
  return url.href.replace(/\/$/, '');
}

/** `*`, or what browsers send as Origin. @throws ConfigError */
export function parseOrigins(text: string): string[] {
  const origins = text.split(',').map((origin) => origin.trim());
  const wrong = origins.find((origin) => origin !== '*' && URL.parse(origin)?.origin !== origin);
  if (wrong !== undefined) {
    throw new ConfigError(
      `CURD_CORS_ORIGINS holds "${wrong}": set it to * or to origins such as https://shop.example.`,
    );
  }
  return origins;
}

/** @throws ConfigError */
export function parseProxies(text: string): string[] {
  if (text === 'none') {
    return [];
  }
  const proxies = text.split(',').map((one) => one.trim());
  for (const proxy of proxies) {
    const [address = '', bits = '0', ...rest] = proxy.split('/');
    const widest = isIP(address) === 6 ? 128 : 32;
    if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > widest || rest.length > 0) {
      throw new ConfigError(
        `CURD_TRUSTED_PROXIES holds "${proxy}": set it to addresses or networks such as 10.0.0.0/8.`,
      );
    }
  }
  return proxies;
}

/** @throws ConfigError */
export function parseTiers(text: string | undefined): TierThresholds {
  const tiers = parseNumberMap('CURD_TIERS', text, { silver: 500, gold: 2000, platinum: 10_000 });
  if (tiers.silver > tiers.gold || tiers.gold > tiers.platinum) {
    throw new ConfigError('CURD_TIERS must rise from silver over gold to platinum.');
  }
  return tiers;
}

/** @throws ConfigError */
export function parsePlans(
  text: string | undefined,
  environment: Environment,
): Readonly<Record<string, PlanLimits>> {
  const factor = environment === 'sandbox' ? 10 : 1;
  const plans: Record<string, PlanLimits> = {
    free: { perHour: 100 * factor, burst: 10 * factor },
    pro: { perHour: 10_000 * factor, burst: 100 * factor },
    enterprise: { perHour: null, burst: 1000 * factor },
  };
  for (const [name, limits] of Object.entries(jsonObject('CURD_PLANS', text ?? '{}'))) {
    const { perHour, burst, ...rest } = { ...plans[name], ...(limits as Partial<PlanLimits>) };
    const isObject = typeof limits === 'object' && limits !== null && !Array.isArray(limits);
    const isName = /^[a-z][a-z\d_-]{0,49}$/.test(name);
    const isQuota = perHour === null || isCount(perHour);
    if (
      !isObject ||
      !isName ||
      !isQuota ||
      !isCount(burst) ||
      burst > countedMax ||
      Object.keys(rest).length > 0
    ) {
      throw new ConfigError(
        `CURD_PLANS is wrong at "${name}": set each plan to {"perHour": 1 to 1000000000 or null, "burst": 1 to ${countedMax}}.`,
      );
    }
    plans[name] = { perHour, burst };
  }
  return plans;
}

/** Of requests in a second: http/sliding-window.ts has two bytes for them. */
const countedMax = 60_000;

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1_000_000_000;
}

/** @throws ConfigError */
export function parseClientIpLimits(text: string | undefined, environment: Environment): ClientIpLimits {
  const perMinute = { production: 600, sandbox: 6000, local: 60_000 }[environment];
  const accountsPerMinute = environment === 'production' ? 60 : perMinute;
  const publicPerMinute = environment === 'production' ? 6000 : 60_000;
  const limits = parseNumberMap('CURD_ADDRESS_LIMITS', text, {
    perMinute,
    accountsPerMinute,
    publicPerMinute,
  });
  if (!Object.values(limits).every((one) => isCount(one) && one <= countedMax)) {
    throw new ConfigError(`CURD_ADDRESS_LIMITS is "${text}": set whole numbers from 1 to ${countedMax}.`);
  }
  return limits;
}

/** @throws ConfigError */
export function parseLoginLimits(text: string | undefined, environment: Environment): LoginLimits {
  const factor = environment === 'local' ? 10 : 1;
  return parseNumberMap('CURD_LOGIN_LIMITS', text, {
    pair: 10 * factor,
    address: 100 * factor,
    username: 100 * factor,
  });
}

/** @throws ConfigError */
export function parseDatabase(
  text: string | undefined,
  dataDir: string,
  name = 'CURD_DATABASE',
): DatabaseLocation {
  if (text === undefined) {
    return { engine: 'sqlite', file: join(dataDir, 'curd.sqlite') };
  }
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length) {
    return { engine: 'sqlite', file: resolve(text.slice('sqlite:'.length)) };
  }
  // Several servers, of which one is the primary, stand in one address: postgres://one:5432,two:5432/name.
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace(/(:\d+)?,[^/?]*/, ''))) {
    return { engine: 'postgres', url: text };
  }
  throw new ConfigError(
    `${name} is not understood: set it to sqlite:<file> or postgres://user:password@host/name.`,
  );
}

/** Whether a host name, or that of a URL, is the machine itself. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]', '::1'].includes(hostname);
}

/** @throws ConfigError */
export function parsePublicUrl(text: string | undefined, environment: Environment): string | null {
  if (text === undefined) {
    if (environment === 'production') {
      throw new ConfigError(
        'CURD_PUBLIC_URL is not set: production needs the https address at which clients reach it.',
      );
    }
    return null;
  }
  const url = new URL(parseUrl('CURD_PUBLIC_URL', text));
  if (environment === 'production' && url.protocol !== 'https:' && !isLoopback(url.hostname)) {
    throw new ConfigError(
      `CURD_PUBLIC_URL is "${text}": production needs https, unless the address is loopback.`,
    );
  }
  return url.href.replace(/\/$/, '');
}

/** @throws ConfigError */
export function parseImages(text: string | undefined, dataDir: string, name = 'CURD_IMAGES'): ImageLocation {
  if (text === undefined) {
    return { kind: 'folder', folder: join(dataDir, 'images') };
  }
  if (text.startsWith('file:') && text.length > 'file:'.length) {
    return { kind: 'folder', folder: resolve(text.slice('file:'.length)) };
  }
  const [, bucket, path = ''] =
    /^s3:\/\/([a-z\d][a-z\d.-]{1,61}[a-z\d])(?:\/([\w!.*'()/-]{0,512}))?$/.exec(text) ?? [];
  if (bucket === undefined) {
    throw new ConfigError(`${name} is "${text}": set it to file:<folder> or s3://bucket/prefix.`);
  }
  return { kind: 'bucket', bucket, prefix: path.replace(/([^/])$/, '$1/') };
}
