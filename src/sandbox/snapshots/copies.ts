/** Copies of the tables of a shop, and what replaces whole tables: in the way of each engine. */
import { createChildPool } from '../../children/pool.ts';
import { type Clock, machineTime } from '../../clock.ts';
import type { Origin } from '../../database/context.ts';
import { deleteSnapshotFile, listSnapshotFiles } from '../../database/copy/snapshot-file.ts';
import {
  dropSnapshotSchema,
  listSnapshotSchemas,
  mayNotCreateSchema,
  snapshotSchemaName,
  type WrittenSnapshot,
  writeSnapshotSchema,
} from '../../database/copy/snapshot-schema.ts';
import type { Database } from '../../database/database.ts';
import { AppError, unavailable } from '../../errors.ts';
import type { Config } from '../../settings/config.ts';
import { type CatalogueState, emptyShop } from './empty-shop.ts';
import { isInSnapshot } from './kept-tables.ts';
import { type RestoreSource, restoreRows } from './restore-rows.ts';
import type { SnapshotOutcome, SnapshotTask } from './snapshot-child.ts';

/** What a snapshot has beside the tables. */
type RestoredState = Omit<RestoreSource, 'from'>;

export interface SnapshotCopies {
  /** The name of a new copy. */
  newPlace(): string;
  /** @throws AppError conflict, unavailable */
  write(place: string): Promise<WrittenSnapshot>;
  /** Replaces the shop by a copy, in one transaction. @throws AppError unavailable */
  restore(place: string, snapshot: RestoredState): Promise<void>;
  /** Empties the shop, in one transaction. @throws AppError unavailable */
  empty(origin: Origin): Promise<CatalogueState>;
  /** The names of all copies. */
  list(): Promise<string[]>;
  remove(place: string): Promise<void>;
  close(): void;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly config: Pick<Config, 'database'>;
}

/** How long the child process stays for another task. */
const idleMs = 30_000;
/** Longer than a shop of the largest size needs. */
const taskTimeoutMs = 10 * 60_000;
const tokenLength = 12;

export function createSnapshotCopies({ database, clock, config }: Dependencies): SnapshotCopies {
  const token = () => clock.uuid().replaceAll('-', '').slice(0, tokenLength);
  const { file } = config.database;
  return file === null
    ? copiesInSchemas(database, clock, () => snapshotSchemaName(token()))
    : copiesInFiles(file, clock, token);
}

/** A child process copies the tables. */
function copiesInFiles(file: string, clock: Clock, newPlace: () => string): SnapshotCopies {
  const pool = createChildPool<SnapshotTask, SnapshotOutcome, 'tasks'>({
    file: new URL('./snapshot-child.ts', import.meta.url),
    childrenMax: 1,
    slotsPerChild: 1,
    queues: { tasks: { concurrency: 1, waitingMax: 0 } },
    idleMs,
    taskTimeoutMs,
  });

  async function run<Outcome extends SnapshotOutcome>(task: SnapshotTask): Promise<Outcome> {
    try {
      using slot = await pool.acquire('tasks');
      return (await slot.run(task)) as Outcome;
    } catch (error) {
      throw unavailable(
        'The database was busy for long, or its disk is full. Nothing was changed. Try again shortly.',
        5,
        error,
      );
    }
  }

  return {
    newPlace,
    write: (place) => run({ kind: 'write', file, place }),
    async restore(place, state) {
      await run({ kind: 'restore', file, place, ...state, now: machineTime(clock) + state.advancedMs });
    },
    empty: ({ actor, requestId, traceId }) =>
      run({
        kind: 'empty',
        file,
        origin: { actor, requestId, traceId, effects: null },
        now: machineTime(clock),
      }),
    list: () => listSnapshotFiles(file),
    remove: (place) => deleteSnapshotFile(file, place),
    close: pool.close,
  };
}

/** The database copies the tables. */
function copiesInSchemas(database: Database, clock: Clock, newPlace: () => string): SnapshotCopies {
  return {
    newPlace,
    write: (place) =>
      writeSnapshotSchema(database, place, isInSnapshot).catch((error) => {
        throw mayNotCreateSchema(error)
          ? new AppError(
              'conflict',
              'The user of the database may not create schemas, in which snapshots are. Run on the database: grant create on database <name> to <user>',
            )
          : error;
      }),
    restore: (place, state) =>
      database.exclusiveTransaction((tx) =>
        restoreRows(tx, { from: place, ...state }, clockAhead(clock, state.advancedMs)),
      ),
    empty: (origin) => database.exclusiveTransaction((tx) => emptyShop(tx, origin, clockAhead(clock, 0))),
    list: () => listSnapshotSchemas(database),
    remove: (place) => dropSnapshotSchema(database, place),
    close: () => {},
  };
}

/** The clock of the shop as it will be. */
function clockAhead(clock: Clock, advancedMs: number): Clock {
  return { ...clock, now: () => machineTime(clock) + advancedMs };
}
