/** Runs the command of an operation: finds ids, reads the pages of a list, and prints the result. */
import type { ComposedShop } from '../../app/compose.ts';
import type { Context } from '../../database/context.ts';
import { AppError } from '../../errors.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { type ChangeOptions, makeChange } from '../framework/change.ts';
import { type CommandOptions, flagName } from '../framework/options.ts';
import { type Columns, formatItems, formatTable, printResult, printSecret } from '../framework/output.ts';
import { withShop } from '../framework/run-command.ts';
import { callForResponse, callOperation } from './call-operation.ts';
import {
  argumentOfValue,
  hasPages,
  optionOfValue,
  type PreparedCommand,
  type Result,
  type Values,
} from './operation.ts';
import { commandParameters } from './parameters.ts';

type Options = CommandOptions & Values;

/** The largest page of every list. */
const pageMax = 100;
const failedExitCode = 2;

/** @param input the values of the arguments, and the options */
export function runOperationCommand(command: PreparedCommand, input: readonly unknown[]): Promise<void> {
  const options = input.at(-1) as Options;
  const given = valuesOf(command, input);
  const { described, mayCreateShop = false } = command;
  if (described.hasDryRun) {
    const change = async (shop: ComposedShop, context: Context) => {
      const result = await call(shop, command, options, given, context);
      return { value: jsonOf(command, given, result), text: textOf(command, shop, result, given) };
    };
    return makeChange(options as unknown as ChangeOptions, change, mayCreateShop);
  }
  return withShop(
    options,
    async (shop) => {
      const result = await call(shop, command, options, given, shop.contextOf('cli'));
      print(command, shop, options, given, result);
      if (command.failed?.(result)) {
        process.exitCode = failedExitCode;
      }
    },
    mayCreateShop,
  );
}

/** The given values by their names in the API. */
function valuesOf({ argumentNames, described }: PreparedCommand, input: readonly unknown[]): Values {
  const options = input.at(-1) as Values;
  return {
    ...Object.fromEntries(Object.keys(described.values).map((name) => [name, options[optionOfValue(name)]])),
    ...Object.fromEntries(argumentNames.map((name, index) => [name, input[index]])),
  };
}

async function call(
  shop: ComposedShop,
  command: PreparedCommand,
  options: Options,
  given: Values,
  context: Context,
): Promise<Result> {
  const { operation, prepare = (values: Values) => values, loses } = command;
  if (loses !== undefined && options.yes !== true) {
    throw new ConfigError(`In this shop (${shop.config.environment}), ${loses}. Add --yes to confirm.`);
  }
  const found = Object.entries(given).map(async ([name, value]) => {
    const { find } = commandParameters[name] ?? {};
    return [name, find === undefined || value === undefined ? value : await find(shop, String(value))];
  });
  const values = await prepare(Object.fromEntries(await Promise.all(found)), (other, parameters) =>
    callForResponse(shop, other, parameters),
  );
  const run = (more: Values) => callOperation(shop, operation, { ...values, ...more }, context);
  try {
    return await (hasPages(command.described) ? readPages(run, Number(options.limit)) : run({}));
  } catch (error) {
    throw error instanceof AppError ? nameOptions(command, given, error) : error;
  }
}

/** @param limit NaN: all items */
async function readPages(read: (more: Values) => Promise<Result>, limit: number): Promise<Result> {
  const items: Result[] = [];
  for (let cursor: string | undefined; ; ) {
    const left = Number.isNaN(limit) ? pageMax : limit - items.length;
    const page = await read({ limit: Math.min(left, pageMax), cursor });
    items.push(...page.items);
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined || items.length === limit) {
      const { items: _, nextCursor: __, ...rest } = page;
      return { items, ...rest };
    }
  }
}

/** A validation error in the words of the command line: `--country is "XX": it must be a country code.` */
function nameOptions({ argumentNames }: PreparedCommand, given: Values, error: AppError): Error {
  const [first] = error.errors;
  const field = first?.field ?? '';
  const [name = ''] = Object.hasOwn(given, field) ? [field] : (/^\w+/.exec(field) ?? []);
  if (first === undefined || !Object.hasOwn(given, name)) {
    return error;
  }
  const isArgument = argumentNames.includes(name);
  const label = isArgument ? `<${argumentOfValue(name)}>` : `--${flagName(optionOfValue(name))}`;
  const value = given[name];
  const message = first.message.replace(/\.$/, '');
  if (value === undefined) {
    return new ConfigError(`${label} ${message}.`);
  }
  const at = /^\[(\d+)\]$/.exec(first.field.slice(name.length))?.[1];
  const shown = Array.isArray(value) ? (at === undefined ? value.join(' ') : value[Number(at)]) : value;
  // Some messages are whole sentences.
  return new ConfigError(
    `${label} is "${shown}": ${/^(there|the|use|send) /.test(message) ? '' : 'it '}${message}.`,
  );
}

function print(
  command: PreparedCommand,
  shop: ComposedShop,
  options: Options,
  given: Values,
  result: Result,
): void {
  const { secret, line } = command;
  if (secret !== undefined) {
    printSecret(options, secret(result), result, textOf(command, shop, result, given));
  } else if (line !== undefined) {
    for (const item of result.items) {
      printResult(options, item, line(item));
    }
  } else {
    printResult(options, jsonOf(command, given, result), textOf(command, shop, result, given));
  }
}

/** A list without pages is complete, and printed as its items. */
function jsonOf(
  { json, columns, printsItemsOnly, described }: PreparedCommand,
  given: Values,
  result: Result,
) {
  if (json !== undefined) {
    return json(given, result);
  }
  const isComplete = columns !== undefined && (printsItemsOnly || !hasPages(described));
  return isComplete ? (result.items ?? result) : result;
}

function textOf(command: PreparedCommand, shop: ComposedShop, result: Result, given: Values): string {
  const { says, columns, none } = command;
  if (says !== undefined) {
    return says(result, given);
  }
  if (columns !== undefined) {
    const items = result.items ?? [result];
    const { hasMore = false, total } = result;
    const of = total === undefined ? '' : ` of ${total}`;
    const more = hasMore ? `\nThese are ${items.length}${of}. Show more with --limit.` : '';
    return formatItems(columns, items, { currency: shop.site().currency }, none) + more;
  }
  const members: Columns<[string, unknown]> = {
    member: ([name]) => name,
    value: ([, value]) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : value),
  };
  return formatTable(members, Object.entries(result));
}
