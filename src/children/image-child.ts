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
  /** Pixels of a stored image. */
  readonly pixelsMax: number;
  /** Pixels of a JPEG that is made smaller while it is decoded. */
  readonly jpegPixelsMax: number;
  /** Path of the results, without their suffixes `.image` and `.thumbnail`. */
  readonly target: string;
}

/** A result. The hash of its content will be its name. */
export interface RenderedFile {
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

export interface RenderedImages {
  readonly image: RenderedFile;
  readonly thumbnail: RenderedFile;
}

/** Why an image cannot be stored, and what to do: two sentences. */
export interface ImageRefusal {
  readonly refusal: string;
}

const thumbnailSide = 320;
/** Decoding a JPEG at a half, a quarter or an eighth of its size needs little memory. */
const divisors = [1, 2, 4, 8];
const kinds = { jpeg: 'progressive JPEG', png: 'PNG', webp: 'WebP' };
/**
 * The loss of quality is not visible, and PNG has none. Optimal Huffman tables would make a JPEG 5 % smaller, but need the
 * whole image in memory.
 */
const options = { jpeg: { quality: 85, optimiseCoding: false }, png: {}, webp: { quality: 85 } };

// All decoders but these three are disabled. That of SVG, for example, can read other files.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'],
});
// Other users of the machine must not read the files.
process.umask(0o077);
sharp.concurrency(1);
sharp.cache(false);

const damaged = { refusal: 'The image is damaged or incomplete. Export it again, and send the new file.' };
/** Warnings of libjpeg after which pixels are missing or wrong. Others, such as of cameras that fill in headers wrongly, are harmless. */
const lostPixels = /premature end|bad Huffman code|instead of RST/i;

serveTasks(async (task: ImageTask): Promise<RenderedImages | ImageRefusal> => {
  await mkdir(dirname(task.target), { recursive: true });
  // An image that libvips warns about is decoded again without its warnings. Truncated files remain errors.
  for (const failOn of ['warning', 'error'] as const) {
    try {
      return await render(task, failOn);
    } catch (error) {
      if (isDiskFailure(error)) {
        throw error;
      }
      if (lostPixels.test(String(error))) {
        break;
      }
    }
  }
  return damaged;
});

async function render(task: ImageTask, failOn: 'warning' | 'error'): Promise<RenderedImages | ImageRefusal> {
  const { path, format, pixelsMax, target } = task;
  const { width, height, autoOrient, isProgressive } = await sharp(path, {
    limitInputPixels: false,
  }).metadata();
  // The decoder holds all scans of a progressive JPEG, and all of a WebP, in memory at full size.
  const isShrinkable = format === 'jpeg' && !isProgressive;
  const inputPixelsMax = isShrinkable ? task.jpegPixelsMax : pixelsMax;
  if (width * height > inputPixelsMax) {
    return { refusal: tooManyPixels(width, height, inputPixelsMax, isShrinkable ? 'JPEG' : kinds[format]) };
  }
  // Rotates the image upright and drops its metadata. Of an animation, only the first frame is kept.
  const upright = () => sharp(path, { limitInputPixels: inputPixelsMax, failOn }).autoOrient();
  const divisor = divisors.find((candidate) => width * height <= pixelsMax * candidate ** 2) ?? 8;
  const image = divisor === 1 ? upright() : upright().resize(Math.floor(autoOrient.width / divisor));
  const small = {
    width: thumbnailSide,
    height: thumbnailSide,
    fit: 'inside',
    withoutEnlargement: true,
  } as const;
  return {
    image: await write(image.toFormat(format, options[format]), `${target}.image`),
    thumbnail: await write(upright().resize(small).webp({ quality: 80 }), `${target}.thumbnail`),
  };
}

function tooManyPixels(width: number, height: number, pixelsMax: number, kind: string): string {
  const megapixels = Math.ceil((width * height) / 100_000) / 10;
  return `The image has ${width} x ${height} pixels, which are ${megapixels} megapixels. A ${kind} can have at most ${pixelsMax / 1_000_000}. Make it smaller, and send it again.`;
}

/** Reads and writes files, so that no image is in memory as a whole. */
async function write(image: Sharp, path: string): Promise<RenderedFile> {
  const { size } = await image.toFile(path);
  return { path, hash: await sha256OfFile(path), bytes: size };
}

/** libvips uses these words for errors of the disk. Other errors are errors of the image. */
function isDiskFailure(error: unknown): boolean {
  return (
    /system error|unix error/.test(String(error)) || (error as NodeJS.ErrnoException).syscall !== undefined
  );
}
