/** Migrations: instances of the version before keep working beside newer ones, unless a migration says otherwise. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isBreaking, listMigrations } from '../../src/database/migrate.ts';
import { engines, temporaryFolder } from '../context.ts';
import { breakingChanges, changedSinceRelease, splitStatements, uniqueIndexesOf } from './migrations.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

suite('Migrations', () => {
  for (const engine of engines) {
    const migrations = listMigrations(engine);
    for (const migration of migrations.slice(1)) {
      const earlier = migrations.filter(({ number }) => number < migration.number);
      const uniqueIndexes = new Set(earlier.flatMap(({ script }) => uniqueIndexesOf(script)));
      test(`Migrations let older programs work: ${migration.name} (${engine})`, () => {
        assert.deepEqual(
          isBreaking(migration) ? [] : breakingChanges(migration.script, uniqueIndexes),
          [],
          'Begin both files of the migration with "-- breaking", if older instances cannot run beside it',
        );
      });
    }
  }

  test('Migrations are those of the newest release, and new ones', () => {
    assert.deepEqual(
      changedSinceRelease(root),
      [],
      'Databases have these migrations. Restore the files, and write a new pair of migrations for the change',
    );
  });

  test('Migrations are breaking on both engines or on none', () => {
    const [sqlite, postgres] = engines.map((engine) =>
      listMigrations(engine).map((migration) => [migration.name, isBreaking(migration)]),
    );
    assert.deepEqual(sqlite, postgres, 'begin both files of a pair with "-- breaking", or none');
  });
});

suite('The gate for migrations', () => {
  const compatible = [
    'create table a (id bigint primary key, b_id bigint references b (id) on delete cascade)',
    'create table a (id bigint primary key); create table b (a_id bigint not null references a (id))',
    'create table a (x text not null); alter table a add constraint short check (length(x) < 9)',
    'create table a (x text); insert into a select y from orders; delete from a where x is null',
    'create index orders_by_x on orders (x) where x > 0',
    'alter table orders add column x bigint; create unique index orders_x on orders (x)',
    'alter table orders add column x bigint not null default 0',
    'alter table orders add column x bigint, add column if not exists y numeric(10, 2) default 1',
    'alter table orders add column at text generated always as (lower(created_at)) virtual',
    'alter table orders set (fillfactor = 80)',
    'drop index orders_by_status; create index orders_by_status on orders (status, id)',
    'create function f() returns trigger language plpgsql as $$ begin insert into a values (1); return new; end $$',
    "create function f() returns void language plpgsql as $x$ begin raise exception 'drop table a;'; end $x$",
    'create trigger t after insert on orders begin update a set x = case when x > 1 then 2 else 3 end; delete from b; end; create index i on a (x)',
    "-- drop table orders;\nupdate orders set notes = 'drop table x; ' where notes = ''",
    'select setval(1)',
  ];
  const breaking = [
    'drop table orders',
    'drop trigger t',
    'drop function f()',
    'alter table orders drop column notes',
    'alter table orders rename column notes to note',
    'alter table orders rename to purchase',
    'create table o2 (id bigint); drop table orders; alter table o2 rename to orders',
    'alter table orders alter column notes type varchar(10)',
    'alter table orders alter column notes set not null',
    'alter table orders add column x bigint not null',
    'alter table orders add column x bigint default 0, add column y bigint not null',
    'alter table orders add x bigint not null check (x > 0)',
    'alter table orders add column x bigint unique',
    'alter table orders add column b_id bigint references b (id)',
    'alter table orders add column x bigint, drop column notes',
    "alter table orders add constraint known check (status in ('placed', 'lost'))",
    'alter table orders add check (id > 0)',
    'alter table orders add column x bigint default 0; create unique index orders_x on orders (x)',
    'create unique index orders_by_notes on orders (notes)',
    'create table a (order_id bigint not null references orders (id), x text)',
    'create table a (order_id bigint, foreign key (order_id) references orders (id) on delete restrict)',
    "create trigger t before insert on orders begin select raise(abort, 'no'); end",
    "create function f() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$",
    'delete from orders where id > 7',
    'truncate orders',
    "update orders set notes = 'it''s; '; DROP TABLE orders",
    '/* create */ drop /* index */ table orders',
    'do $$ begin alter table orders add column x bigint not null; end $$',
    'ALTER TABLE Orders ADD COLUMN x bigint NOT NULL',
    'alter table "orders" drop column notes',
    'alter table public.orders drop column notes',
    'alter table orders add column x bigint not null default null',
    'with gone as (delete from orders returning id) insert into a select id from gone',
    'delete from public.orders',
    'drop index if exists account_name',
  ];

  for (const script of compatible) {
    test(`The gate for migrations accepts ${script}`, () => assert.deepEqual(breakingChanges(script), []));
  }
  for (const script of breaking) {
    test(`The gate for migrations rejects ${script}`, () =>
      assert.equal(
        breakingChanges(`create index i on a (b);\n${script};`, new Set(['account_name'])).length,
        1,
      ));
  }

  test(`The gate for migrations reads every character of the migrations`, () => {
    for (const { name, script } of engines.flatMap(listMigrations)) {
      for (const statement of splitStatements(script)) {
        assert.match(
          statement,
          /^(create|alter|drop|insert|update|delete|select|with)\b/,
          `${name}: ${statement}`,
        );
      }
    }
  });

  test(`The gate for migrations lets the baseline change until v1.0.0, and then refuses a change of any released migration`, async (t) => {
    const repository = await temporaryFolder(t);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@x', ...args], { cwd: repository });
    const write = (number: number, text: string) =>
      writeFileSync(join(repository, 'migrations', `000${number}-a.sqlite.sql`), text);
    const release = (tag: string) => {
      git('add', '-A');
      git('commit', '-q', '-m', tag);
      git('tag', tag);
    };
    mkdirSync(join(repository, 'migrations'));
    git('init', '-q');
    write(1, 'one');
    release('v0.9.0');
    write(1, 'one, edited');
    assert.deepEqual(changedSinceRelease(repository), []);
    release('v1.0.0');
    write(2, 'two');
    assert.deepEqual(changedSinceRelease(repository), []);
    release('v1.10.0');
    git('tag', 'v1.9.0', 'v1.0.0');
    write(2, 'two, edited');
    assert.deepEqual(changedSinceRelease(repository), ['migrations/0002-a.sqlite.sql']);
    git('rm', '-q', '--cached', 'migrations/0001-a.sqlite.sql');
    git('clean', '-q', '-f');
    assert.equal(changedSinceRelease(repository).length, 2);
  });
});
