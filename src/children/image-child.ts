/** The child process that renders uploaded images. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { sha256OfFile } from '../files/digest.ts';
import { serveTasks } from './child.ts';

/** Formats that are decoded. */
export type ImageFormat = 'jpeg' | 'png' | 'webp';

/** One image to render. */
export interface ImageTask {
  /** The uploaded file. */
  readonly path: string;
  readonly format: ImageFormat;
  readonly pixelsMax: number;
  /** Path of the results, without their suffixes `.image` and `.thumbnail`. */
  readonly target: string;
}

/** A result. The hash of its content will be its name. */
export interface RenderedFile {
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

/** null when the file is not an image that can be decoded. */
export type RenderedImages = { readonly image: RenderedFile; readonly thumbnail: RenderedFile } | null;

const thumbnailSide = 320;
/**
 * The loss of quality is not visible, and PNG has none. Optimal Huffman tables would make a JPEG 5 % smaller, but need the
 * whole image in memory.
 */
const options = { jpeg: { quality: 85, optimiseCoding: false }, png: {}, webp: { quality: 85 } };

// Only these three decoders are enabled. SVG, for example, can read other files.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'],
});
// Other users of the machine must not read the files.
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

/** Rotates the image upright and drops its metadata. Of an animation, only the first frame is kept. */
function upright({ path, pixelsMax }: ImageTask): Sharp {
  return sharp(path, { limitInputPixels: pixelsMax }).autoOrient();
}

/** Reads and writes files, so that no image is in memory as a whole. Returns null when it cannot be decoded. */
async function write(image: Sharp, path: string): Promise<RenderedFile | null> {
  try {
    const { size } = await image.toFile(path);
    return { path, hash: await sha256OfFile(path), bytes: size };
  } catch (error) {
    // libvips uses these words for errors of the disk. Other errors are errors of the image.
    if (
      /system error|unix error/.test(String(error)) ||
      (error as NodeJS.ErrnoException).syscall !== undefined
    ) {
      throw error;
    }
    return null;
  }
}
