/** The health check `/readyz`: whether the server can process requests. Load balancers ask for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CurrentIndex } from '../cheeses/search-index/current-index.ts';
import { ping } from '../database/checks/state.ts';
import type { Database } from '../database/database.ts';
import { unavailable } from '../errors.ts';
import { listStorageFolders, readDiskSpace } from '../files/disk-space.ts';
import type { Config } from '../settings/config.ts';

const pingTimeoutMs = 2000;
/** How long a list may wait for the index: a small catalogue is loaded sooner, so the first check is successful. */
const indexTimeoutMs = 500;
const mebibyte = 1024 * 1024;

/**
 * Returns a check that the database responds, that the disks have space, and that the index has the catalogue.
 * @throws AppError unavailable (the check)
 */
export function createReadiness(
  config: Config,
  database: Database,
  catalogueIndex: CurrentIndex,
): () => Promise<void> {
  const folders = listStorageFolders(config);
  const { minFreeSpaceBytes } = config;

  async function requireDiskSpace(): Promise<void> {
    if (database.isFull()) {
      throw diskFull('A write failed: the disk or a quota is full, or the disk is faulty.');
    }
    const spaces = minFreeSpaceBytes === 0 ? [] : await readDiskSpace(folders);
    const full = spaces.find(({ freeBytes }) => freeBytes < minFreeSpaceBytes);
    if (full !== undefined) {
      throw diskFull(
        `The disk of the ${full.folder} folder is full: less than ${minFreeSpaceBytes / mebibyte} MiB are free.`,
      );
    }
  }

  return async () => {
    try {
      await Promise.race([ping(database), failAfter(pingTimeoutMs)]);
    } catch (error) {
      throw unavailable('The database does not respond.', 1, error);
    }
    await requireDiskSpace();
    try {
      await Promise.race([catalogueIndex.refresh(), failAfter(indexTimeoutMs)]);
    } catch (error) {
      throw unavailable('The server reads the catalogue, and lists wait for it.', 1, error);
    }
  };
}

function diskFull(what: string) {
  return unavailable(`${what} Changes can fail. Free disk space or enlarge the disk.`, 60);
}

/** Load balancers time out sooner than a query to a database that hangs. */
async function failAfter(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error(`not done within ${ms} ms`);
}
