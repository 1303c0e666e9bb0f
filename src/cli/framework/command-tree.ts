/** The commands as commander reads them: options, help and usage errors. */
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { commandName } from '../../command-name.ts';
import { defaultText, type Setting, toFlag } from '../../settings/setting.ts';
import { settings } from '../../settings/table.ts';
import type { CommandDefinition } from './command-definition.ts';
import { flagName, type OptionDefinition } from './options.ts';
import { runCommand } from './run-command.ts';
import { addHelpHints, styleHelp } from './style.ts';

/** Settings in the help of every command: where the shop is. The help of the server has all settings. */
const locationFlags = ['data-dir', 'database'];

/**
 * The program with its commands.
 * @param groups a text for the first word of commands with two
 * @param hasAllSettings whether each command has the options of settings now. Otherwise it gets them when it is parsed or
 *   prints its help: 5,000 options took 30 ms of each start.
 */
export function buildCommandTree(
  commands: readonly CommandDefinition[],
  groups: Readonly<Record<string, string>>,
  hasAllSettings = false,
): Command {
  const program = new Command('curd')
    .description('The server of an online cheese shop.')
    .version(packageJson.version);
  styleHelp(program);
  for (const definition of commands) {
    const [first = '', second] = definition.name.split(' ');
    if (second === undefined) {
      addCommand(program, first, definition, hasAllSettings);
    } else {
      const group = program.commands.find((command) => command.name() === first);
      const parent = group ?? program.command(first).description(groups[first] ?? '');
      addCommand(parent, second, definition, hasAllSettings);
    }
  }
  addHelpHints(program);
  return program;
}

function addCommand(
  parent: Command,
  name: string,
  definition: CommandDefinition,
  hasAllSettings: boolean,
): void {
  const { arguments: argumentDefinitions, options, summary, help, examples, hasSettings } = definition;
  const command = parent.command(name).description(summary);
  for (const { name: argumentName, choices, isOptional = false } of argumentDefinitions) {
    const argument = new Argument(isOptional ? `[${argumentName}]` : `<${argumentName}>`);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  if (hasSettings) {
    command.option('--json', 'print one JSON value');
    addSettings(parent, command, hasAllSettings);
  }
  for (const [optionName, option] of Object.entries(options)) {
    command.addOption(toCommanderOption(optionName, option));
  }
  if (help !== undefined) {
    command.addHelpText('after', `\n${help}`);
  }
  const lines = examples.map((example) => `\n  ${commandName} ${example}`).join('');
  command.addHelpText('after', `\n${examples.length === 1 ? 'Example' : 'Examples'}:${lines}`);
  command.action((...input: unknown[]) => {
    const count = argumentDefinitions.length;
    return runCommand(
      definition,
      input.slice(0, count) as string[],
      input[count] as Readonly<Record<string, unknown>>,
    );
  });
}

function toCommanderOption(
  name: string,
  {
    placeholder,
    help,
    isRequired = false,
    isRepeatable = false,
    default: byDefault,
  }: OptionDefinition<unknown>,
): Option {
  const option = new Option(
    `--${flagName(name)}${placeholder === null ? '' : ` <${placeholder}>`}`,
    help,
  ).makeOptionMandatory(isRequired);
  // Otherwise commander stores --no-record as false in `record`.
  option.negate = false;
  if (isRepeatable) {
    option.argParser((value: string, previous: string[] = []) => [...previous, value]);
  } else if (placeholder !== null) {
    // Commander would use the last value, and say nothing about the others.
    option.argParser((value: string, previous?: string) => {
      if (previous !== undefined && previous !== byDefault) {
        throw new InvalidArgumentError('The option is given twice. Give it once, with all values.');
      }
      return value;
    });
  }
  return byDefault === undefined ? option : option.default(byDefault);
}

/** The options of all settings. @param isServer whether the help shows all of them */
function settingOptions(isServer: boolean): Option[] {
  return Object.values<Setting>(settings).flatMap((setting) => {
    const { placeholder, help, variable, former } = setting;
    const flag = toFlag(variable);
    const option = new Option(
      `--${flag} <${placeholder}>`,
      `${help} (${variable}; default: ${defaultText(setting)})`,
    );
    option.helpGroup('Settings, also read from environment variables:');
    option.hideHelp(!isServer && !locationFlags.includes(flag));
    return former === undefined
      ? [option]
      : [option, new Option(`--${toFlag(former)} <${placeholder}>`).hideHelp()];
  });
}

/** Made once for all commands but the server. */
const optionsOfOthers = settingOptions(false);

/** Adds every setting, now or when the command needs it. */
function addSettings(parent: Command, command: Command, isNow: boolean): void {
  const isServer = command.name() === 'serve';
  let isAdded = false;
  const add = () => {
    for (const option of isAdded ? [] : isServer ? settingOptions(true) : optionsOfOthers) {
      command.addOption(option);
    }
    isAdded = true;
  };
  if (isNow) {
    add();
  } else {
    parent.hook('preSubcommand', (_, parsed) => (parsed === command ? add() : undefined));
    command.addHelpText('before', () => {
      add();
      return '';
    });
  }
  if (!isServer) {
    command.addHelpText(
      'after',
      `\nUse the same settings as the server. Every command accepts all of them; "${commandName} serve --help" lists them.`,
    );
  }
}
