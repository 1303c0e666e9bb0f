/** What all commands share: settings as flags, one JSON value on request, and failure in one sentence. */
import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Services } from '../app/services.ts';
import { anotherEnvironment } from '../database/environment.ts';
import { AppError, isFailure } from '../errors.ts';
import { type Config, loadConfig, parseSettings, type RawSettings } from '../settings/config.ts';
import { ConfigError, type DatabaseLocation } from '../settings/parsers.ts';
import { defaultText, type Setting } from '../settings/setting.ts';
import { settings } from '../settings/table.ts';
import { reasonOf, systemErrorText } from '../system-errors.ts';
import { colored, errorPrefix } from './style.ts';

/** Flags as commander gives them, in camel case. */
export type CommandOptions = Readonly<Record<string, unknown>> & { readonly json?: boolean };

/** By which a command finds its shop. */
const placeFlags = ['data-dir', 'database'];

/** Adds --json and every setting to a command; only the server's own help lists them all. */
export function withSettings(command: Command): Command {
  const isServer = command.name() === 'serve';
  command.option('--json', 'print one JSON value');
  for (const setting of Object.values<Setting>(settings)) {
    const { flag, placeholder, help, variable } = setting;
    const option = new Option(
      `--${flag} <${placeholder}>`,
      `${help} (${variable}; default: ${defaultText(setting)})`,
    );
    option.helpGroup('Settings, also read from environment variables:');
    command.addOption(option.hideHelp(!isServer && !placeFlags.includes(flag)));
  }
  return isServer
    ? command
    : command.addHelpText(
        'after',
        '\nGive it the settings of the server; "curd serve --help" lists them all, and all are taken here.',
      );
}

/** The settings of flags over those of the environment, as they were given. */
export function rawSettings(options: CommandOptions): RawSettings {
  const raw: RawSettings = {};
  for (const { flag, variable } of Object.values(settings)) {
    const value = options[optionName(flag)] ?? process.env[variable];
    if (typeof value === 'string' && value !== '') {
      raw[variable] = value;
    }
  }
  return raw;
}

/** The settings, complete and checked; a secret is made where one is missing. @throws ConfigError */
export function readConfig(options: CommandOptions): Config {
  return namingFlags(options, () => loadConfig(rawSettings(options)));
}

/**
 * The settings for a shop that may exist already. Settings of `local`, which is the default, complete themselves with a
 * new secret, so they are compared with the stored environment before that. @throws ConfigError
 */
export async function configOfShop(options: CommandOptions): Promise<Config> {
  const place = databaseLocation(options);
  const environment = rawSettings(options).CURD_ENVIRONMENT ?? 'local';
  if (environment === 'local' && place.engine === 'sqlite' && existsSync(place.file)) {
    const { environmentIn } = await import('../database/sqlite-file.ts');
    const stored = environmentIn(place.file) ?? environment;
    if (stored !== environment) {
      throw anotherEnvironment(environment, stored);
    }
  }
  return readConfig(options);
}

/** An error about a setting names the flag where the operator typed a flag, and the variable otherwise. */
function namingFlags<T>(options: CommandOptions, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    const given = Object.values(settings).filter(({ flag }) => (options[optionName(flag)] ?? '') !== '');
    const flags = new Map<string, string>(given.map(({ flag, variable }) => [variable, `--${flag}`]));
    throw new ConfigError(error.message.replace(/\bCURD_\w+/g, (name) => flags.get(name) ?? name));
  }
}

function optionName(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Where the settings say that the database is: this alone makes nothing. @throws ConfigError */
export function databaseLocation(options: CommandOptions): DatabaseLocation {
  return namingFlags(options, () => parseSettings(rawSettings(options), ['dataDir', 'database']).database);
}

/** @throws ConfigError with the words of `refusal` where the file of an embedded database is not there */
export function requireDatabaseFile(place: DatabaseLocation, refusal: (file: string) => string): void {
  if (place.engine === 'sqlite' && !existsSync(place.file)) {
    throw new ConfigError(refusal(place.file));
  }
}

/** Variables that look like settings and are none. */
export function unknownVariables(): string[] {
  const known = new Set<string>(Object.values(settings).map(({ variable }) => variable));
  return Object.keys(process.env).filter((name) => name.startsWith('CURD_') && !known.has(name));
}

/**
 * Runs a command on the services of the settings, and closes the database whatever happens.
 * @throws ConfigError where there is no shop yet, unless `mayBeFirst`
 */
export async function withServices(
  options: CommandOptions,
  run: (services: Services) => Promise<void>,
  mayBeFirst = false,
): Promise<void> {
  if (!mayBeFirst) {
    requireDatabaseFile(
      databaseLocation(options),
      (file) =>
        `There is no shop at ${file} yet: start the server first, or say with --data-dir or --database where the shop is.`,
    );
  }
  const { openServices } = await import('../app/services.ts');
  const services = await openServices(await configOfShop(options));
  try {
    await run(services);
  } finally {
    await services.close();
  }
}

/** Prints one value: as JSON where asked, else in words. */
export function printResult(options: CommandOptions, value: unknown, words: string): void {
  process.stdout.write(`${options.json ? JSON.stringify(value) : words}\n`);
}

/**
 * Prints a secret alone on standard output, so that `KEY=$(curd keys create ...)` works, and the words about it on
 * standard error. With --json both are in one JSON value on standard output.
 */
export function printSecret(options: CommandOptions, secret: string, value: unknown, words: string): void {
  printResult(options, value, secret);
  if (!options.json) {
    process.stderr.write(`${words}\n`);
  }
}

/** A number of things: `noun` takes an s where they are not one. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Rows as columns of text, each as wide as its widest value. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [colored('bold', line(header)), ...rows.map(line)].join('\n');
}

/** A word that must be one of a few. @throws ConfigError */
export function parseChoice<const T extends string>(what: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) {
    throw new ConfigError(`${what} is "${value}": it must be one of ${allowed.join(', ')}.`);
  }
  return found;
}

/** The same for a flag that may be left out. @throws ConfigError */
export function parseOptionalChoice<const T extends string>(
  flag: string,
  value: unknown,
  allowed: readonly T[],
): T | undefined {
  return value === undefined ? undefined : parseChoice(flag, String(value), allowed);
}

/** Words of a list, with blanks or commas in between. */
export function splitList(text: unknown): string[] {
  return String(text ?? '')
    .split(/[\s,]+/)
    .filter((word) => word !== '');
}

/** An id as it was printed. @param otherwise what it is, and where to find it @throws ConfigError */
export function parseId(text: string, otherwise: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    throw new ConfigError(`"${text}" is ${otherwise}.`);
  }
  return Number(text);
}

/** Says what went wrong in one sentence, and ends with exit status 1. */
export function printFailure(error: unknown): void {
  const isExpected = error instanceof AppError || error instanceof ConfigError;
  const cause = error instanceof AppError && isFailure(error.code) ? causeOf(error) : '';
  const message = isExpected ? error.message : systemErrorText(error);
  process.stderr.write(`${errorPrefix()}${message}${cause}\n`);
  if (!isExpected && process.env.CURD_LOG_LEVEL === 'debug' && error instanceof Error) {
    process.stderr.write(`${error.stack}\n`);
  }
  process.exitCode = 1;
}

function causeOf({ cause }: AppError): string {
  // Of several addresses that were tried, Node tells a code alone.
  const { message = '', code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason = reasonOf(cause);
  return reason !== message ? `: ${reason}.` : message || code ? ` (${message || code})` : '';
}
