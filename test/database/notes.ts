/** A small table for tests of the database port. */

import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { type Engine, type Statement, sql, type Value } from '../../src/database/sql.ts';
import { type Config, loadConfig } from '../../src/settings/config.ts';
import { cleanUp, createDatabase, type Scope, secret, temporaryFolder } from '../context.ts';

/** Settings with a database that does not exist yet or is empty. */
export async function freshConfig(t: Scope, engine: Engine): Promise<Config> {
  const dataDir = await temporaryFolder(t);
  const database = engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {};
  return loadConfig({ CURD_DATA_DIR: dataDir, CURD_SECRET: secret, ...database });
}

/** Opens a database that is closed at the end of the test. */
export async function open(t: Scope, config: Config): Promise<Database> {
  const database = await openDatabase(config);
  cleanUp(t, () => database.close());
  return database;
}

/** A database with the one table `note`, whose ids are unique. */
export async function openNotes(t: Scope, engine: Engine, config?: Config): Promise<Database> {
  const database = await open(t, config ?? (await freshConfig(t, engine)));
  const fraction = engine === 'sqlite' ? 'real' : 'double precision';
  await database.exclusiveTransaction(async (_sql, run) => {
    await run(`create table note (id bigint not null, text text, number bigint, fraction ${fraction});
      create unique index note_id on note (id);`);
  });
  return database;
}

export function insertNote(id: number, text: Value, number: Value = null): Statement {
  return sql`insert into note (id, text, number) values (${id}, ${text}, ${number})`;
}

/** The texts of all notes, by id. */
export async function textsIn(database: Database): Promise<string[]> {
  const notes = await database.all<{ text: string }>(sql`select text from note order by id`);
  return notes.map(({ text }) => text);
}
