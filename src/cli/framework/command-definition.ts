/** The definition of a command as data, whose values and options have the types that its code expects. */
import type { ArgumentDefinition, OptionDefinitions, OptionsOf } from './options.ts';

export interface CommandDefinition {
  /** `keys create` */
  readonly name: string;
  readonly summary: string;
  /** Printed after the options in `--help`. */
  readonly help?: string | undefined;
  /** Command lines without the name of the program. The help prints them. */
  readonly examples: readonly string[];
  readonly arguments: readonly ArgumentDefinition<unknown>[];
  readonly options: OptionDefinitions;
  /** Whether it has --json and the settings as options. */
  readonly hasSettings: boolean;
  readonly load: () => Promise<(...input: readonly unknown[]) => unknown>;
}

type ValuesOf<Arguments extends readonly ArgumentDefinition<unknown>[]> = {
  readonly [Index in keyof Arguments]: Arguments[Index] extends ArgumentDefinition<infer T> ? T : never;
};

/** Checks that the loaded function accepts the values of the arguments and options. */
export function command<
  const Arguments extends readonly ArgumentDefinition<unknown>[] = [],
  Options extends OptionDefinitions = Record<never, never>,
>(definition: {
  readonly name: string;
  readonly summary: string;
  readonly help?: string;
  readonly examples: readonly string[];
  readonly arguments?: Arguments;
  readonly options?: Options;
  readonly hasSettings?: boolean;
  readonly load: () => Promise<(...input: [...ValuesOf<Arguments>, OptionsOf<Options>]) => unknown>;
}): CommandDefinition {
  return { arguments: [], options: {}, hasSettings: true, ...definition } as unknown as CommandDefinition;
}
