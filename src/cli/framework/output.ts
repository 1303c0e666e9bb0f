/** What commands print: a JSON value or text, tables, secrets and failures. */
import { commandName } from '../../command-name.ts';
import { AppError, isFailure } from '../../errors.ts';
import { ConfigError } from '../../settings/parsers.ts';
import { systemErrorText, toReason } from '../../system-errors.ts';
import type { CommandOptions } from './options.ts';
import { colored, errorPrefix } from './style.ts';

/** Prints a result: with --json the value, otherwise the text. */
export function printResult({ json }: CommandOptions, value: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text}\n`);
}

/**
 * Prints only the secret on standard output, so that `KEY=$(curd keys create ...)` works, and the text about it on
 * standard error. With --json, one value on standard output contains both.
 */
export function printSecret(options: CommandOptions, secret: string, value: unknown, text: string): void {
  printResult(options, value, secret);
  if (!options.json) {
    process.stderr.write(`${text}\n`);
  }
}

/** "1 cheese", "2 cheeses". */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What an operator does about webhook endpoints that a copy or a restore has disabled. Begins a new line, or is empty. */
export function disabledEndpointsText(ids: readonly number[]): string {
  return ids.length === 0
    ? ''
    : `\nDisabled: ${pluralize(ids.length, 'webhook endpoint')} (${ids.join(', ')}), so that receivers get nothing twice while the other shop runs too. When this shop replaces it, enable each with "${commandName} webhooks enable <id>": it continues where it was.`;
}

/** What an operator does about mails after a copy or a restore. Begins a new line. */
export const mailsPausedText = `\nMails to customers wait, so that nobody gets one twice while the other shop runs too. When this shop replaces it, send them with "${commandName} mail resume", or drop them with "${commandName} mail discard".`;

/** Columns of a table by their titles: what an item has there. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => unknown>>;

/**
 * A table, with each column as wide as its widest value, and - where an item has null.
 *
 * @param none the text if there are no items
 */
export function formatTable<Item>(columns: Columns<Item>, items: readonly Item[], none?: string): string {
  if (items.length === 0 && none !== undefined) {
    return none;
  }
  const header = Object.keys(columns);
  const rows = items.map((item) => Object.values(columns).map((cellOf) => String(cellOf(item) ?? '-')));
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

/** Columns by their titles: the path of a member of an item, or a function. */
// biome-ignore lint/suspicious/noExplicitAny: items are JSON of the API.
export type ItemColumns<Style> = Readonly<Record<string, string | ((item: any, style: Style) => unknown)>>;

/** A table of items of the API. @param style how functions of columns write amounts */
export function formatItems<Style>(
  columns: ItemColumns<Style>,
  items: readonly unknown[],
  style: Style,
  none?: string,
): string {
  const readers = Object.entries(columns).map(([title, path]) => [
    title,
    typeof path === 'function'
      ? (item: unknown) => path(item, style)
      : (item: unknown) =>
          path.split('.').reduce((value, name) => (value as Record<string, unknown>)[name], item),
  ]);
  return formatTable(Object.fromEntries(readers), items, none);
}

/** Prints a list: with --json the items, otherwise a table of them. */
export function printTable<Item>(
  options: CommandOptions,
  items: readonly Item[],
  columns: Columns<Item>,
  none?: string,
): void {
  printResult(options, items, formatTable(columns, items, none));
}

/** Prints an error in one sentence and sets exit status 1. */
export function printFailure(error: unknown): void {
  const isExpected = error instanceof AppError || error instanceof ConfigError;
  const cause = error instanceof AppError && isFailure(error.code) ? causeText(error) : '';
  const message = isExpected ? error.message : systemErrorText(error);
  process.stderr.write(`${errorPrefix()}${message}${cause}\n`);
  if (!isExpected && process.env.CURD_LOG_LEVEL === 'debug' && error instanceof Error) {
    process.stderr.write(`${error.stack}\n`);
  }
  process.exitCode = 1;
}

function causeText({ cause }: AppError): string {
  // When Node tried several network addresses, the error has a code and an empty message.
  const { message = '', code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason = toReason(cause);
  return reason !== message ? `: ${reason}.` : message || code ? ` (${message || code})` : '';
}
