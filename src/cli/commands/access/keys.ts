import type { KeyKind } from '../../../access/key-limits.ts';
import type { CreatedKey } from '../../../auth/keys/service.ts';
import { foldText } from '../../../schema/folding.ts';
import { showPrice } from '../../../schema/money-text.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import type { createKeyOptions, rotateKeyOptions } from '../../framework/key-options.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { type Columns, formatTable, pluralize, printResult, printSecret } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';
import { colored } from '../../framework/style.ts';

/** Creates a key and prints it once. */
export function createKey(options: OptionsOf<typeof createKeyOptions>): Promise<void> {
  const kind = kindOf(options);
  return withShop(options, async ({ auth: { keys }, cheeses, contextOf }) => {
    const account = await keys.findAccount(options.account);
    const { name, type, dollarsPerOrder, dollarsPerDay, ordersPerDay } = options;
    const created = await keys.create(contextOf('cli'), account.id, {
      kind,
      name,
      type,
      dollarsPerOrder,
      dollarsPerDay,
      ordersPerDay,
      origins: listOf(options.origin),
      categories: listOf(options.category),
      cheeseIds: listOf(options.cheeseId),
      addresses: listOf(options.address),
      scopes: options.scope ?? [],
      lifetimeMs: options.expiresIn,
    });
    printNew(options, created);
    if (options.category?.length) {
      warnOfUnknownCategories(options.category, await cheeses.service.listCategoryNames());
    }
  });
}

const shownCategoriesMax = 20;

/** A warning and no error, because the category may be created later. @param known names of the categories of the catalogue */
function warnOfUnknownCategories(names: readonly string[], known: readonly string[]): void {
  const folded = new Set(known.map(foldText));
  const unknown = names.filter((name) => !folded.has(foldText(name)));
  if (unknown.length === 0) {
    return;
  }
  const more = known.length > shownCategoriesMax ? ' ...' : '';
  const shown = known.length === 0 ? 'none' : known.slice(0, shownCategoriesMax).join(', ') + more;
  const text = unknown.length === 1 ? 'the category' : 'the categories';
  process.stderr.write(
    `${colored('yellow', 'Warning:', process.stderr)} no cheese is in ${text} ${unknown.join(', ')}, so the key can order and change nothing there. Categories with cheeses: ${shown}. If the name is misspelled, revoke this key and create another one.\n`,
  );
}

function kindOf({ publishable, restricted }: OptionsOf<typeof createKeyOptions>): KeyKind {
  if (publishable && restricted) {
    throw new ConfigError('A key is either --publishable or --restricted. Choose one.');
  }
  return publishable ? 'publishable' : restricted ? 'restricted' : 'secret';
}

/** An option that was not given limits nothing. */
const listOf = <T>(values: readonly T[] | undefined) => (values?.length ? values : undefined);

/** Shows one key with its limits, and what it spent by day. */
export function showKey(id: number, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ auth: { keys, budgets }, site }) => {
    const key = await keys.find(id);
    const days = (await budgets.list(key.actor)).map(({ day, cents, orders }) => ({
      day,
      dollars: cents / 100,
      orders,
    }));
    const { scopes, name, ...rest } = key;
    const rows: [string, unknown][] = [
      ...Object.entries({ ...rest, ...(name === null ? {} : { name }), scopes: scopes.join(' ') || '-' }),
      ...days.map(({ day, dollars, orders }): [string, string] => [
        `spent on ${day}`,
        `${showPrice(dollars, { currency: site().currency })} in ${pluralize(orders, 'order')}`,
      ]),
    ];
    const columns: Columns<[string, unknown]> = {
      member: ([member]) => member,
      value: ([, value]) => (Array.isArray(value) ? value.join(', ') : value),
    };
    printResult(options, { ...key, spending: days }, formatTable(columns, rows));
  });
}

/** Creates a key that replaces another, and prints it once. */
export function rotateKey(id: number, options: OptionsOf<typeof rotateKeyOptions>): Promise<void> {
  return withShop(options, async ({ auth: { keys }, contextOf }) => {
    printNew(options, await keys.rotate(contextOf('cli'), id, options.overlap, { makeAdmin: true }));
  });
}

function printNew(options: CommandOptions, { id, kind, key, type, last4, expiresAt }: CreatedKey): void {
  const until = expiresAt === null ? '' : `, until ${expiresAt}`;
  printSecret(
    options,
    key,
    { id, kind, key, type, last4, expiresAt },
    kind === 'publishable'
      ? `This is the publishable key ${id}${until}. It may be in web pages and apps, and "keys list" shows it again.`
      : `This is key ${id}${until}. Keep it: it is not shown again.`,
  );
}
