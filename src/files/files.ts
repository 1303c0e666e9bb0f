/** Where the bytes of pictures are kept: a folder, or a bucket that speaks S3. Who may see them is decided elsewhere. */
import type { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { type AppError, unavailable } from '../errors.ts';
import type { Config } from '../settings/config.ts';

/** Bytes from `first` to `last`, both included, counted from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Files that never change. Names are ours: letters, digits and dots. */
export interface Files {
  /**
   * Keeps a copy of the file at `path`, on disk or in the bucket when it returns. The same name may be kept twice.
   * @throws AppError unavailable
   */
  put(name: string, path: string, mediaType: string): Promise<void>;
  /** null where there is none of this name. @throws AppError unavailable */
  read(name: string, range: ByteRange | null): Promise<Readable | null>;
  /** Names of all that is there, in any order. @throws AppError unavailable */
  list(): AsyncIterable<string>;
  /** Also what an unfinished `put` has left. @throws AppError unavailable */
  delete(name: string): Promise<void>;
}

/** The place of the settings; the client of a bucket is loaded only where there is one. */
export async function openFiles({ images }: Pick<Config, 'images'>, clock: Clock): Promise<Files> {
  if (images.kind === 'folder') {
    const { openFolder } = await import('./folder.ts');
    return openFolder(images.folder, clock);
  }
  const { openBucket } = await import('./bucket.ts');
  return openBucket(images.bucket, images.prefix);
}

/** A full disk, a bucket that does not answer: nothing that the caller did. */
export function storageFailure(cause: unknown): AppError {
  return unavailable('Pictures can neither be stored nor read right now. Try again shortly.', 5, cause);
}
