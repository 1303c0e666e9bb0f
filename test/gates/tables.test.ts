/** Tables: each belongs to one folder, and only the statements of that folder name it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { filesIn, read } from './sources.ts';

const owners: Readonly<Record<string, string>> = {
  account: 'auth/keys',
  api_key: 'auth/keys',
  session: 'auth/sessions',
  oauth_client: 'auth/oauth',
  oauth_object: 'auth/oauth',
  admin_approval: 'auth/oauth',
  catalogue: 'cheeses',
  cheese: 'cheeses',
  term: 'cheeses',
  cheese_term: 'cheeses',
  cheese_tombstone: 'cheeses',
  term_count: 'cheeses',
  stock: 'stock',
  stock_count: 'stock',
  image_file: 'images',
  cheese_image: 'images',
  orders: 'orders',
  open_order_cheese: 'orders',
  order_count: 'orders',
  order_count_change: 'orders',
  customer: 'customers',
  login_failure: 'customers',
  password_reset: 'customers',
  login_network: 'customers',
  event: 'events',
  event_log: 'events',
  event_epoch: 'events',
  background_job: 'jobs',
  statistic: 'statistics',
  statistic_cheese: 'statistics',
  statistic_position: 'statistics',
  instance: 'administration',
  doctor_run: 'administration',
  webhook_endpoint: 'webhooks',
  webhook_delivery: 'webhooks',
  webhook_attempt: 'webhooks',
  quota: 'limits',
  idempotent_answer: 'idempotency',
  migration: 'database',
  shop: 'database',
};

/** Files that name tables of other folders, with the reason. This list may only shrink. */
const exceptions: Readonly<Record<string, { readonly tables: readonly string[]; readonly reason: string }>> =
  {
    'src/auth/oauth/queries.ts': {
      tables: ['account', 'customer'],
      reason: 'every request with a token looks up the token, its account and its customer in one statement',
    },
    'src/orders/consistency-check.ts': {
      tables: ['event', 'background_job', 'customer'],
      reason: 'it compares orders with what other tables say about them',
    },
    'src/stock/consistency-check.ts': {
      tables: ['open_order_cheese', 'orders', 'cheese', 'background_job'],
      reason: 'it compares stock with the reservations of orders and the statuses of cheeses',
    },
    'src/webhooks/consistency-check.ts': {
      tables: ['background_job'],
      reason: 'it compares deliveries with their jobs',
    },
    'src/cheeses/image-urls.ts': {
      tables: ['cheese', 'cheese_image'],
      reason: 'it compares the photo URLs of cheeses with the names of their images',
    },
    'src/app/shop-contents.ts': {
      tables: ['account', 'cheese', 'customer', 'orders'],
      reason: 'it counts what a shop contains',
    },
    'src/cli/reset.ts': { tables: ['catalogue', 'image_file'], reason: 'it empties the tables of a shop' },
  };

/** Tables after all migrations. */
function existingTables(): string[] {
  const scripts = filesIn('migrations/*.sqlite.sql').map(read).join('\n');
  const changes = scripts.matchAll(/^(create|drop|alter) table (\w+)(?: rename to (\w+))?/gm);
  const tables = new Set(['migration']);
  for (const [, verb, name = '', newName] of changes) {
    if (verb === 'create') {
      tables.add(name);
    } else if (verb === 'drop' || newName !== undefined) {
      tables.delete(name);
      tables.add(newName ?? 'migration');
    }
  }
  return [...tables].sort();
}

/** Tables that the SQL of a file names. */
function tablesIn(path: string): Set<string> {
  const source = read(path).replace(/^\s*\/?\*.*$/gm, '');
  const statements = [...source.matchAll(/sql`([^`]*)`/g)].map(([, text = '']) => text).join('\n');
  const inSql = statements.matchAll(/\b(?:from|join|into|update)\s+([a-z_]+)/g);
  const inCalls = source.matchAll(/\b(?:insert|deleteInOrder|deleteUnlocked)\(\s*'([a-z_]+)'/g);
  return new Set([...inSql, ...inCalls].map(([, name = '']) => name).filter((name) => name in owners));
}

const files = filesIn('src/**/*.ts');

/** In src/database any file may contain statements. */
const isDatabase = /^src\/database\//;

function mayName(path: string, table: string): boolean {
  const isOwn = path.startsWith(`src/${owners[table]}/`);
  const hasStatements = isDatabase.test(path) || /(^|\/|-)(queries|consistency-check)\.ts$/.test(path);
  return (isOwn && hasStatements) || (exceptions[path]?.tables.includes(table) ?? false);
}

suite('Tables', () => {
  test('have an owner each', () => {
    assert.deepEqual(Object.keys(owners).sort(), existingTables());
  });

  test('are named by the queries and the consistency check of their folder', () => {
    const foreign = files.flatMap((path) =>
      [...tablesIn(path)].filter((table) => !mayName(path, table)).map((table) => `${path}: ${table}`),
    );
    assert.deepEqual(foreign, [], 'move the statement into the queries of the folder that owns the table');
  });

  test('of other folders are named by the listed exceptions, each of which is still needed', () => {
    const unneeded = Object.entries(exceptions).flatMap(([path, { tables }]) => {
      const named = files.includes(path) ? tablesIn(path) : new Set();
      return tables.filter((table) => !named.has(table)).map((table) => `${path}: ${table}`);
    });
    assert.deepEqual(unneeded, [], 'remove these from the list');
  });
});
