/** Runs a command: parses its options, reads its settings and opens the shop. */
import { existsSync } from 'node:fs';
import type { ComposedShop } from '../../app/compose.ts';
import { anotherEnvironment } from '../../database/environment.ts';
import { type Config, loadConfig, parseSettings, type RawSettings } from '../../settings/config.ts';
import { ConfigError, type DatabaseLocation } from '../../settings/parsers.ts';
import { type Setting, toFlag } from '../../settings/setting.ts';
import { similarNames } from '../../settings/similar-names.ts';
import { settings, type Variable } from '../../settings/table.ts';
import type { CommandDefinition } from './command-definition.ts';
import { type CommandOptions, flagName, optionName } from './options.ts';

/**
 * Parses the arguments and options of a command, loads its code and runs it.
 * @param raw options by name in camel case, settings included, as texts
 * @throws ConfigError, AppError
 */
export async function runCommand(
  { arguments: definitions, options, load }: CommandDefinition,
  texts: readonly string[],
  raw: Readonly<Record<string, unknown>>,
): Promise<void> {
  const values = definitions.map(({ name, parse }, index) => parse(texts[index] ?? '', `<${name}>`));
  const parsed = Object.entries(options).map(([name, { read }]) => [
    name,
    read(raw[name], `--${flagName(name)}`),
  ]);
  const run = await load();
  await run(...values, { ...Object.fromEntries(parsed), json: raw.json === true, flags: flagsOf(raw) });
}

function flagsOf(raw: Readonly<Record<string, unknown>>): RawSettings {
  const flags: RawSettings = {};
  for (const { variable, former = variable } of Object.values<Setting>(settings)) {
    const value = raw[optionName(toFlag(variable))] ?? raw[optionName(toFlag(former))];
    if (typeof value === 'string') {
      flags[variable as Variable] = value;
    }
  }
  return flags;
}

/** The texts of the settings: flags win over the environment, and an empty text counts as missing. */
export function rawSettings({ flags }: CommandOptions): RawSettings {
  const raw: RawSettings = {};
  for (const { variable, former = variable } of Object.values<Setting>(settings)) {
    const given = [variable, former].map((name) => process.env[name] ?? '').find((text) => text !== '');
    const text = flags[variable as Variable] ?? given ?? '';
    if (text !== '') {
      raw[variable as Variable] = text;
    }
  }
  return raw;
}

/** All settings. Creates the secret of a local shop that has none. @throws ConfigError */
export function readConfig(options: CommandOptions): Config {
  return nameFlags(options, () => loadConfig(rawSettings(options), options.flags));
}

/**
 * The settings for a shop that may exist already. `local` is the default environment, and its settings create a secret.
 * So they are compared with the stored environment before that. @throws ConfigError
 */
export async function configForExistingShop(options: CommandOptions): Promise<Config> {
  const database = databaseLocation(options);
  const environment = rawSettings(options).CURD_ENVIRONMENT ?? 'local';
  if (environment === 'local' && database.engine === 'sqlite' && existsSync(database.file)) {
    const { environmentIn } = await import('../../database/sqlite/database-file.ts');
    const stored = environmentIn(database.file) ?? environment;
    if (stored !== environment) {
      throw anotherEnvironment(environment, stored);
    }
  }
  return readConfig(options);
}

/** Makes error messages name the flag when the operator gave a flag, and the variable otherwise. */
function nameFlags<T>({ flags }: CommandOptions, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    const message = error.message.replace(/\bCURD_\w+/g, (variable) =>
      (flags[variable as Variable] ?? '') === '' ? variable : `--${toFlag(variable)}`,
    );
    throw new ConfigError(message);
  }
}

/** The location of the database. Creates nothing. @throws ConfigError */
export function databaseLocation(options: CommandOptions): DatabaseLocation {
  return nameFlags(options, () => parseSettings(rawSettings(options), ['dataDir', 'database']).database);
}

/** @throws ConfigError with the message when SQLite is used and its file does not exist */
export function requireDatabaseFile(location: DatabaseLocation, message: (file: string) => string): void {
  if (location.engine === 'sqlite' && !existsSync(location.file)) {
    throw new ConfigError(message(location.file));
  }
}

/** The API key of commands that use a server over HTTP. It is no setting of the server. */
const keyVariable = 'CURD_KEY';

export function keyInEnvironment(): string | undefined {
  return process.env[keyVariable] || undefined;
}

/** Whether the variable is set that many platforms use for a database. It is no setting. */
export function hasDatabaseUrl(): boolean {
  return process.env.DATABASE_URL !== undefined;
}

/** Variables in the environment that begin like settings but are none, each with the settings of similar names. */
export function unknownVariables(): { readonly name: string; readonly similar: readonly string[] }[] {
  const current = [keyVariable, ...Object.values<Setting>(settings).map(({ variable }) => variable)];
  const known = [...current, ...Object.values<Setting>(settings).map(({ former }) => former)];
  return Object.keys(process.env)
    .filter((name) => name.startsWith('CURD_') && !known.includes(name))
    .map((name) => ({ name, similar: similarNames(name, current) }));
}

/**
 * Opens the shop of the settings, runs a command with it, and closes it.
 * @throws ConfigError if an SQLite database does not exist yet, unless `mayCreate`
 */
export async function withShop(
  options: CommandOptions,
  run: (shop: ComposedShop) => Promise<void>,
  mayCreate = false,
): Promise<void> {
  if (!mayCreate) {
    requireDatabaseFile(
      databaseLocation(options),
      (file) =>
        `There is no shop at ${file} yet. Start the server first, or set --data-dir or --database to where the shop is.`,
    );
  }
  const { composeShop } = await import('../../app/compose.ts');
  const shop = await composeShop(await configForExistingShop(options));
  try {
    await run(shop);
  } finally {
    await shop.close();
  }
}
