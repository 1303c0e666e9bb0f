/**
 * The child process that copies and replaces whole tables of an SQLite database: in the server, that would keep all other
 * requests waiting. To the server it is another process that writes: changes wait for it, and reads do not.
 */
import { serveTasks } from '../../children/child.ts';
import { systemClock } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import { attachedSnapshot, withSnapshotFile, writeSnapshotFile } from '../../database/copy/snapshot-file.ts';
import type { WrittenSnapshot } from '../../database/copy/snapshot-schema.ts';
import { openSqlite } from '../../database/sqlite/sqlite.ts';
import { type CatalogueState, emptyShop } from './empty-shop.ts';
import { isInSnapshot } from './kept-tables.ts';
import { type RestoreSource, restoreRows } from './restore-rows.ts';

interface TaskOf<Kind extends string> {
  readonly kind: Kind;
  /** The file of the database. */
  readonly file: string;
}

interface WriteTask extends TaskOf<'write'> {
  readonly place: string;
}

interface RestoreTask extends TaskOf<'restore'>, Omit<RestoreSource, 'from'> {
  readonly place: string;
  /** The time of the shop after it. */
  readonly now: number;
}

interface EmptyTask extends TaskOf<'empty'> {
  readonly origin: Origin;
  readonly now: number;
}

export type SnapshotTask = WriteTask | RestoreTask | EmptyTask;

export type SnapshotOutcome = WrittenSnapshot | CatalogueState | null;

const clockAt = (now: number) => ({ ...systemClock, now: () => now });

function run(task: SnapshotTask): Promise<SnapshotOutcome> {
  const { file } = task;
  switch (task.kind) {
    case 'write':
      return writeSnapshotFile(file, task.place, isInSnapshot);
    case 'restore': {
      const { lastIds, advancedMs } = task;
      const source = { from: attachedSnapshot, lastIds, advancedMs };
      return withSnapshotFile(file, task.place, async (tx) => {
        await restoreRows(tx, source, clockAt(task.now));
        return null;
      });
    }
    case 'empty':
      return empty(task);
  }
}

async function empty({ file, origin, now }: EmptyTask): Promise<CatalogueState> {
  const database = openSqlite(file);
  try {
    return await database.exclusiveTransaction((tx) => emptyShop(tx, origin, clockAt(now)));
  } finally {
    await database.close();
  }
}

serveTasks(run);
