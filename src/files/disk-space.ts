/** Free and total space of the file systems that a server stores data on. */
import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import type { Config } from '../settings/config.ts';

/** Named after what is stored there: `data`, and `database` and `images` if these are not in the data folder. */
export type StorageFolders = Readonly<Record<string, string>>;

export interface DiskSpace {
  readonly folder: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export function listStorageFolders({ dataDir, database, images }: Config): StorageFolders {
  const isElsewhere = (folder: string) => relative(dataDir, folder).startsWith('..');
  const databaseFolder = database.file === null ? dataDir : dirname(database.file);
  const imageFolder = images.kind === 'folder' ? images.folder : dataDir;
  return {
    data: dataDir,
    ...(isElsewhere(databaseFolder) ? { database: databaseFolder } : {}),
    ...(isElsewhere(imageFolder) ? { images: imageFolder } : {}),
  };
}

/** The space that this user can still use in each folder. */
export function readDiskSpace(folders: StorageFolders): Promise<DiskSpace[]> {
  return Promise.all(
    Object.entries(folders).map(async ([folder, path]) => {
      const { bavail, blocks, bsize } = await statfsOf(path);
      return { folder, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    }),
  );
}

/** A folder that does not exist yet will be on the file system of its parent. */
async function statfsOf(path: string): Promise<StatsFs> {
  try {
    return await statfs(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path) {
      return statfsOf(dirname(path));
    }
    throw error;
  }
}
