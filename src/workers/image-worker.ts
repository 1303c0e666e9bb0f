/** Makes of an uploaded picture what is kept of it, in a process of its own. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { sha256OfFile } from '../files/digest.ts';
import { serveTasks } from './process.ts';

export type ImageFormat = 'jpeg' | 'png' | 'webp';

export interface ImageTask {
  /** The file as it was received. */
  readonly path: string;
  readonly format: ImageFormat;
  readonly pixelsMax: number;
  /** Where the results go: this, with an ending each. */
  readonly target: string;
}

/** A result, and what it will be named after. */
export interface RenderedFile {
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

/** null: it is no picture that could be shown. */
export type RenderedImages = { readonly image: RenderedFile; readonly thumbnail: RenderedFile } | null;

const thumbnailSide = 320;
/**
 * Losses nobody sees; a PNG loses nothing. Optimal Huffman tables would make a JPEG 5 % smaller, and hold all of it in
 * memory.
 */
const options = { jpeg: { quality: 85, optimiseCoding: false }, png: {}, webp: { quality: 85 } };

// Nothing but these three is ever decoded, whatever a file calls itself: no SVG, which reads other files, and no PDF.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'],
});
// What is not shown to anybody yet is for nobody else to read.
process.umask(0o077);
sharp.concurrency(1);
sharp.cache(false);

serveTasks(async (task: ImageTask): Promise<RenderedImages> => {
  const { target } = task;
  await mkdir(dirname(target), { recursive: true });
  const image = await write(upright(task).toFormat(task.format, options[task.format]), `${target}.image`);
  const small = {
    width: thumbnailSide,
    height: thumbnailSide,
    fit: 'inside',
    withoutEnlargement: true,
  } as const;
  const thumbnail = await write(upright(task).resize(small).webp({ quality: 80 }), `${target}.thumbnail`);
  return image === null || thumbnail === null ? null : { image, thumbnail };
});

/** Without what cameras write into pictures; of a film the first frame. */
function upright({ path, pixelsMax }: ImageTask): Sharp {
  return sharp(path, { limitInputPixels: pixelsMax }).autoOrient();
}

/** From file to file, so that no picture is ever whole in memory. null where there is nothing to be shown. */
async function write(image: Sharp, path: string): Promise<RenderedFile | null> {
  try {
    const { size } = await image.toFile(path);
    return { path, hash: await sha256OfFile(path), bytes: size };
  } catch (error) {
    // libvips says so where it was the disk, and not the picture.
    if (
      /system error|unix error/.test(String(error)) ||
      (error as NodeJS.ErrnoException).syscall !== undefined
    ) {
      throw error;
    }
    return null;
  }
}
