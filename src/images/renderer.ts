/**
 * Decodes uploaded images and encodes them again. What is stored was written by us and contains an image only. Two
 * child processes of low priority do it, so that other requests do not wait, and a hostile file cannot crash the server.
 */
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type {
  ImageFormat,
  ImageRefusal,
  ImageTask,
  RenderedFile,
  RenderedImages,
} from '../children/image-child.ts';
import { createChildPool, TaskTimedOut } from '../children/pool.ts';
import type { Clock } from '../clock.ts';
import { toImageName } from '../files/file-name.ts';
import { storageFailure } from '../files/files.ts';

/** Pixels of a stored image. While an image is decoded and rotated, a pixel needs up to nine bytes of memory. */
export const pixelsMax = 40_000_000;
/** The resolution of the best phones. Such a JPEG is decoded at a half or a quarter of its width. */
export const jpegPixelsMax = 200_000_000;
const imageProcessesMax = 2;
/** One that a process works on, and one that it starts next without waiting for us. */
const slotsPerChild = 2;
/** The largest images need eight seconds of an idle core, and child processes have the lowest priority. */
const taskTimeoutMs = 120_000;
const idleMs = 10_000;

/** A file to store, under a name that follows from its content. */
export interface RenderedImage {
  readonly path: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** The two results of an upload. Their files are deleted when it is disposed. */
export interface RenderedUpload extends AsyncDisposable {
  readonly image: RenderedImage;
  readonly thumbnail: RenderedImage;
}

const extensions = { jpeg: 'jpg', png: 'png', webp: 'webp' } as const;

/** Renders uploaded images in child process. */
export type ImageRenderer = ReturnType<typeof createImageRenderer>;

/** Creates the image pool. Its processes start with the first image, and end when idle to free their memory. */
export function createImageRenderer(clock: Clock, childrenMax = imageProcessesMax) {
  const slots = childrenMax * slotsPerChild;
  const pool = createChildPool<ImageTask, RenderedImages | ImageRefusal, 'render'>({
    file: new URL('../children/image-child.ts', import.meta.url),
    childrenMax,
    slotsPerChild,
    // The number of uploads in progress is limited already.
    queues: { render: { concurrency: slots, waitingMax: Number.POSITIVE_INFINITY } },
    idleMs,
    taskTimeoutMs,
  });

  async function run(task: ImageTask): Promise<RenderedImages | ImageRefusal> {
    using slot = await pool.acquire('render');
    try {
      return await slot.run(task);
    } catch (error) {
      if (error instanceof TaskTimedOut) {
        return {
          refusal: `The image could not be decoded within ${taskTimeoutMs / 1000} seconds. Make it smaller, and send it again.`,
        };
      }
      throw storageFailure(error);
    }
  }

  return {
    /**
     * Encodes the image in the file `path`. The results are files in the same folder.
     * Returns a refusal when the file is not an image of that format, or has too many pixels.
     * @throws AppError unavailable when the disk is full or a child process was killed
     */
    async render(path: string, format: ImageFormat): Promise<RenderedUpload | ImageRefusal> {
      const target = join(dirname(path), clock.uuid());
      await using files = new AsyncDisposableStack();
      files.defer(() => removeFiles(target));
      const outcome = await run({ path, format, pixelsMax, jpegPixelsMax, target });
      if ('refusal' in outcome) {
        return outcome;
      }
      const kept = files.move();
      const thumbnail = toRenderedImage(outcome.thumbnail, 'webp', `${outcome.thumbnail.hash}.webp`);
      const name = toImageName(outcome.image.hash, thumbnail.name, extensions[format]);
      return {
        image: toRenderedImage(outcome.image, format, name),
        thumbnail,
        [Symbol.asyncDispose]: () => kept.disposeAsync(),
      };
    },
    /** Images in work, and those that wait. */
    stats: pool.stats,
    /** Ends the child process that have nothing to do. */
    close: pool.close,
  };
}

function toRenderedImage({ path, bytes }: RenderedFile, format: ImageFormat, name: string): RenderedImage {
  return { path, name, mediaType: `image/${format}`, bytes };
}

/** Files that cannot be deleted now are purged later, as those of killed processes are. */
async function removeFiles(target: string): Promise<void> {
  const paths = [`${target}.image`, `${target}.thumbnail`];
  await Promise.all(paths.map((path) => rm(path, { force: true }).catch(() => {})));
}
