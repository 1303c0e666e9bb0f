/** Files in a folder, in 256 subfolders named after the first two characters of the file names. */
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { restrict } from '../file-permissions.ts';
import { type Files, storageFailure } from './files.ts';

/** Opens a folder, which need not exist. */
export function openFolder(folder: string, clock: Clock): Files {
  restrict(folder);
  const shardOf = (name: string) => join(folder, name.slice(0, 2));

  return {
    async put(name, path) {
      const shard = shardOf(name);
      // Written and flushed under another name, then renamed, so that the name never belongs to an incomplete file, even after a crash. The
      // UUID separates parallel puts.
      const unfinished = join(shard, `${name}.${clock.uuid()}`);
      try {
        await mkdir(shard, { recursive: true });
        await copyFile(path, unfinished, constants.COPYFILE_EXCL);
        // A copy has the permissions of its source.
        await chmod(unfinished, 0o600);
        await fsyncPath(unfinished);
        await rename(unfinished, join(shard, name));
        await fsyncPath(shard);
        await fsyncPath(folder);
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {});
        throw storageFailure(error);
      }
    },

    async read(name, range) {
      try {
        const file = await open(join(shardOf(name), name));
        return file.createReadStream(range === null ? {} : { start: range.first, end: range.last });
      } catch (error) {
        if (isMissing(error)) {
          return null;
        }
        throw storageFailure(error);
      }
    },

    async *list() {
      // Other files and folders beside the subfolders are ignored.
      for (const shard of (await namesIn(folder)).filter((name) => /^\w\w$/.test(name))) {
        yield* await namesIn(join(folder, shard));
      }
    },

    async delete(name) {
      const shard = shardOf(name);
      try {
        const all = await readdir(shard);
        await Promise.all(
          all.filter((file) => file.startsWith(name)).map((file) => rm(join(shard, file), { force: true })),
        );
      } catch (error) {
        if (!isMissing(error)) {
          throw storageFailure(error);
        }
      }
    },
  };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) {
      return [];
    }
    throw storageFailure(error);
  }
}

/** Flushes a file, or the entries of a folder, to disk. */
export async function fsyncPath(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY);
  try {
    await file.sync();
  } catch (error) {
    // Windows cannot flush folders.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') {
      throw error;
    }
  } finally {
    await file.close();
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
