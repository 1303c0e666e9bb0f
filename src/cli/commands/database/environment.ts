import { type ComposedShop, composeShop } from '../../../app/compose.ts';
import { type RemovedDemo, removeDemoCheeses } from '../../../app/demo/demo.ts';
import { countContents, type ShopContents } from '../../../app/shop-contents.ts';
import type { Database, Sql } from '../../../database/database.ts';
import { findEnvironment, storeEnvironment } from '../../../database/environment.ts';
import { migrate } from '../../../database/migrate.ts';
import { openDatabase } from '../../../database/open.ts';
import { removeTestOrders } from '../../../orders/test-orders.ts';
import type { Environment } from '../../../settings/config.ts';
import { ConfigError, type DatabaseLocation } from '../../../settings/parsers.ts';
import type { changeEnvironmentOptions } from '../../framework/command-options.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { pluralize, printResult } from '../../framework/output.ts';
import { databaseLocation, readConfig, requireDatabaseFile } from '../../framework/run-command.ts';

interface Change {
  /** null when the shop was never started. */
  readonly from: Environment | null;
  readonly to: Environment;
  readonly dryRun: boolean;
  readonly testOrdersRemoved: number;
  readonly demoCheeses: RemovedDemo;
  /** What the shop contains afterwards. */
  readonly remaining: ShopContents;
}

const noShop = (file: string) => `There is no shop at ${file} yet. Its first start stores the environment.`;

/** Prints the environment that is stored in the database. The settings may be of another. */
export async function showEnvironment(options: CommandOptions): Promise<void> {
  const location = databaseLocation(options);
  requireDatabaseFile(location, noShop);
  const database = await openDatabase({ database: location });
  try {
    await migrate(database);
    const environment = await findEnvironment(database);
    printResult(options, { environment }, environment ?? 'none: the shop was never started');
  } finally {
    await database.close();
  }
}

/** Changes the environment of a shop. A change to production removes test orders and the demo. */
export async function changeEnvironment(
  to: Environment,
  options: OptionsOf<typeof changeEnvironmentOptions>,
): Promise<void> {
  const location = databaseLocation(options);
  requireDatabaseFile(location, noShop);
  // The settings of the new environment must be valid before anything is removed.
  const config = readConfig({ ...options, flags: { ...options.flags, CURD_ENVIRONMENT: to } });
  const unlock = await requireNoServer(location);
  const { dryRun } = options;
  try {
    const shop = await composeShop(config, { isOfAnyEnvironment: true });
    try {
      await requireNoInstance(shop);
      const change = await attempt(shop.database, dryRun, (tx) => apply(tx, shop, to, dryRun));
      printResult(options, change, reportText(change));
    } finally {
      await shop.close();
    }
  } finally {
    unlock();
  }
}

/** A running server would keep the environment of its start. Returns how to unlock. @throws ConfigError */
async function requireNoServer(location: DatabaseLocation): Promise<() => void> {
  if (location.engine === 'postgres') {
    return () => {};
  }
  const { lockServer } = await import('../../../database/sqlite/server-lock.ts');
  const lock = lockServer(location.file);
  if (lock === null) {
    throw new ConfigError(`A server has ${location.file} open. Stop it first.`);
  }
  return lock.release;
}

/**
 * Refuses to continue while other servers run. SQLite has a lock for that, which ends with its process.
 * @throws ConfigError if a server of the database runs
 */
async function requireNoInstance({ database, operations: { instances } }: ComposedShop): Promise<void> {
  const running = database.hasOneServer
    ? undefined
    : (await instances.list()).find(({ id }) => id !== instances.id);
  if (running !== undefined) {
    throw new ConfigError(
      `The server ${running.id} of this shop runs, and would keep the environment of its start. Stop all servers first. One that was killed counts as running for three minutes after ${running.seenAt}.`,
    );
  }
}

/** Runs `work` in a transaction, which a dry run rolls back. */
async function attempt<T>(database: Database, dryRun: boolean, work: (tx: Sql) => Promise<T>): Promise<T> {
  const rolledBack = new Error('dry run');
  let result: T | undefined;
  try {
    await database.exclusiveTransaction(async (tx) => {
      result = await work(tx);
      if (dryRun) {
        throw rolledBack;
      }
    });
  } catch (error) {
    if (error !== rolledBack) {
      throw error;
    }
  }
  return result as T;
}

async function apply(
  tx: Sql,
  { cheeses: { service: cheeses }, contextOf }: ComposedShop,
  to: Environment,
  dryRun: boolean,
): Promise<Change> {
  const from = await findEnvironment(tx);
  const isForProduction = to === 'production' && from !== to;
  const demoCheeses = isForProduction
    ? await removeDemoCheeses(cheeses, tx, contextOf('cli'))
    : { removed: [], kept: [] };
  const testOrdersRemoved = isForProduction ? await removeTestOrders(tx) : 0;
  await storeEnvironment(tx, to);
  const remaining = await countContents(tx);
  return { from, to, dryRun, testOrdersRemoved, demoCheeses, remaining: { ...remaining } };
}

function reportText({ from, to, dryRun, testOrdersRemoved, demoCheeses, remaining }: Change): string {
  const { removed, kept } = demoCheeses;
  const { cheeses, orders, customers } = remaining;
  return [
    ...(dryRun ? ['This is a dry run: nothing was changed.'] : []),
    from === to ? `The environment is ${to} already.` : `Environment: ${from ?? 'none'} -> ${to}.`,
    ...(to === 'production' && from !== to
      ? [
          `Removed: ${pluralize(testOrdersRemoved, 'test order')} and ${pluralize(removed.length, 'demo cheese')}${removed.length === 0 ? '' : ` (${removed.join(', ')})`}.`,
          `Kept: ${pluralize(cheeses, 'cheese')}, ${pluralize(orders, 'order')} and ${pluralize(customers, 'customer')}. Delete trial data yourself. Test keys are not accepted in production.`,
        ]
      : []),
    ...(kept.length === 0
      ? []
      : [
          `Demo cheeses in active orders were kept: ${kept.join(', ')}. Deliver or cancel these orders first.`,
        ]),
  ].join('\n');
}
