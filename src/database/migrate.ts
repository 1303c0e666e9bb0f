/**
 * Migrates a database to the schema of this version: numbered pairs of SQL files, forward only, each applied once. Two
 * processes may start at once: the second waits and then has nothing to apply. A newer schema is refused.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from './database.ts';
import { type Engine, sql } from './sql.ts';

const folder = new URL('../../migrations/', import.meta.url);

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly script: string;
}

/** All migrations for one engine, in order. */
export function listMigrations(engine: Engine): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(`.${engine}.sql`))
    .sort()
    .map((file) => ({
      number: Number(file.slice(0, 4)),
      name: file.slice(5, -`.${engine}.sql`.length),
      script: readFileSync(new URL(file, folder), 'utf8'),
    }));
}

/**
 * Applies the missing migrations and returns their names.
 * @throws Error when the database was migrated by a newer version of Curd
 */
export async function migrate(
  database: Database,
  migrations = listMigrations(database.engine),
): Promise<string[]> {
  const newest = migrations.at(-1)?.number ?? 0;
  return database.exclusiveTransaction(async (tx, runScript) => {
    const applied: string[] = [];
    await runScript('create table if not exists migration (number integer primary key, name text not null)');
    const row = await tx.get<{ number: number | null }>(sql`select max(number) as number from migration`);
    const current = row?.number ?? 0;
    if (current > newest) {
      throw new Error(
        `The database is at migration ${current} and this version of Curd knows only ${newest}: start the newer version.`,
      );
    }
    for (const migration of migrations.filter(({ number }) => number > current)) {
      await runScript(migration.script);
      await tx.run(sql`insert into migration (number, name) values (${migration.number}, ${migration.name})`);
      applied.push(migration.name);
    }
    return applied;
  });
}
