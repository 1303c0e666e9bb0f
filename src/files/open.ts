/** Chooses the storage of image files. */
import type { Clock } from '../clock.ts';
import type { Config } from '../settings/config.ts';
import type { Files } from './files.ts';

/** Opens the configured storage. The S3 client is loaded for a bucket only. */
export async function openFiles({ images }: Pick<Config, 'images'>, clock: Clock): Promise<Files> {
  if (images.kind === 'folder') {
    const { openFolder } = await import('./folder.ts');
    return openFolder(images.folder, clock);
  }
  const { openBucket } = await import('./bucket.ts');
  return openBucket(images.bucket, images.prefix);
}
