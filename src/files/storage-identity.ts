/** Which storage of images a process uses, so that instances with different ones are noticed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Config } from '../settings/config.ts';

const identityFile = 'storage-id';

/**
 * The URL of a bucket, or an id that is stored in the folder: instances on several machines can share a folder that has
 * another path on each.
 */
export async function readStorageIdentity({ images }: Pick<Config, 'images'>, clock: Clock): Promise<string> {
  if (images.kind !== 'folder') {
    return `s3://${images.bucket}/${images.prefix}`;
  }
  const file = join(images.folder, identityFile);
  await mkdir(images.folder, { recursive: true });
  // Fails if the file exists: of several processes that start at once, one writes it.
  await writeFile(file, clock.uuid(), { flag: 'wx', mode: 0o600, flush: true }).catch((error) => {
    if (error.code !== 'EEXIST') {
      throw error;
    }
  });
  return readFile(file, 'utf8');
}
