/** The storage of image files: a folder, or a bucket with the S3 protocol. It checks no access. */
import type { Readable } from 'node:stream';
import { type AppError, unavailable } from '../errors.ts';

/** Bytes from `first` to `last`, both inclusive, from 0. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Stored files, which never change. The server makes their names: letters, digits, dashes and dots. */
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

/** The error for a full disk or an unreachable bucket. */
export function storageFailure(cause: unknown): AppError {
  return unavailable('The image storage is unavailable. Try again shortly.', 5, cause);
}
