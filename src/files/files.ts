/** The storage of image files: a folder, or a bucket with the S3 protocol. It checks no access. */
import type { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { type AppError, unavailable } from '../errors.ts';
import type { Config } from '../settings/config.ts';

/** Bytes from `first` to `last`, both inclusive, from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Stored files, which never change. The server makes their names: letters, digits and dots. */
export interface Files {
  /**
   * Stores a copy of the file `path`. It is on disk or in the bucket when this returns. The name may exist already.
   * @throws AppError unavailable
   */
  put(name: string, path: string, mediaType: string): Promise<void>;
  /** null when the file does not exist. @throws AppError unavailable */
  read(name: string, range: ByteRange | null): Promise<Readable | null>;
  /** The names of all files, in any order. @throws AppError unavailable */
  list(): AsyncIterable<string>;
  /** Deletes a file, and what an interrupted `put` of it left. @throws AppError unavailable */
  delete(name: string): Promise<void>;
}

/** Opens the configured storage. The S3 client is loaded for a bucket only. */
export async function openFiles({ images }: Pick<Config, 'images'>, clock: Clock): Promise<Files> {
  if (images.kind === 'folder') {
    const { openFolder } = await import('./folder.ts');
    return openFolder(images.folder, clock);
  }
  const { openBucket } = await import('./bucket.ts');
  return openBucket(images.bucket, images.prefix);
}

/** The error for a full disk or an unreachable bucket. */
export function storageFailure(cause: unknown): AppError {
  return unavailable('The image storage is unavailable. Try again shortly.', 5, cause);
}
