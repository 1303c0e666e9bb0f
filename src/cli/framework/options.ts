/** Options and arguments of commands as data: their values and types follow from their parsers. */
import type { RawSettings } from '../../settings/config.ts';
import { type Parser, parseText } from '../../settings/parsers.ts';

/** What every command receives. */
export interface CommandOptions {
  /** Print one JSON value. */
  readonly json: boolean;
  /** Settings that were given as flags, by variable. They win over the environment. */
  readonly flags: RawSettings;
}

export interface OptionDefinition<T> {
  /** null: the option has no value. */
  readonly placeholder: string | null;
  readonly help: string;
  readonly isRequired?: boolean;
  readonly isRepeatable?: boolean;
  readonly default?: string;
  /** @param value a text, a list of texts, true, or undefined @throws ConfigError */
  readonly read: (value: unknown, name: string) => T;
}

/** Options by name in camel case: `expiresIn` is the option --expires-in. */
export type OptionDefinitions = Readonly<Record<string, OptionDefinition<unknown>>>;

/** The options that a command with these definitions receives. */
export type OptionsOf<Definitions extends OptionDefinitions> = CommandOptions & {
  readonly [Name in keyof Definitions]: Definitions[Name] extends OptionDefinition<infer T> ? T : never;
};

/** An option without a value. */
export function booleanOption(help: string): OptionDefinition<boolean> {
  return { placeholder: null, help, read: (value) => value === true };
}

export function option<T>(
  placeholder: string,
  help: string,
  parse: Parser<T>,
): OptionDefinition<T | undefined> {
  return {
    placeholder,
    help,
    read: (value, name) => (value === undefined ? undefined : parse(String(value), name)),
  };
}

/** An option that must be given, unless it has a default. */
export function requiredOption<T>(
  placeholder: string,
  help: string,
  parse: Parser<T>,
  byDefault?: string,
): OptionDefinition<T> {
  const read = (value: unknown, name: string) => parse(String(value ?? byDefault ?? ''), name);
  return byDefault === undefined
    ? { placeholder, help, isRequired: true, read }
    : { placeholder, help, default: byDefault, read };
}

/** An option that may be given several times. */
export function repeatableOption<T>(
  placeholder: string,
  help: string,
  parse: Parser<T>,
): OptionDefinition<T[]> {
  return {
    placeholder,
    help,
    isRepeatable: true,
    read: (value, name) => ((value ?? []) as string[]).map((text) => parse(text, name)),
  };
}

export interface ArgumentDefinition<T> {
  readonly name: string;
  readonly parse: Parser<T>;
  /** The allowed values, for help and completion. */
  readonly choices?: readonly string[];
  readonly isOptional?: boolean;
}

export function argument<T>(name: string, parse: Parser<T>): ArgumentDefinition<T> {
  return { name, parse };
}

export function textArgument(name: string): ArgumentDefinition<string> {
  return argument(name, parseText);
}

/** An argument that can be left out. */
export function optionalArgument(name: string): ArgumentDefinition<string | undefined> {
  return {
    name,
    isOptional: true,
    parse: (text, label) => (text === '' ? undefined : parseText(text, label)),
  };
}

/** `dataDir` of `data-dir`, as commander names options. */
export function optionName(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `data-dir` of `dataDir`. */
export function flagName(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
