/** The settings as the rest of the program reads them. They are listed in table.ts. */
import { join } from 'node:path';
import { ConfigError } from './parsers.ts';
import { loadOrCreateSecret, parseSecret } from './secret.ts';
import { defaultIn, type Setting, type SettingContext } from './setting.ts';
import { type GivenSetting, givenSettings } from './setting-origins.ts';
import { type SettingName, type SettingValues, settings, type Variable } from './table.ts';

export type { ClientIpLimits, LoginLimits, PlanLimits } from './limit-parsers.ts';
export type { MailName, MailTransport, ResetLimits, SmtpServer } from './mail.ts';
export type { Environment, TierThresholds } from './parsers.ts';

/** All settings, checked and frozen. */
export interface Config extends Omit<SettingValues, 'secret'> {
  /** Has 32 bytes or more. */
  readonly secret: string;
  /** Folder of files while they are received and processed. */
  readonly incomingDir: string;
  /** All settings as they were given, without secrets. */
  readonly given: readonly GivenSetting[];
}

export type LogLevel = Config['logLevel'];

/** Texts of settings by variable, from the environment and from flags. */
export type RawSettings = Partial<Record<Variable, string | undefined>>;

/**
 * Parses all settings and completes them with defaults. A local shop on SQLite gets its secret from the data folder,
 * which the first start creates.
 * @param flags those of the texts that came from flags
 * @throws ConfigError with one sentence, or with one line for each setting that is missing or invalid
 */
export function loadConfig(raw: RawSettings, flags: RawSettings = {}): Config {
  // Nothing is written before all settings are valid.
  const values = parseSettings(raw, Object.keys(settings) as SettingName[]);
  return Object.freeze({
    ...values,
    secret: values.secret ?? parseSecret(loadOrCreateSecret(values.dataDir), 'CURD_SECRET'),
    given: givenSettings(raw, flags, values),
    incomingDir: join(values.dataDir, 'incoming'),
  });
}

/** Parses some settings, in the order of the table. Creates nothing. @throws ConfigError */
export function parseSettings<Name extends SettingName>(
  raw: RawSettings,
  names: readonly Name[],
): SettingValues<Name> {
  const values: Record<string, unknown> = {};
  const missing: string[] = [];
  const invalid: string[] = [];
  for (const name of names) {
    const { variable, parse, requiredBecause, ...setting }: Setting = settings[name];
    const defaultText = defaultIn(setting, values as unknown as SettingContext);
    const context = { ...values, defaultText } as unknown as SettingContext;
    // The settings below are checked against the default when this one is missing or invalid.
    values[name] = defaultText === null ? null : parse(defaultText, variable, context);
    const text = raw[variable as Variable];
    if (text === undefined) {
      const reason = requiredBecause?.(context) ?? null;
      missing.push(...(reason === null ? [] : [`${variable} is not set: ${reason}`]));
    } else {
      try {
        values[name] = parse(text, variable, context);
      } catch (error) {
        if (!(error instanceof ConfigError)) {
          throw error;
        }
        invalid.push(error.message);
      }
    }
  }
  throwIfAny([...missing, ...invalid]);
  return values as SettingValues<Name>;
}

/** @throws ConfigError when there is a message */
function throwIfAny(messages: readonly string[]): void {
  const [first, ...others] = messages;
  if (first !== undefined) {
    throw new ConfigError(
      others.length === 0
        ? first
        : `${messages.length} settings are missing or invalid (docs/configuration.md describes each):\n  ${messages.join('\n  ')}`,
    );
  }
}
