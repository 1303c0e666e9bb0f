/**
 * Every setting of the server: one table, from which the flags of `curd serve`, the environment variables and
 * the page docs/configuration.md come. Nothing else reads `process.env`.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export type Environment = 'local' | 'sandbox' | 'production';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** The settings as the rest of the program sees them: complete, checked and frozen. */
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
  /** At least 32 bytes: signs cursors and seals what must be stored but not read. */
  readonly secret: string;
  readonly corsOrigins: readonly string[];
  readonly logLevel: LogLevel;
}

/** A setting that cannot be used, with a sentence that says what to set instead. */
export class ConfigError extends Error {}

export interface Setting {
  readonly variable: `CURD_${string}`;
  readonly flag: string;
  readonly placeholder: string;
  readonly default: string;
  readonly help: string;
}

export const settings = [
  {
    variable: 'CURD_ENVIRONMENT',
    flag: 'environment',
    placeholder: 'name',
    default: 'local',
    help: 'local, sandbox or production: decides which API keys are taken and which defaults are safe',
  },
  {
    variable: 'CURD_HOST',
    flag: 'host',
    placeholder: 'address',
    default: '127.0.0.1',
    help: 'address to listen on',
  },
  {
    variable: 'CURD_PORT',
    flag: 'port',
    placeholder: 'number',
    default: '8080',
    help: 'port to listen on; 0 takes a free one',
  },
  {
    variable: 'CURD_PUBLIC_URL',
    flag: 'public-url',
    placeholder: 'url',
    default: 'from host and port',
    help: 'where clients reach this server; https in production, unless it is a loopback address',
  },
  {
    variable: 'CURD_DATA_DIR',
    flag: 'data-dir',
    placeholder: 'folder',
    default: './data',
    help: 'folder of the SQLite file',
  },
  {
    variable: 'CURD_DATABASE',
    flag: 'database',
    placeholder: 'url',
    default: 'sqlite: in the data folder',
    help: 'sqlite:<file> or postgres://user:password@host/name',
  },
  {
    variable: 'CURD_SECRET',
    flag: 'secret',
    placeholder: 'text',
    default: 'made and kept in the data folder (local on SQLite only)',
    help: 'at least 32 bytes; signs cursors and seals stored answers; the same on every instance',
  },
  {
    variable: 'CURD_CORS_ORIGINS',
    flag: 'cors-origins',
    placeholder: 'list',
    default: '*',
    help: 'origins of web pages that may call this server, separated by commas',
  },
  {
    variable: 'CURD_LOG_LEVEL',
    flag: 'log-level',
    placeholder: 'level',
    default: 'info',
    help: 'debug, info, warn, error or silent; debug writes a line for each request',
  },
] as const satisfies readonly Setting[];

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
    port: parsePort(raw.CURD_PORT ?? '8080'),
    publicUrl,
    dataDir,
    database,
    secret,
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

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new ConfigError(`CURD_PORT is "${text}": set it to a number from 0 to 65535.`);
  }
  return port;
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
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new ConfigError(
      `CURD_PUBLIC_URL is "${text}": set it to an http or https address without a query.`,
    );
  }
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (environment === 'production' && url.protocol !== 'https:' && !loopback) {
    throw new ConfigError(
      `CURD_PUBLIC_URL is "${text}": production needs https, unless the address is loopback.`,
    );
  }
  return url.href.replace(/\/$/, '');
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
