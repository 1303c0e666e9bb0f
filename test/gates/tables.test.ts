/** Tables: each belongs to one folder of `src`, and only the statements of that folder name it. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { suite, test } from 'node:test';
import type { Engine } from '../../src/database/sql.ts';
import { filesIn, read } from './sources.ts';

/** The migrations name the folder of `src` before its tables. The migrations create the last one themselves. */
const owners: Readonly<Record<string, string>> = { ...ownersIn('sqlite'), migration: 'database' };

function ownersIn(engine: Engine): Record<string, string> {
  const found: Record<string, string> = {};
  let folder = '';
  const scripts = filesIn(`migrations/*.${engine}.sql`).sort().map(read).join('\n');
  for (const [, section, created] of scripts.matchAll(/^(?:-- src\/(\S+)$|create table (\w+))/gm)) {
    folder = section ?? folder;
    if (created !== undefined) {
      found[created] = folder;
    }
  }
  return found;
}

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
    'src/images/image-urls.ts': {
      tables: ['cheese', 'cheese_image'],
      reason: 'it compares the photo URLs of cheeses with the names of their images',
    },
    'src/app/shop-contents.ts': {
      tables: ['account', 'catalogue', 'cheese', 'customer', 'orders'],
      reason: 'it counts what a shop contains, and reads the ids that it has given out',
    },
    'src/sandbox/snapshots/empty-shop.ts': {
      tables: ['catalogue', 'cheese', 'event_log', 'image_file', 'shop_profile', 'webhook_endpoint'],
      reason: 'it empties the tables of a shop, and sets where what stays continues',
    },
    'src/sandbox/snapshots/restore-rows.ts': {
      tables: ['catalogue', 'customer', 'event_log', 'image_file', 'webhook_endpoint'],
      reason: 'it replaces the rows of all tables, and sets where what stays continues',
    },
  };

/** What the port to the database exports that has the name of a table as its first parameter, maybe after the transaction. */
const verbs = filesIn('src/database/**/*.ts').flatMap((path) =>
  [...read(path).matchAll(/\b(\w+)(?:<[^(]*>)?\(\s*(?:tx: Sql,\s*)?table: string/g)].map(
    ([, verb = '']) => verb,
  ),
);

/** Tables that the SQL of a source names, or a call of the port. Prose in quotes is left out. */
function tablesIn(source: string): Set<string> {
  const code = source.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  const outsideQuotes = code.replace(/\brawSql\(\s*'([^'\n]*)'/g, ' $1 ').replace(/'[^'\n]*'/g, '');
  const inSql = outsideQuotes.matchAll(/\b(?:from|join|into|update|table)\s+([a-z_]+)/g);
  const inCalls = code.matchAll(
    new RegExp(`\\b(?:${verbs.join('|')})(?:<[^>(]*>)?\\(\\s*(?:tx,\\s*)?['\`]([a-z_]+)`, 'g'),
  );
  return new Set([...inSql, ...inCalls].map(([, name = '']) => name).filter((name) => name in owners));
}

const files = filesIn('src/**/*.ts');

/** In src/database any file may contain statements. The queue of jobs is a table that all areas use, so its statements are its interface. */
const mayHaveStatements = /^src\/(database\/|jobs\/(queue|leases)\.ts$)/;

function mayName(path: string, table: string): boolean {
  const isOwn = path.startsWith(`src/${owners[table]}/`);
  const hasStatements = mayHaveStatements.test(path) || /(^|\/|-)(queries|consistency-check)\.ts$/.test(path);
  return (isOwn && hasStatements) || (exceptions[path]?.tables.includes(table) ?? false);
}

suite('Tables', () => {
  test('Tables have an owner each, the same on both engines', () => {
    assert.deepEqual(
      ownersIn('postgres'),
      ownersIn('sqlite'),
      'write the same "-- src/<folder>" before the table in the migrations of both engines',
    );
    const folders = new Set(files.map((path) => dirname(path).slice('src/'.length)));
    assert.deepEqual(
      Object.entries(owners).filter(([, folder]) => !folders.has(folder)),
      [],
      'write "-- src/<folder>" before the table in the migration',
    );
  });

  test('Tables are named by the queries and the consistency check of their folder', () => {
    const foreign = files.flatMap((path) =>
      [...tablesIn(read(path))].filter((table) => !mayName(path, table)).map((table) => `${path}: ${table}`),
    );
    assert.deepEqual(foreign, [], 'move the statement into the queries of the folder that owns the table');
  });

  test('Tables are found in each verb of the port that names a table', () => {
    for (const verb of [
      'insert',
      'sendInsert',
      'deleteInOrder',
      'deleteUnlocked',
      'deleteSlice',
      'insertRows',
      'sendRows',
    ]) {
      assert.ok(verbs.includes(verb), `${verb} is missing in ${verbs.join(', ')}`);
    }
    for (const verb of verbs) {
      for (const call of [
        `tx.${verb}('cheese', x)`,
        `${verb}(\n  'cheese',\n x)`,
        `${verb}(\n  tx,\n  'cheese',\n x)`,
        `${verb}<Row>('cheese', x)`,
      ]) {
        assert.deepEqual([...tablesIn(call)], ['cheese'], call);
      }
    }
  });

  test('Tables are found in each statement that names a table', () => {
    for (const statement of [
      'select 1 from',
      'with x as (select 1) select 1 from x join',
      'update',
      'insert into',
    ]) {
      for (const call of ['sql`? cheese`', `sql\`\${sql\`true\`} ? cheese\``, "rawSql('? cheese')"]) {
        assert.deepEqual([...tablesIn(call.replace('?', statement))], ['cheese'], call);
      }
    }
    assert.deepEqual([...tablesIn("throw notFound('The name from cheese is missing')")], []);
  });

  test('Tables of other folders are named by the listed exceptions, each of which is still needed', () => {
    const unneeded = Object.entries(exceptions).flatMap(([path, { tables }]) => {
      const named = files.includes(path) ? tablesIn(read(path)) : new Set();
      return tables.filter((table) => !named.has(table)).map((table) => `${path}: ${table}`);
    });
    assert.deepEqual(unneeded, [], 'remove these from the list');
  });
});
