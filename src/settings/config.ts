/** The settings as the rest of the program sees them. settings.ts lists them; nothing else reads `process.env`. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { restrict } from '../permissions.ts';
import { reasonOf } from '../system-errors.ts';
import {
  type ClientIpLimits,
  ConfigError,
  type DatabaseLocation,
  type Environment,
  environments,
  type ImageLocation,
  type LoginLimits,
  type PlanLimits,
  parseClientIpLimits,
  parseDatabase,
  parseDurationSetting,
  parseEnum,
  parseImages,
  parseInteger,
  parseLoginLimits,
  parseOrigins,
  parsePlans,
  parseProxies,
  parsePublicUrl,
  parseTiers,
  parseTimeout,
  parseUrl,
  type TierThresholds,
  type Variable,
} from './parsers.ts';

export type {
  ClientIpLimits,
  Environment,
  LoginLimits,
  PlanLimits,
  TierThresholds,
} from './parsers.ts';
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
  readonly database: DatabaseLocation;
  /** Where files lie while they are received and worked on. */
  readonly incomingDir: string;
  readonly images: ImageLocation;
  /** Where pictures can be read besides this server, without a trailing slash. */
  readonly imagesUrl: string | null;
  /** At least 32 bytes: signs cursors and seals what must be stored but not read. */
  readonly secret: string;
  /** By name. */
  readonly plans: Readonly<Record<string, PlanLimits>>;
  /** Of accounts that were given none: nothing is held back where people try things. */
  readonly defaultPlan: string;
  readonly sessionPlan: string;
  readonly addressLimits: ClientIpLimits;
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
  /** Connections that may be open at once. */
  readonly connectionsMax: number;
  readonly timeouts: Timeouts;
  /** Free space of the disk below which the server is not ready; 0 for any. */
  readonly minFreeSpaceBytes: number;
  readonly logLevel: LogLevel;
  /** Whether the log contains client IPs. */
  readonly logClientIp: boolean;
}

/** Values by variable name, as they come from the environment and from flags; later sources win. */
export type RawSettings = Partial<Record<Variable, string | undefined>>;

/**
 * Checks the settings and completes them with defaults.
 * In `local` on SQLite a missing secret is made and kept in the data folder, which is created for it.
 * @throws ConfigError with a sentence for the operator; of several faults with a line for each
 */
export function loadConfig(raw: RawSettings): Config {
  const { read, throwFaults } = collectFaults();
  const environment = read(
    () => parseEnum('CURD_ENVIRONMENT', raw.CURD_ENVIRONMENT ?? 'local', environments),
    'local',
  );
  const dataDir = resolve(raw.CURD_DATA_DIR ?? './data');
  const database = read(() => parseDatabase(raw.CURD_DATABASE, dataDir), parseDatabase(undefined, dataDir));
  const publicUrl = read(() => parsePublicUrl(raw.CURD_PUBLIC_URL, environment));
  read(() => requireSecret(raw.CURD_SECRET, environment, database.engine));
  const plans = read(() => parsePlans(raw.CURD_PLANS, environment), parsePlans(undefined, environment));
  const defaultPlan = environment === 'local' ? 'enterprise' : 'free';
  const checked = {
    environment,
    host: raw.CURD_HOST ?? '127.0.0.1',
    port: read(() => parseInteger('CURD_PORT', raw.CURD_PORT ?? '8080', 0, 65_535)),
    publicUrl,
    dataDir,
    database,
    incomingDir: join(dataDir, 'incoming'),
    images: read(() => parseImages(raw.CURD_IMAGES, dataDir)),
    imagesUrl: read(() =>
      raw.CURD_IMAGES_URL === undefined ? null : parseUrl('CURD_IMAGES_URL', raw.CURD_IMAGES_URL),
    ),
    plans,
    defaultPlan,
    sessionPlan: read(() =>
      parseEnum('CURD_SESSION_PLAN', raw.CURD_SESSION_PLAN ?? defaultPlan, Object.keys(plans)),
    ),
    addressLimits: read(() => parseClientIpLimits(raw.CURD_ADDRESS_LIMITS, environment)),
    approvalDelayMs: read(() => parseDurationSetting('CURD_APPROVAL_DELAY', raw.CURD_APPROVAL_DELAY ?? '5s')),
    shippingTimeMs: read(() => parseDurationSetting('CURD_SHIPPING_TIME', raw.CURD_SHIPPING_TIME ?? '2d')),
    requirePrice: read(
      () => parseEnum('CURD_REQUIRE_PRICE', raw.CURD_REQUIRE_PRICE ?? 'false', ['true', 'false']) === 'true',
    ),
    ordersPerHour: read(() =>
      (raw.CURD_ORDERS_PER_HOUR ?? 'off') === 'off'
        ? null
        : parseInteger('CURD_ORDERS_PER_HOUR', raw.CURD_ORDERS_PER_HOUR ?? '', 1, 1_000_000),
    ),
    tiers: read(() => parseTiers(raw.CURD_TIERS)),
    registration: read(() =>
      parseEnum('CURD_REGISTRATION', raw.CURD_REGISTRATION ?? 'open', ['open', 'key']),
    ),
    passwordLengthMin: read(() =>
      parseInteger(
        'CURD_PASSWORD_MIN',
        raw.CURD_PASSWORD_MIN ?? (environment === 'production' ? '8' : '1'),
        1,
        128,
      ),
    ),
    loginLimits: read(() => parseLoginLimits(raw.CURD_LOGIN_LIMITS, environment)),
    trustedProxies: read(() => parseProxies(raw.CURD_TRUSTED_PROXIES ?? 'none')),
    corsOrigins: read(() => parseOrigins(raw.CURD_CORS_ORIGINS ?? '*')),
    connectionsMax: read(() =>
      parseInteger('CURD_MAX_CONNECTIONS', raw.CURD_MAX_CONNECTIONS ?? '10000', 1, 1_000_000),
    ),
    timeouts: {
      headersMs: read(() => parseTimeout('CURD_HEADERS_TIMEOUT', raw.CURD_HEADERS_TIMEOUT ?? '15s')),
      requestMs: read(() => parseTimeout('CURD_REQUEST_TIMEOUT', raw.CURD_REQUEST_TIMEOUT ?? '60s')),
      uploadMs: read(() => parseTimeout('CURD_UPLOAD_TIMEOUT', raw.CURD_UPLOAD_TIMEOUT ?? '120s')),
      idleMs: read(() => parseTimeout('CURD_IDLE_TIMEOUT', raw.CURD_IDLE_TIMEOUT ?? '75s')),
    },
    minFreeSpaceBytes: read(
      () =>
        parseInteger('CURD_MIN_FREE_SPACE', raw.CURD_MIN_FREE_SPACE ?? '32', 0, 1_000_000_000) * 1024 * 1024,
    ),
    logLevel: read(() =>
      parseEnum('CURD_LOG_LEVEL', raw.CURD_LOG_LEVEL ?? 'info', ['debug', 'info', 'warn', 'error', 'silent']),
    ),
    logClientIp: read(
      () => parseEnum('CURD_LOG_CLIENT_IP', raw.CURD_LOG_CLIENT_IP ?? 'true', ['true', 'false']) === 'true',
    ),
  };
  throwFaults();
  // Only now: nothing is written while a setting is wrong.
  const secret = raw.CURD_SECRET ?? loadOrCreateSecret(dataDir);
  requireSecret(secret, environment, database.engine);
  return Object.freeze({ ...checked, secret });
}

interface FaultCollector {
  /** A value, or `fallback` where its setting is faulty: for what other settings are checked against. */
  read<T>(parse: () => T, fallback?: T): T;
  /** @throws ConfigError where a setting was faulty */
  throwFaults(): void;
}

/** Lets all settings be checked before the first fault is reported. */
function collectFaults(): FaultCollector {
  const messages: string[] = [];
  return {
    read(parse, fallback) {
      try {
        return parse();
      } catch (error) {
        if (!(error instanceof ConfigError)) {
          throw error;
        }
        messages.push(error.message);
        // Never used where it is missing: throwFaults comes before.
        return fallback as ReturnType<typeof parse>;
      }
    },
    throwFaults() {
      const [first = '', ...others] = messages;
      if (messages.length > 0) {
        throw new ConfigError(
          others.length === 0
            ? first
            : `${messages.length} settings are missing or invalid (docs/configuration.md describes each):\n  ${messages.join('\n  ')}`,
        );
      }
    },
  };
}

/** @throws ConfigError where one is needed and missing, or where it is too short */
function requireSecret(
  secret: string | undefined,
  environment: Environment,
  engine: DatabaseLocation['engine'],
): void {
  if (secret === undefined && (environment !== 'local' || engine === 'postgres')) {
    const where = environment === 'local' ? 'PostgreSQL' : environment;
    throw new ConfigError(
      `CURD_SECRET is not set: ${where} needs one of at least 32 bytes that you keep, for example from "openssl rand -hex 32".`,
    );
  }
  if (secret !== undefined && Buffer.byteLength(secret) < 32) {
    throw new ConfigError(
      'CURD_SECRET is too short: set at least 32 bytes, for example from "openssl rand -hex 32".',
    );
  }
}

/** Where clients reach the server: what was set, or where it listens. Without a trailing slash. */
export function publicBaseUrl({ publicUrl, host, port }: Config, listeningPort = port): string {
  // All interfaces are no address that anybody could open.
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return publicUrl ?? `http://${name.includes(':') ? `[${name}]` : name}:${listeningPort}`;
}

/** Where the world finds a picture of this name. */
export function publicImageUrl(config: Config, name: string, listeningPort = config.port): string {
  return `${config.imagesUrl ?? `${publicBaseUrl(config, listeningPort)}/images`}/${name}`;
}

/** The secret of a local shop on SQLite, which is made with the first start. */
function loadOrCreateSecret(dataDir: string): string {
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
