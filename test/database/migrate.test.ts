/** Migrations: once, in order, together or one by one, and beside newer versions. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../src/database/database.ts';
import {
  findNewerSchema,
  listMigrations,
  type Migration,
  migrate,
  requireOwnSchema,
} from '../../src/database/migrate.ts';
import { sql } from '../../src/database/sql.ts';
import { ConfigError } from '../../src/settings/parsers.ts';
import { cleanUp, engines, onBothEngines, until } from '../context.ts';
import { futureMigrations } from '../upgrade/newer-schema.ts';
import { freshConfig, open } from './notes.ts';

const namesOf = (migrations: readonly Migration[]) => migrations.map(({ name }) => name);

/** The whole schema of a database, for a comparison on one engine. */
async function schemaOf(database: Database): Promise<string[]> {
  const statement =
    database.engine === 'sqlite'
      ? sql`select type || ' ' || name || ': ' || coalesce(sql, '') as line from sqlite_schema`
      : sql`
          select table_name || '.' || column_name || ': ' || data_type || ' ' || is_nullable || ' ' ||
            coalesce(collation_name, '') || ' ' || coalesce(column_default, '') as line
          from information_schema.columns where table_schema = 'public'
          union all select indexdef from pg_indexes where schemaname = 'public'
          union all select conrelid::regclass || ': ' || pg_get_constraintdef(oid) from pg_constraint
          where connamespace = 'public'::regnamespace`;
  const rows = await database.all<{ line: string }>(statement);
  return rows.map(({ line }) => line).sort();
}

/** Tables and columns in a form that is comparable between engines: name, and whether it may be null. */
async function columnsOf(database: Database): Promise<string[]> {
  const rows = await database.all<{ line: string }>(
    database.engine === 'sqlite'
      ? sql`
          select t.name || '.' || c.name || case when c."notnull" = 1 or c.pk > 0 then ' not null' else '' end as line
          from pragma_table_list t join pragma_table_xinfo(t.name) c
          where t.schema = 'main' and t.name not like 'sqlite_%'`
      : sql`
          select table_name || '.' || column_name || case is_nullable when 'NO' then ' not null' else '' end as line
          from information_schema.columns where table_schema = 'public'`,
  );
  return comparable(rows);
}

/** The table `quota` differs, because one server counts requests in another way than several. */
function comparable(rows: readonly { line: string }[]): string[] {
  return rows
    .map(({ line }) => line)
    .filter((line) => !/^quota\b/.test(line))
    .sort();
}

/** Indexes with a name in the migrations: table, name, uniqueness and columns. */
async function indexesOf(database: Database): Promise<string[]> {
  const rows = await database.all<{ line: string }>(
    database.engine === 'sqlite'
      ? sql`
          select t.name || ': ' || case i."unique" when 1 then 'unique ' else '' end || i.name || ' (' ||
            (select group_concat(coalesce(name, '?'), ', ' order by seqno) from pragma_index_info(i.name)) || ')' as line
          from pragma_table_list t join pragma_index_list(t.name) i where t.schema = 'main' and i.origin = 'c'`
      : sql`
          select i.indrelid::regclass || ': ' || case when i.indisunique then 'unique ' else '' end ||
            i.indexrelid::regclass || ' (' ||
            (select string_agg(coalesce(a.attname, '?'), ', ' order by k.place)
             from unnest(i.indkey::int[]) with ordinality k (number, place)
             left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number) || ')' as line
          from pg_index i join pg_class c on c.oid = i.indexrelid
          where c.relnamespace = 'public'::regnamespace and not i.indisprimary`,
  );
  return comparable(rows);
}

/** Whether another process runs a migration: SQLite refuses a writer then, and PostgreSQL shows the statement. */
async function isMigrating(database: Database): Promise<boolean> {
  if (database.engine === 'postgres') {
    const running = sql`select 1 from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()`;
    return (await database.get(running)) !== undefined;
  }
  return database.run(sql`update shop set id = 1`).then(
    () => false,
    () => true,
  );
}

onBothEngines('migrate', (engine) => {
  const all = listMigrations(engine);

  test('migrate() brings a fresh database to the newest schema, and does nothing the second time', async (t) => {
    const database = await open(t, await freshConfig(t, engine));
    assert.deepEqual(await migrate(database), namesOf(all));
    const schema = await schemaOf(database);
    assert.ok(schema.some((line) => line.includes('cheese')));
    assert.deepEqual(await migrate(database), []);
    assert.deepEqual(await schemaOf(database), schema);
    const rows = await database.all<Migration>(sql`select number, name from migration order by number`);
    assert.deepEqual(
      rows.map(({ number, name }) => [number, name]),
      all.map(({ number, name }) => [number, name]),
    );
  });

  test('migrate() applies each migration once when several processes start concurrently', async (t) => {
    const config = await freshConfig(t, engine);
    const starters = await Promise.all(Array.from({ length: 4 }, () => open(t, config)));
    for (const migrations of [all, futureMigrations(engine)]) {
      const applied = await Promise.all(starters.map((database) => migrate(database, migrations)));
      assert.deepEqual(applied.flat(), namesOf(migrations === all ? all : migrations.slice(-1)));
    }
  });

  test('migrate() uses a newer schema, unless it has a breaking migration, and changes nothing in it', async (t) => {
    const database = await open(t, await freshConfig(t, engine));
    const change = (number: number, name: string, ...lines: string[]) => {
      const script = [...lines, `create table ${name} (id bigint primary key);`].join('\n');
      return { number, name, script };
    };
    const newer = [...all, change(9997, 'one'), change(9998, 'two', '-- about two')];
    await migrate(database, newer);
    const schema = await schemaOf(database);
    assert.deepEqual(await migrate(database), []);
    const versions = { database: 9998, program: all.length };
    assert.deepEqual(await findNewerSchema(database), versions);
    await assert.rejects(
      requireOwnSchema(database, 'copy'),
      /9998.*run "npx curd copy" of the newer version/,
    );
    assert.deepEqual(await schemaOf(database), schema);

    const breaking = [...newer, change(9999, 'three', '-- breaking: two and three'), change(10_000, 'four')];
    assert.deepEqual(await migrate(database, breaking), ['three', 'four']);
    await assert.rejects(migrate(database), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(
        error.message,
        /at migration 10000, .*after migration 9999 \(three\): start the newer version/,
      );
      return true;
    });
    await assert.rejects(migrate(database, newer), /9999/);
    assert.deepEqual(await migrate(database, breaking.slice(0, -1)), [], 'knows the breaking migration');
  });

  test('migrate() refuses a database of before the first release, and changes nothing in it', async (t) => {
    const database = await open(t, await freshConfig(t, engine));
    await database.exclusiveTransaction(async (tx, runScript) => {
      await runScript('create table migration (number integer primary key, name text not null)');
      await tx.run(sql`insert into migration (number, name) values (1, 'schema'), (2, 'orders')`);
    });
    const schema = await schemaOf(database);
    await assert.rejects(migrate(database), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(
        error.message,
        /before the first release, .*"npx curd export cheeses shop\.ndjson" with the old version, then "npx curd import cheeses/,
      );
      return true;
    });
    assert.deepEqual(await schemaOf(database), schema);
  });

  test('migrate() leads to the same schema one by one as all at once', async (t) => {
    const future = futureMigrations(engine);
    const atOnce = await open(t, await freshConfig(t, engine));
    assert.deepEqual(await migrate(atOnce, future), namesOf(future));
    const oneByOne = await open(t, await freshConfig(t, engine));
    for (const [index, { name }] of future.entries()) {
      assert.deepEqual(await migrate(oneByOne, future.slice(0, index + 1)), [name]);
    }
    assert.deepEqual(await schemaOf(oneByOne), await schemaOf(atOnce));
  });

  test('migrate() continues where an older program stopped, keeping what is stored', async (t) => {
    const database = await open(t, await freshConfig(t, engine));
    const older = [
      { number: 1, name: 'one', script: 'create table a (x bigint); insert into a values (7);' },
    ];
    const script = "alter table a add column y text; update a set y = x || '!';";
    const newer = [...older, { number: 2, name: 'two', script }];
    assert.deepEqual(await migrate(database, older), ['one']);
    assert.deepEqual(await migrate(database, newer), ['two']);
    const row = await database.get<{ x: number; y: string }>(sql`select x, y from a`);
    assert.deepEqual([row?.x, row?.y], [7, '7!']);
  });

  test('migrate() applies a migration whose process was killed in the middle at the next start, and keeps all rows', async (t) => {
    const config = await freshConfig(t, engine);
    const database = await open(t, config);
    await migrate(database);
    await database.run(sql`insert into account (id, name, plan, created_at) values (7, 'kept', 'free', '')`);
    const schema = await schemaOf(database);
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('./long-migration.ts', import.meta.url)), JSON.stringify(config.database)],
      { stdio: 'inherit' },
    );
    const ended = once(child, 'exit');
    cleanUp(t, () => child.kill('SIGKILL'));
    await until(() => isMigrating(database), 'the process does not migrate');
    child.kill('SIGKILL');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    const next = await open(t, config);
    assert.deepEqual(await migrate(next), []);
    assert.deepEqual(await schemaOf(next), schema);
    assert.deepEqual(await migrate(next, futureMigrations(engine)), ['of-the-future']);
    assert.equal(
      (await next.get<{ name: string }>(sql`select name from account where id = 7`))?.name,
      'kept',
    );
  });

  test('migrate() rolls back all migrations of a run when one fails', async (t) => {
    const database = await open(t, await freshConfig(t, engine));
    const empty = await schemaOf(database);
    const broken = [...all, { number: 9999, name: 'broken', script: 'create table half (x int); oops;' }];
    await assert.rejects(migrate(database, broken), /oops/);
    assert.deepEqual(await schemaOf(database), empty);
    assert.deepEqual(await migrate(database), namesOf(all));
  });
});

suite('The migrations', () => {
  test('The migrations let nothing be decided at the commit, which a dry run does not reach', () => {
    for (const { name, script } of engines.flatMap(listMigrations)) {
      assert.doesNotMatch(script, /deferrable|deferred/i, name);
    }
  });

  test('The migrations come in numbered pairs without a gap', () => {
    const files = readdirSync(new URL('../../migrations/', import.meta.url)).sort();
    const [sqlite = [], postgres = []] = engines.map((engine) =>
      listMigrations(engine).map(({ number, name }) => `${String(number).padStart(4, '0')}-${name}`),
    );
    assert.deepEqual(sqlite, postgres);
    assert.match(sqlite[0] ?? '', /^0001-schema-[\da-f]{8}$/);
    assert.deepEqual(
      files,
      ['0001-schema', ...sqlite.slice(1)].flatMap((name) => [`${name}.postgres.sql`, `${name}.sqlite.sql`]),
    );
    assert.deepEqual(
      listMigrations('sqlite').map(({ number }) => number),
      sqlite.map((_, index) => index + 1),
    );
  });

  test('The migrations define the same tables, columns and indexes on both engines, except for the table quota', async (t) => {
    const sqlite = await open(t, await freshConfig(t, 'sqlite'));
    const postgres = await open(t, await freshConfig(t, 'postgres'));
    for (const [index, { name }] of listMigrations('sqlite').entries()) {
      await migrate(sqlite, listMigrations('sqlite').slice(0, index + 1));
      await migrate(postgres, listMigrations('postgres').slice(0, index + 1));
      assert.deepEqual(await columnsOf(postgres), await columnsOf(sqlite), name);
      assert.deepEqual(await indexesOf(postgres), await indexesOf(sqlite), name);
    }
    assert.ok((await columnsOf(sqlite)).includes('cheese.name_key not null'));
    assert.ok((await indexesOf(sqlite)).some((line) => line.includes('unique cheese_name_in_category')));
  });
});
