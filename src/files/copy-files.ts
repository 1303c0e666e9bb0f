/** Pictures from one place to another. Each is named after its content, so what is there already can be told. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Files } from './files.ts';

const filesAtOnce = 4;

export interface StoredFile {
  readonly name: string;
  readonly mediaType: string;
}

export interface CopiedFiles {
  readonly files: number;
  /** Those that were not there yet. */
  readonly written: number;
  /** Names of those that the source has lost, or holds with another content. */
  readonly missing: readonly string[];
}

/** Copies what `target` does not have yet, and reads it back. */
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
    if (!(await holds(target, name))) {
      const path = join(folder, name);
      if (await fetchTo(path, source, name)) {
        await target.put(name, path, mediaType);
        await rm(path);
        if (!(await holds(target, name))) {
          throw new Error(`The picture ${name} is not the same after it was stored: copy again.`);
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
    await Promise.all(Array.from({ length: filesAtOnce }, () => copyNext(rest)));
    return { files: files.length, written, missing: missing.sort() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function holds(files: Files, name: string): Promise<boolean> {
  const content = await files.read(name, null);
  if (content === null) {
    return false;
  }
  const digest = createHash('sha256');
  await pipeline(content, digest);
  return isNamedAfter(name, digest.digest('hex'));
}

/** False where the source does not have it as it was stored. */
async function fetchTo(path: string, files: Files, name: string): Promise<boolean> {
  const content = await files.read(name, null);
  if (content === null) {
    return false;
  }
  const digest = createHash('sha256');
  content.on('data', (chunk: Buffer) => digest.update(chunk));
  await pipeline(content, createWriteStream(path));
  return isNamedAfter(name, digest.digest('hex'));
}

function isNamedAfter(name: string, digest: string): boolean {
  return name.split('.', 1)[0] === digest;
}
