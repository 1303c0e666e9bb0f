/** Snapshots of a shop: creates, lists and deletes them, and brings the shop back to one. */

import type { XStatic } from 'typebox/schema';
import { type Clock, timestamp } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import { shopSize } from '../../database/checks/state.ts';
import type { Context } from '../../database/context.ts';
import type { Database } from '../../database/database.ts';
import { newestMigration } from '../../database/migrate.ts';
import { AppError } from '../../errors.ts';
import type { ImageService } from '../../images/service.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import { isMovable } from '../clock/movable-clock.ts';
import type { TestState } from '../test-state.ts';
import type { SnapshotCopies } from './copies.ts';
import type { RunExclusively } from './exclusive.ts';
import { type SnapshotRow, snapshotQueries } from './queries.ts';
import type { Snapshot } from './schemas.ts';

export const snapshotsMax = 10;
const shopBytesMax = 1024 ** 3;

export type StoredSnapshot = XStatic<typeof Snapshot>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly testState: TestState;
  readonly profile: Pick<ShopProfile, 'read'>;
  readonly images: Pick<ImageService, 'pinFiles' | 'unpinFiles'>;
  readonly copies: SnapshotCopies;
  readonly runExclusively: RunExclusively;
  /** @throws AppError conflict for a shop that is not reset or restored */
  readonly requireReplaceable: () => Promise<void>;
}

export type SnapshotService = ReturnType<typeof createSnapshotService>;

export function createSnapshotService(dependencies: Dependencies) {
  const { database, clock, profile, images, copies, runExclusively, requireReplaceable, testState } =
    dependencies;
  const queries = snapshotQueries(database);

  async function find(id: number): Promise<SnapshotRow> {
    const row = await queries.find(id);
    if (row === undefined) {
      throw new AppError('notFound', `There is no snapshot ${id}.`);
    }
    return row;
  }

  /** A process that was killed can leave copies that no snapshot has. */
  async function removeForgotten(): Promise<void> {
    const known = new Set((await queries.list()).map(({ place }) => place));
    for (const place of await copies.list()) {
      if (!known.has(place)) {
        await copies.remove(place);
      }
    }
  }

  async function requireSpace(): Promise<void> {
    if ((await queries.list()).length >= snapshotsMax) {
      throw new AppError(
        'conflict',
        `There are ${snapshotsMax} snapshots already. Delete one first: DELETE /v2/sandbox/snapshots/{id}.`,
      );
    }
    if ((await shopSize(database)) > shopBytesMax) {
      throw new AppError(
        'conflict',
        `The shop is larger than 1 GiB, and snapshots are for smaller ones. Use ${commandName} backup, or a copy of the database.`,
      );
    }
  }

  return {
    list: async (): Promise<StoredSnapshot[]> => (await queries.list()).map(toSnapshot),

    /** @throws AppError conflict, unavailable */
    create: (context: Context, name: string): Promise<StoredSnapshot> =>
      runExclusively(async () => {
        await requireSpace();
        await removeForgotten();
        const place = copies.newPlace();
        const { bytes, lastIds } = await copies.write(place);
        const migration = await newestMigration(database);
        return await context.transaction(async (tx) => {
          const row = await snapshotQueries(tx).insert({
            name,
            place,
            bytes,
            migration,
            advanced_ms: clock.advancedMs(),
            last_ids: JSON.stringify(lastIds),
            created_at: timestamp(clock.now()),
          });
          await images.pinFiles(tx, row.id);
          return toSnapshot(row);
        });
      }),

    /** Brings the shop back. Returns its time. @throws AppError notFound, conflict, unavailable */
    restore: (context: Context, id: number): Promise<string> =>
      runExclusively(async () => {
        const { place, last_ids, migration, advanced_ms } = await find(id);
        await requireReplaceable();
        if (migration !== (await newestMigration(database))) {
          throw new AppError(
            'conflict',
            'The snapshot was made by another version of Curd, whose tables differ. Delete it, and make a new one.',
          );
        }
        if (advanced_ms > 0 && !isMovable(clock)) {
          throw new AppError(
            'conflict',
            'The clock was ahead when the snapshot was made, and this server cannot move it: set CURD_CLOCK=movable.',
          );
        }
        if (!(await copies.list()).includes(place)) {
          throw new AppError(
            'conflict',
            'The copy that the snapshot consists of was deleted. Delete the snapshot, and make a new one.',
          );
        }
        await copies.restore(place, { lastIds: JSON.parse(last_ids), advancedMs: advanced_ms });
        await Promise.all([testState.refresh(), profile.read()]);
        return await context.transaction(async () => timestamp(clock.now()));
      }),

    /** @throws AppError notFound, conflict, unavailable */
    delete: (context: Context, id: number) =>
      runExclusively(async () => {
        const { place } = await find(id);
        await context.transaction(async (tx) => {
          await snapshotQueries(tx).delete(id);
          await images.unpinFiles(tx, id);
        });
        await copies.remove(place);
      }),
  };
}

function toSnapshot({ id, name, created_at, bytes }: SnapshotRow): StoredSnapshot {
  return { id, name, createdAt: created_at, bytes };
}
