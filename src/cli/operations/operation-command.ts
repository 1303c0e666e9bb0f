/** Commands that run an operation of the API. Their arguments and options follow from its schemas. */
import { type Parser, parseInteger, parseText } from '../../settings/parsers.ts';
import type { CommandDefinition } from '../framework/command-definition.ts';
import { changeOptions, secretHelp } from '../framework/command-options.ts';
import {
  type ArgumentDefinition,
  booleanOption,
  flagName,
  type OptionDefinition,
  type OptionDefinitions,
  option,
  requiredOption,
} from '../framework/options.ts';
import { type DescribedOperation, type DescribedValue, describedOperation } from './described.ts';
import { argumentOfValue, hasPages, type OperationCommand, optionOfValue } from './operation.ts';
import { commandParameters } from './parameters.ts';

const limitMax = 10_000;
const defaultLimit = 100;

/** Operations that the index lacks are no commands yet: `npm run generate` runs a command before it writes the index. */
export function operationCommands(table: readonly OperationCommand[]): CommandDefinition[] {
  return table.flatMap((definition) => {
    const described = describedOperation(definition.operation);
    return described === undefined ? [] : [operationCommand(definition, described)];
  });
}

function operationCommand(definition: OperationCommand, described: DescribedOperation): CommandDefinition {
  const { name, takes = [], help, examples, secret } = definition;
  const argumentNames = [...described.path, ...takes];
  return {
    name,
    summary: described.summary.charAt(0).toLowerCase() + described.summary.slice(1),
    help: [secret === undefined ? undefined : secretHelp, help].filter(Boolean).join('\n') || undefined,
    examples,
    arguments: argumentNames.map((value) => argumentOf(value, described.values[value])),
    options: optionsOf(definition, described),
    hasSettings: true,
    load: async () => {
      const { runOperationCommand } = await import('./run-operation-command.ts');
      return (...input) => runOperationCommand({ ...definition, argumentNames, described }, input);
    },
  };
}

function argumentOf(name: string, value: DescribedValue = {}): ArgumentDefinition<unknown> {
  const parse = commandParameters[name]?.parse ?? parserOf(value);
  const choices = value.enum?.map(String);
  return { name: argumentOfValue(name), parse, ...(choices === undefined ? {} : { choices }) };
}

function optionsOf(definition: OperationCommand, described: DescribedOperation): OptionDefinitions {
  const { takes = [], requires = [], limit = defaultLimit, loses } = definition;
  const isPaged = hasPages(described);
  const required = [...described.required, ...requires];
  const shown = Object.entries(described.values).filter(
    ([name]) =>
      !takes.includes(name) && name !== 'cursor' && !(isPaged && name === 'limit') && name !== 'wait',
  );
  return {
    ...Object.fromEntries(
      shown.map(([name, value]) => [optionOfValue(name), optionOf(name, value, required.includes(name))]),
    ),
    ...(isPaged && limit !== 'all'
      ? { limit: requiredOption('number', 'how many', parseInteger(1, limitMax), String(limit)) }
      : {}),
    ...(loses === undefined ? {} : { yes: booleanOption(`confirm that ${loses}`) }),
    ...(described.hasDryRun ? changeOptions : {}),
  };
}

function optionOf(name: string, value: DescribedValue, isRequired: boolean): OptionDefinition<unknown> {
  const { placeholder, separator, parse = parserOf(value) } = commandParameters[name] ?? {};
  const help = helpOf(name, value);
  const types = [value.type].flat();
  if (types.includes('boolean')) {
    return { placeholder: null, help, read: (given) => (given === true ? true : undefined) };
  }
  if (types.includes('array')) {
    const read = (given: unknown) =>
      given === undefined
        ? undefined
        : [given]
            .flat()
            .flatMap((text) => (separator === undefined ? [text] : String(text).split(separator)));
    return {
      placeholder: placeholder ?? placeholderOf(name, value),
      help,
      isRequired,
      isRepeatable: true,
      read,
    };
  }
  const shownPlaceholder = placeholder ?? placeholderOf(name, value);
  return isRequired ? requiredOption(shownPlaceholder, help, parse) : option(shownPlaceholder, help, parse);
}

function placeholderOf(name: string, { type, enum: choices, items }: DescribedValue): string {
  if (choices !== undefined || items?.enum !== undefined) {
    return flagName(optionOfValue(name));
  }
  return [type].flat().some((one) => one === 'integer' || one === 'number') ? 'number' : 'text';
}

/** A description of the API is a sentence: help begins with a small letter. */
function helpOf(name: string, value: DescribedValue): string {
  const { description = '', items } = value;
  const text = commandParameters[name]?.help ?? description.replaceAll('`', '');
  const choices = (value.enum ?? items?.enum)?.filter((one) => typeof one === 'string').join(', ');
  const parts = [/^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text, choices];
  const shown = parts.filter(Boolean).join(': ');
  return value.default === undefined || typeof value.default === 'boolean'
    ? shown
    : `${shown} (default: ${value.default})`;
}

/** A number or null if the schema has them. The operation refuses what is neither. */
function parserOf({ type }: DescribedValue): Parser<unknown> {
  const types = [type].flat();
  return (text, name) => {
    if (text === 'none' && types.includes('null')) {
      return null;
    }
    const isNumber = types.includes('integer') || types.includes('number');
    return isNumber && /^[-+]?\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : parseText(text, name);
  };
}
