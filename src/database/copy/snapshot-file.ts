/** Snapshots on SQLite: files beside the database. */
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { restrict } from '../../file-permissions.ts';
import type { Sql } from '../database.ts';
import { copyDatabaseFile } from '../sqlite/database-file.ts';
import { openSqlite } from '../sqlite/sqlite.ts';
import { statementsOnSqlite } from '../sqlite/statements.ts';
import type { WrittenSnapshot } from './snapshot-schema.ts';
import { listTables, readLastIds, type Table } from './tables.ts';

/** The name under which a transaction reads the tables of a snapshot. */
export const attachedSnapshot = 'snapshot_file';

const ending = '.sqlite';
const folderOf = (file: string) => join(dirname(file), 'snapshots');
const pathOf = (file: string, name: string) => join(folderOf(file), `${name}${ending}`);

/** Blocks the process: call it in a child process. @param file of the database */
export async function writeSnapshotFile(
  file: string,
  name: string,
  isCopied: (table: Table) => boolean,
): Promise<WrittenSnapshot> {
  const target = pathOf(file, name);
  const unfinished = `${target}.unfinished`;
  mkdirSync(folderOf(file), { recursive: true, mode: 0o700 });
  rmSync(unfinished, { force: true });
  copyDatabaseFile(file, unfinished);
  restrict(unfinished);
  const copy = new DatabaseSync(unfinished);
  try {
    const statements = statementsOnSqlite(copy);
    const lastIds = Object.fromEntries(await readLastIds(statements, 'sqlite'));
    copy.exec('pragma foreign_keys = off');
    for (const table of await listTables(statements, 'sqlite')) {
      if (!isCopied(table)) {
        copy.exec(`drop table ${table.name}`);
      }
    }
    copy.exec('vacuum');
    return { bytes: statSync(unfinished).size, lastIds };
  } finally {
    copy.close();
    renameSync(unfinished, target);
  }
}

/** Runs `work` in a transaction that reads the tables of a snapshot under the name `attachedSnapshot`. */
export async function withSnapshotFile<T>(
  file: string,
  name: string,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  const path = pathOf(file, name);
  // Attaching a file that does not exist would create it.
  statSync(path);
  const database = openSqlite(file);
  try {
    return await database.exclusiveTransaction(async (tx, runScript) => {
      await runScript(`attach '${path.replaceAll("'", "''")}' as ${attachedSnapshot}`);
      return work(tx);
    });
  } finally {
    await database.close();
  }
}

/** The names of all snapshots beside the database. */
export async function listSnapshotFiles(file: string): Promise<string[]> {
  const names = await readdir(folderOf(file)).catch(() => []);
  return names.map((name) => name.split('.', 1)[0] ?? '');
}

export async function deleteSnapshotFile(file: string, name: string): Promise<void> {
  const path = pathOf(file, name);
  await Promise.all([path, `${path}.unfinished`].map((file) => rm(file, { force: true })));
}
