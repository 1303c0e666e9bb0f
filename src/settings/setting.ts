/** The columns of the settings table, and the default of a setting. */
import type { PlanLimits } from './limit-parsers.ts';
import type { MailTransport } from './mail.ts';
import type { DatabaseLocation, Environment } from './parsers.ts';

/** Values of settings above, on which settings below depend. */
export interface SettingContext {
  readonly environment: Environment;
  readonly dataDir: string;
  readonly database: DatabaseLocation;
  readonly plans: Readonly<Record<string, PlanLimits>>;
  readonly mail: MailTransport;
  /** The default of the setting that is parsed, as text. The members of a JSON object replace those of the default. */
  readonly defaultText: string;
}

/** Texts by environment. */
export type EnvironmentTexts = { readonly [In in Environment | 'elsewhere']?: string };

export interface Setting {
  /** Its flag has the same name: see `toFlag`. */
  readonly variable: `CURD_${string}`;
  /** An earlier name, which is accepted too. The present one wins. */
  readonly former?: `CURD_${string}`;
  readonly placeholder: string;
  readonly help: string;
  /** Text for the parser. A function that returns null: without the variable, the value is null. */
  readonly default: string | EnvironmentTexts | ((context: SettingContext) => string | null);
  /** The default in help and documents. Only a default that is a function needs it. */
  readonly defaultText?: string;
  /** Why the server does not start without this setting, or null. */
  readonly requiredBecause?: (context: SettingContext) => string | null;
  readonly parse: (text: string, name: string, context: SettingContext) => unknown;
}

/** `data-dir` of CURD_DATA_DIR: the option --data-dir of commands. */
export function toFlag(variable: string): string {
  return variable.slice('CURD_'.length).toLowerCase().replaceAll('_', '-');
}

/** The default of a setting, as text for its parser. */
export function defaultIn(setting: Pick<Setting, 'default'>, context: SettingContext): string | null {
  const { default: text } = setting;
  if (typeof text === 'function') {
    return text(context);
  }
  return typeof text === 'string' ? text : textIn(text, context.environment);
}

/** The text for an environment. */
function textIn(texts: EnvironmentTexts, environment: Environment): string {
  return texts[environment] ?? texts.elsewhere ?? '';
}

/** The default of a setting for readers: "8 in production, 1 elsewhere". */
export function defaultText({ default: text, defaultText = '' }: Setting): string {
  if (typeof text === 'function') {
    return defaultText;
  }
  return typeof text === 'string'
    ? text
    : Object.entries(text)
        .map(([where, one]) => (where === 'elsewhere' ? `${one} elsewhere` : `${one} in ${where}`))
        .join(', ');
}
