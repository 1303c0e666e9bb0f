/** What the table of operations states about a command, and the names of its arguments and options. */
import type { MoneyStyle } from '../../schema/money-text.ts';
import type { ItemColumns } from '../framework/output.ts';
import type { DescribedOperation } from './described.ts';
import { commandParameters } from './parameters.ts';

/** A result of an operation. The table knows what is in it. */
// biome-ignore lint/suspicious/noExplicitAny: the index has no schemas of responses.
export type Result = any;

/** Values by their names in the API. */
export type Values = Readonly<Record<string, unknown>>;

/** Runs an operation that reads. @returns the body of the response, and its ETag if it has one */
export type ReadOperation = (
  operation: string,
  values: Values,
) => Promise<{ readonly body: Result; readonly etag: string | undefined }>;

/** What the schemas of an operation do not say about its command. */
export interface OperationCommand {
  readonly name: string;
  readonly operation: string;
  /** Printed after the options in `--help`. */
  readonly help?: string;
  readonly examples: readonly string[];
  /** Members of the body that are arguments, after the parameters of the path. */
  readonly takes?: readonly string[];
  /** Values that the API does not require, because a credential has an account. */
  readonly requires?: readonly string[];
  /** How many items a list shows without --limit. */
  readonly limit?: number | 'all';
  /** A table of the result. */
  readonly columns?: ItemColumns<MoneyStyle>;
  /** A list: one line for each item in place of a table. --json prints one JSON value on each line. */
  readonly line?: (item: Result) => string;
  /** A list: what is printed if it is empty. */
  readonly none?: string;
  /** A list that has pages: --json prints its items only, not whether there are more. */
  readonly printsItemsOnly?: boolean;
  /** The text of a result. @param values those that were given */
  readonly says?: (result: Result, values: Result) => string;
  /** What --json prints in place of the response. */
  readonly json?: (values: Result, result: Result) => unknown;
  /** The text that standard output has alone. */
  readonly secret?: (result: Result) => string;
  /** Whether the exit status is 2. */
  readonly failed?: (result: Result) => boolean;
  /** Completes the values before the operation runs. */
  readonly prepare?: (values: Result, read: ReadOperation) => Values | Promise<Values>;
  /** What is lost: --yes must confirm it. */
  readonly loses?: string;
  /** Creates the shop if there is none. */
  readonly mayCreateShop?: boolean;
}

/** What makes the command of an operation ready to run. */
export interface PreparedCommand extends OperationCommand {
  /** The names of the arguments in the API. */
  readonly argumentNames: readonly string[];
  readonly described: DescribedOperation;
}

/** The name of an option: `addressCity` of `address.city`. */
export const optionOfValue = (value: string) =>
  commandParameters[value]?.option ?? value.replace(/\.(\w)/g, (_, letter) => letter.toUpperCase());
/** The name of an argument. */
export const argumentOfValue = (value: string) => commandParameters[value]?.argument ?? value;

export const hasPages = ({ values }: DescribedOperation) => values.cursor !== undefined;
