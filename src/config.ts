/** The settings as the rest of the program sees them. settings.ts lists them; nothing else reads `process.env`. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { restrict } from './permissions.ts';
import {
  type AddressLimits,
  ConfigError,
  type DatabasePlace,
  duration,
  type Environment,
  type ImagesPlace,
  type LoginLimits,
  oneOf,
  type PlanLimits,
  parseAddressLimits,
  parseDatabase,
  parseImages,
  parseLoginLimits,
  parseOrigins,
  parsePlans,
  parseProxies,
  parsePublicUrl,
  parseTiers,
  parseUrl,
  type TierThresholds,
  timeout,
  type Variable,
  wholeNumber,
} from './setting-values.ts';
import { reasonOf } from './system-errors.ts';

export type {
  AddressLimits,
  Environment,
  LoginLimits,
  PlanLimits,
  TierThresholds,
} from './setting-values.ts';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** How long things may take to arrive, in milliseconds. */
export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly uploadMs: number;
  readonly idleMs: number;
}

/** Complete, checked and frozen. */
export interface Config {
  readonly environment: Environment;
  readonly host: string;
  readonly port: number;
  /** Where clients reach the server, without a trailing slash; null where it follows from host and port. */
  readonly publicUrl: string | null;
  readonly dataDir: string;
  readonly database: DatabasePlace;
  /** Where files lie while they are received and worked on. */
  readonly incomingDir: string;
  readonly images: ImagesPlace;
  /** Where pictures can be read besides this server, without a trailing slash. */
  readonly imagesUrl: string | null;
  /** At least 32 bytes: signs cursors and seals what must be stored but not read. */
  readonly secret: string;
  /** By name. */
  readonly plans: Readonly<Record<string, PlanLimits>>;
  /** Of accounts that were given none: nothing is held back where people try things. */
  readonly defaultPlan: string;
  readonly sessionPlan: string;
  readonly addressLimits: AddressLimits;
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
  readonly timeouts: Timeouts;
  readonly logLevel: LogLevel;
  /** Whether the log contains client IPs. */
  readonly logClientIp: boolean;
}

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
  const plans = parsePlans(raw.CURD_PLANS, environment);
  const defaultPlan = environment === 'local' ? 'enterprise' : 'free';
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
    plans,
    defaultPlan,
    sessionPlan: oneOf('CURD_SESSION_PLAN', raw.CURD_SESSION_PLAN ?? defaultPlan, Object.keys(plans)),
    addressLimits: parseAddressLimits(raw.CURD_ADDRESS_LIMITS, environment),
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
    corsOrigins: parseOrigins(raw.CURD_CORS_ORIGINS ?? '*'),
    timeouts: {
      headersMs: timeout('CURD_HEADERS_TIMEOUT', raw.CURD_HEADERS_TIMEOUT ?? '15s'),
      requestMs: timeout('CURD_REQUEST_TIMEOUT', raw.CURD_REQUEST_TIMEOUT ?? '60s'),
      uploadMs: timeout('CURD_UPLOAD_TIMEOUT', raw.CURD_UPLOAD_TIMEOUT ?? '120s'),
      idleMs: timeout('CURD_IDLE_TIMEOUT', raw.CURD_IDLE_TIMEOUT ?? '75s'),
    },
    logLevel: oneOf('CURD_LOG_LEVEL', raw.CURD_LOG_LEVEL ?? 'info', [
      'debug',
      'info',
      'warn',
      'error',
      'silent',
    ]),
    logClientIp: oneOf('CURD_LOG_CLIENT_IP', raw.CURD_LOG_CLIENT_IP ?? 'true', ['true', 'false']) === 'true',
  });
}

/** Where clients reach the server: what was set, or where it listens. Without a trailing slash. */
export function baseUrlOf({ publicUrl, host, port }: Config, listeningPort = port): string {
  // All interfaces are no address that anybody could open.
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return publicUrl ?? `http://${name.includes(':') ? `[${name}]` : name}:${listeningPort}`;
}

/** Where the world finds a picture of this name. */
export function imageUrlOf(config: Config, name: string, listeningPort = config.port): string {
  return `${config.imagesUrl ?? `${baseUrlOf(config, listeningPort)}/images`}/${name}`;
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
    restrict(file);
    return readFileSync(file, 'utf8');
  }
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // Written whole under another name, then linked, which fails where the file exists: two first starts agree.
    const unfinished = `${file}.${randomBytes(8).toString('hex')}`;
    writeFileSync(unfinished, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600, flush: true });
    try {
      linkSync(unfinished, file);
    } finally {
      rmSync(unfinished);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new ConfigError(`The data folder ${dataDir} cannot be written: ${reasonOf(error)}.`);
    }
  }
  return readFileSync(file, 'utf8');
}
