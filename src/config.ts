/** The settings as the rest of the program sees them. settings.ts lists them; nothing else reads `process.env`. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { parseDuration } from './duration.ts';
import type { settings } from './settings.ts';

export type Environment = 'local' | 'sandbox' | 'production';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** US dollars of delivered orders from which a customer is in a tier; below the first it is bronze. */
export interface TierThresholds {
  readonly silver: number;
  readonly gold: number;
  readonly platinum: number;
}

/** Failed logins that are let through: of a username from an address, of an address, of a username. */
export interface LoginLimits {
  readonly pair: number;
  readonly address: number;
  readonly username: number;
}

/** Complete, checked and frozen. */
export interface Config {
  readonly environment: Environment;
  readonly host: string;
  readonly port: number;
  /** Where clients reach the server, without a trailing slash; null where it follows from host and port. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly database:
    | { readonly engine: 'sqlite'; readonly file: string }
    | { readonly engine: 'postgres'; readonly url: string };
  /** Where files lie while they are received and worked on. */
  readonly incomingDir: string;
  readonly images:
    | { readonly kind: 'folder'; readonly folder: string }
    /** The prefix ends in a slash, or is empty. */
    | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string };
  /** Where pictures can be read besides this server, without a trailing slash. */
  readonly imagesUrl: string | null;
  /** At least 32 bytes: signs cursors and seals what must be stored but not read. */
  readonly secret: string;
  readonly approvalDelayMs: number;
  readonly shippingTimeMs: number;
  readonly requirePrice: boolean;
  /** null: as many as they like. */
  readonly ordersPerHour: number | null;
  readonly tiers: TierThresholds;
  readonly registration: 'open' | 'key';
  /** Characters. */
  readonly passwordLengthMin: number;
  readonly loginLimits: LoginLimits;
  /** Addresses and networks in front of us; what they forward is believed. */
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly logLevel: LogLevel;
}

/** A setting that cannot be used, with a sentence that says what to set instead. */
export class ConfigError extends Error {}

type Variable = (typeof settings)[number]['variable'];
/** Values by variable name, as they come from the environment and from flags; later sources win. */
export type RawSettings = Partial<Record<Variable, string | undefined>>;

/**
 * Checks the settings and completes them with defaults.
 * In `local` on SQLite a missing secret is made and kept in the data folder, which is created for it.
 * @throws ConfigError with a sentence for the operator
 */
export function loadConfig(raw: RawSettings): Config {
  const environment = oneOf('CURD_ENVIRONMENT', raw.CURD_ENVIRONMENT ?? 'local', [
    'local',
    'sandbox',
    'production',
  ]);
  const dataDir = resolve(raw.CURD_DATA_DIR ?? './data');
  const database = parseDatabase(raw.CURD_DATABASE, dataDir);
  const publicUrl = parsePublicUrl(raw.CURD_PUBLIC_URL, environment);
  const secret = raw.CURD_SECRET ?? keptSecret(environment, database.engine, dataDir);
  if (Buffer.byteLength(secret) < 32) {
    throw new ConfigError(
      'CURD_SECRET is too short: set at least 32 bytes, for example from "openssl rand -hex 32".',
    );
  }
  return Object.freeze({
    environment,
    host: raw.CURD_HOST ?? '127.0.0.1',
    port: wholeNumber('CURD_PORT', raw.CURD_PORT ?? '8080', 0, 65_535),
    publicUrl,
    dataDir,
    database,
    incomingDir: join(dataDir, 'incoming'),
    images: parseImages(raw.CURD_IMAGES, dataDir),
    imagesUrl: raw.CURD_IMAGES_URL === undefined ? null : parseUrl('CURD_IMAGES_URL', raw.CURD_IMAGES_URL),
    secret,
    approvalDelayMs: duration('CURD_APPROVAL_DELAY', raw.CURD_APPROVAL_DELAY ?? '5s'),
    shippingTimeMs: duration('CURD_SHIPPING_TIME', raw.CURD_SHIPPING_TIME ?? '2d'),
    requirePrice:
      oneOf('CURD_REQUIRE_PRICE', raw.CURD_REQUIRE_PRICE ?? 'false', ['true', 'false']) === 'true',
    ordersPerHour:
      (raw.CURD_ORDERS_PER_HOUR ?? 'off') === 'off'
        ? null
        : wholeNumber('CURD_ORDERS_PER_HOUR', raw.CURD_ORDERS_PER_HOUR ?? '', 1, 1_000_000),
    tiers: parseTiers(raw.CURD_TIERS),
    registration: oneOf('CURD_REGISTRATION', raw.CURD_REGISTRATION ?? 'open', ['open', 'key']),
    passwordLengthMin: wholeNumber(
      'CURD_PASSWORD_MIN',
      raw.CURD_PASSWORD_MIN ?? (environment === 'production' ? '8' : '1'),
      1,
      128,
    ),
    loginLimits: parseLoginLimits(raw.CURD_LOGIN_LIMITS, environment),
    trustedProxies: parseProxies(raw.CURD_TRUSTED_PROXIES ?? 'none'),
    corsOrigins: (raw.CURD_CORS_ORIGINS ?? '*').split(',').map((origin) => origin.trim()),
    logLevel: oneOf('CURD_LOG_LEVEL', raw.CURD_LOG_LEVEL ?? 'info', [
      'debug',
      'info',
      'warn',
      'error',
      'silent',
    ]),
  });
}

function oneOf<const T extends string>(variable: Variable, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) {
    throw new ConfigError(`${variable} is "${value}": set it to one of ${allowed.join(', ')}.`);
  }
  return found;
}

function wholeNumber(variable: Variable, text: string, least: number, most: number): number {
  const number = Number(text);
  if (!/^\d{1,15}$/.test(text) || number < least || number > most) {
    throw new ConfigError(`${variable} is "${text}": set it to a number from ${least} to ${most}.`);
  }
  return number;
}

function duration(variable: Variable, text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === null) {
    throw new ConfigError(
      `${variable} is "${text}": set it to a whole number and a unit, such as 500ms, 5s or 2d.`,
    );
  }
  return milliseconds;
}

/** A JSON object of numbers, laid over the defaults. */
function numbers<T extends object>(variable: Variable, text: string | undefined, defaults: T): T {
  if (text === undefined) {
    return defaults;
  }
  const names = Object.keys(defaults);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    given = null;
  }
  const isRecord = typeof given === 'object' && given !== null && !Array.isArray(given);
  const entries = isRecord ? Object.entries(given as object) : [];
  if (
    !isRecord ||
    entries.some(([name, value]) => !names.includes(name) || !Number.isFinite(value) || value < 0)
  ) {
    throw new ConfigError(`${variable} is "${text}": set it to JSON such as ${JSON.stringify(defaults)}.`);
  }
  return { ...defaults, ...(given as Partial<T>) };
}

function parseProxies(text: string): string[] {
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

function parseTiers(text: string | undefined): TierThresholds {
  const tiers = numbers('CURD_TIERS', text, { silver: 500, gold: 2000, platinum: 10_000 });
  if (tiers.silver > tiers.gold || tiers.gold > tiers.platinum) {
    throw new ConfigError('CURD_TIERS must rise from silver over gold to platinum.');
  }
  return tiers;
}

function parseLoginLimits(text: string | undefined, environment: Environment): LoginLimits {
  const factor = environment === 'local' ? 10 : 1;
  return numbers('CURD_LOGIN_LIMITS', text, {
    pair: 10 * factor,
    address: 100 * factor,
    username: 100 * factor,
  });
}

function parseDatabase(text: string | undefined, dataDir: string): Config['database'] {
  if (text === undefined) {
    return { engine: 'sqlite', file: join(dataDir, 'curd.sqlite') };
  }
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length) {
    return { engine: 'sqlite', file: resolve(text.slice('sqlite:'.length)) };
  }
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) {
    return { engine: 'postgres', url: text };
  }
  throw new ConfigError(
    'CURD_DATABASE is not understood: set it to sqlite:<file> or postgres://user:password@host/name.',
  );
}

function parsePublicUrl(text: string | undefined, environment: Environment): string | null {
  if (text === undefined) {
    if (environment === 'production') {
      throw new ConfigError(
        'CURD_PUBLIC_URL is not set: production needs the https address at which clients reach it.',
      );
    }
    return null;
  }
  const url = new URL(parseUrl('CURD_PUBLIC_URL', text));
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (environment === 'production' && url.protocol !== 'https:' && !loopback) {
    throw new ConfigError(
      `CURD_PUBLIC_URL is "${text}": production needs https, unless the address is loopback.`,
    );
  }
  return url.href.replace(/\/$/, '');
}

function parseUrl(variable: Variable, text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new ConfigError(`${variable} is "${text}": set it to an http or https address without a query.`);
  }
  return url.href.replace(/\/$/, '');
}

function parseImages(text: string | undefined, dataDir: string): Config['images'] {
  if (text === undefined) {
    return { kind: 'folder', folder: join(dataDir, 'images') };
  }
  if (text.startsWith('file:') && text.length > 'file:'.length) {
    return { kind: 'folder', folder: resolve(text.slice('file:'.length)) };
  }
  const [, bucket, path = ''] =
    /^s3:\/\/([a-z\d][a-z\d.-]{1,61}[a-z\d])(?:\/([\w!.*'()/-]{0,512}))?$/.exec(text) ?? [];
  if (bucket === undefined) {
    throw new ConfigError(`CURD_IMAGES is "${text}": set it to file:<folder> or s3://bucket/prefix.`);
  }
  return { kind: 'bucket', bucket, prefix: path.replace(/([^/])$/, '$1/') };
}

function keptSecret(environment: Environment, engine: 'sqlite' | 'postgres', dataDir: string): string {
  if (environment !== 'local' || engine === 'postgres') {
    const where = environment === 'local' ? 'PostgreSQL' : environment;
    throw new ConfigError(
      `CURD_SECRET is not set: ${where} needs one of at least 32 bytes that you keep, for example from "openssl rand -hex 32".`,
    );
  }
  const file = join(dataDir, 'secret');
  if (existsSync(file)) {
    return readFileSync(file, 'utf8');
  }
  try {
    mkdirSync(dataDir, { recursive: true });
    // Written whole under another name, then linked, which fails where the file exists: two first starts agree.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
    try {
      linkSync(unfinished, file);
    } finally {
      rmSync(unfinished);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new ConfigError(`The data folder ${dataDir} cannot be written: ${(error as Error).message}`);
    }
  }
  return readFileSync(file, 'utf8');
}
