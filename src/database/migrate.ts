/**
 * Migrates a database to the schema of this version: numbered pairs of SQL files, forward only, each applied once. Two
 * processes may start at once: the second waits and then has nothing to apply. A newer schema is used without a change,
 * unless one of its migrations is breaking: so instances of two versions work beside each other during an upgrade.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { commandName } from '../command-name.ts';
import { ConfigError } from '../settings/parsers.ts';
import type { Database, Sql } from './database.ts';
import { type Engine, sql } from './sql.ts';

const folder = new URL('../../migrations/', import.meta.url);

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly script: string;
}

/** All migrations for one engine, in order. */
export function listMigrations(engine: Engine): Migration[] {
  return filesFor(engine).map((file) => {
    const number = numberOf(file);
    const name = file.slice(5, -`.${engine}.sql`.length);
    return { number, name: number === 1 ? `${name}-${baselineDigest()}` : name, script: read(file) };
  });
}

const read = (file: string) => readFileSync(new URL(file, folder), 'utf8').replaceAll('\r\n', '\n');

/** Part of the name of the first migration, which changes until the first release: a database with another one is refused. */
function baselineDigest(): string {
  const scripts = [...filesFor('sqlite'), ...filesFor('postgres')]
    .filter((file) => numberOf(file) === 1)
    .map(read);
  return hash('sha256', scripts.join('')).slice(0, 8);
}

function filesFor(engine: Engine): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(`.${engine}.sql`))
    .sort();
}

function numberOf(file: string): number {
  return Number(file.slice(0, 4));
}

/** Whether programs that do not know the migration may not use the database after it. */
export function isBreaking({ script }: Pick<Migration, 'script'>): boolean {
  return /^-- breaking\b/.test(script);
}

/** The newest migration of a database, and the newest that this version knows. */
export interface SchemaVersions {
  readonly database: number;
  readonly program: number;
}

/**
 * Applies the missing migrations and returns their names.
 * @throws ConfigError when a migration that this version does not know is breaking, or the database was made before the first release
 */
export async function migrate(
  database: Database,
  migrations = listMigrations(database.engine),
): Promise<string[]> {
  return database.exclusiveTransaction(async (tx, runScript) => {
    await runScript(
      'create table if not exists migration (number integer primary key, name text not null, breaking integer not null default 0)',
    );
    const current = await requireCompatible(tx, migrations);
    const applied: string[] = [];
    for (const migration of migrations.filter(({ number }) => number > current)) {
      const { number, name, script } = migration;
      await runScript(script);
      await tx.run(sql`
        insert into migration (number, name, breaking) values (${number}, ${name}, ${isBreaking(migration) ? 1 : 0})`);
      applied.push(name);
    }
    return applied;
  });
}

/** The versions of a migrated database if its schema is newer than this version, otherwise null. */
export async function findNewerSchema(database: Database): Promise<SchemaVersions | null> {
  const versions = {
    database: await newestMigration(database),
    program: numberOf(filesFor(database.engine).at(-1) ?? '0000'),
  };
  return versions.database > versions.program ? versions : null;
}

/**
 * Guards commands that treat all tables alike: they do not know what a newer table contains.
 * @throws ConfigError when the schema is newer than this version
 */
export async function requireOwnSchema(database: Database, command: string): Promise<void> {
  const newer = await findNewerSchema(database);
  if (newer !== null) {
    throw new ConfigError(
      `The database is at migration ${newer.database} and this version of Curd knows only ${newer.program}: run "${commandName} ${command}" of the newer version.`,
    );
  }
}

/** The number of the newest migration of a database. */
export async function newestMigration(database: Sql): Promise<number> {
  const row = await database.get<{ number: number | null }>(sql`select max(number) as number from migration`);
  return row?.number ?? 0;
}

/** Returns the number of the newest applied migration. @throws ConfigError if this version cannot use the database */
async function requireCompatible(tx: Sql, migrations: readonly Migration[]): Promise<number> {
  const rows = await tx.all<Pick<Migration, 'number' | 'name'>>(
    sql`select number, name from migration order by number`,
  );
  const [baseline] = migrations;
  const current = rows.at(-1)?.number ?? 0;
  const newest = migrations.at(-1)?.number ?? 0;
  if (rows.some(({ number, name }) => number === baseline?.number && name !== baseline.name)) {
    throw new ConfigError(
      `The database was made by a version of Curd before the first release, and this version cannot migrate it. Start with a new database, and move the cheeses: run "${commandName} export cheeses shop.ndjson" with the old version, then "${commandName} import cheeses shop.ndjson" with this one.`,
    );
  }
  if (current > newest) {
    const breaking = await tx.get<Pick<Migration, 'number' | 'name'>>(sql`
      select number, name from migration where number > ${newest} and breaking = 1 order by number desc limit 1`);
    if (breaking !== undefined) {
      throw new ConfigError(
        `The database is at migration ${current}, this version of Curd knows only ${newest}, and it cannot use a database after migration ${breaking.number} (${breaking.name}): start the newer version of Curd, which has that migration.`,
      );
    }
  }
  return current;
}
