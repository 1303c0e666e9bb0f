/** Copies image files between two storages. Their names begin with the hash of their content, so copies can be verified. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { digestInName } from './file-name.ts';
import type { Files } from './files.ts';

const concurrency = 4;

/** A file to copy. */
export interface StoredFile {
  readonly name: string;
  readonly mediaType: string;
}

/** The result of a copy. */
export interface CopiedFiles {
  readonly files: number;
  /** How many the target did not have. */
  readonly written: number;
  /** Names of files that the source does not have, or has with another content. */
  readonly missing: readonly string[];
}

/** Copies the files that `target` does not have, and reads them back to verify them. */
export async function copyFiles(
  source: Files,
  target: Files,
  files: readonly StoredFile[],
  progress: (done: number) => void,
): Promise<CopiedFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'curd-copy-'));
  const missing: string[] = [];
  let written = 0;
  let done = 0;

  async function copy({ name, mediaType }: StoredFile): Promise<void> {
    if (!(await hasSameContent(target, name))) {
      const path = join(folder, name);
      if (await fetchTo(path, source, name)) {
        await target.put(name, path, mediaType);
        await rm(path);
        if (!(await hasSameContent(target, name))) {
          throw new Error(`The image ${name} is different after it was copied. Run the command again.`);
        }
        written += 1;
      } else {
        missing.push(name);
      }
    }
    done += 1;
    progress(done);
  }

  async function copyNext(rest: Iterator<StoredFile>): Promise<void> {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      await copy(next.value);
    }
  }

  try {
    const rest = files[Symbol.iterator]();
    await Promise.all(Array.from({ length: concurrency }, () => copyNext(rest)));
    return { files: files.length, written, missing: missing.sort() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function hasSameContent(files: Files, name: string): Promise<boolean> {
  const content = await files.read(name, null);
  if (content === null) {
    return false;
  }
  const digest = createHash('sha256');
  await pipeline(content, digest);
  return matchesName(name, digest.digest('hex'));
}

/** Writes a file of `files` to `path`. Returns false when it is missing or its content does not match its name. */
async function fetchTo(path: string, files: Files, name: string): Promise<boolean> {
  const content = await files.read(name, null);
  if (content === null) {
    return false;
  }
  const digest = createHash('sha256');
  content.on('data', (chunk: Buffer) => digest.update(chunk));
  await pipeline(content, createWriteStream(path));
  return matchesName(name, digest.digest('hex'));
}

function matchesName(name: string, digest: string): boolean {
  return digestInName(name) === digest;
}
