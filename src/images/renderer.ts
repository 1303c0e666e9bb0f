/**
 * Pictures, decoded and encoded anew: what is kept was written by us, and holds nothing but a picture. Two helper
 * processes of low priority do it, so that other requests do not wait, and what a hostile file brings down is not the
 * server. They end when there is nothing to do, and what they used of the memory with them.
 */
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import { storageFailure } from '../files/files.ts';
import type { ImageFormat, ImageTask, Outcome, RenderedFile } from '../workers/image-worker.ts';
import { startWorkerProcess, WorkerExited, type WorkerProcess } from '../workers/process.ts';

export type { ImageFormat };

/** As many as a good camera makes; four bytes each while a picture is turned upright. */
export const pixelsMax = 40_000_000;
const helpersMax = 2;
/** One that it works on, and one that it need not wait for when it is through. */
const tasksMax = 2;
/** The largest need eight seconds of a processor to themselves, and helpers come last. */
const patienceMs = 120_000;
const idleMs = 10_000;

type Helper = WorkerProcess<ImageTask, Outcome>;

/** A file that is to be kept, under a name that follows from its content. */
export interface RenderedImage {
  readonly path: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

export interface ImageRenderer {
  /**
   * Encodes the picture in the file `path` and hands the two results to `use`, as files beside it that are gone
   * afterwards.
   * null instead of them where the file is no picture of that format, or one of more than 40 megapixels.
   * @throws AppError unavailable where the disk is full or a helper was killed
   */
  render<T>(
    path: string,
    format: ImageFormat,
    use: (renditions: { image: RenderedImage; thumbnail: RenderedImage } | null) => Promise<T>,
  ): Promise<T>;
  /** Pictures that are worked on, and those that wait for it. */
  stats(): { readonly running: number; readonly waiting: number };
  /** Ends the helpers. */
  close(): void;
}

const extensions = { jpeg: 'jpg', png: 'png', webp: 'webp' } as const;

function rendition({ path, hash, bytes }: RenderedFile, format: ImageFormat): RenderedImage {
  return { path, name: `${hash}.${extensions[format]}`, mediaType: `image/${format}`, bytes };
}

export function createImageRenderer(clock: Clock): ImageRenderer {
  const waiting: (() => void)[] = [];
  let workers: { readonly process: Helper; tasks: number }[] = [];
  let idleTimer: NodeJS.Timeout | undefined;

  /** The helper with the least to do; null where all have their hands full. */
  function choose(): (typeof workers)[number] | null {
    const [laziest] = workers.toSorted((a, b) => a.tasks - b.tasks);
    if (laziest !== undefined && (laziest.tasks === 0 || workers.length === helpersMax)) {
      return laziest.tasks < tasksMax ? laziest : null;
    }
    const process = startWorkerProcess<ImageTask, Outcome>(
      new URL('../workers/image-worker.ts', import.meta.url),
      () => {
        workers = workers.filter((one) => one.process.isAlive());
      },
    );
    const started = { process, tasks: 0 };
    workers.push(started);
    return started;
  }

  async function inHelper<T>(work: (worker: Helper) => Promise<T>): Promise<T> {
    clearTimeout(idleTimer);
    let helper = choose();
    while (helper === null) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      helper = choose();
    }
    helper.tasks += 1;
    try {
      return await work(helper.process);
    } finally {
      helper.tasks -= 1;
      waiting.shift()?.();
      if (workers.every(({ tasks }) => tasks === 0)) {
        clearTimeout(idleTimer);
        idleTimer = setTimeout(close, idleMs).unref();
      }
    }
  }

  function close(): void {
    for (const { process } of workers.filter(({ tasks }) => tasks === 0)) {
      process.kill();
    }
    workers = workers.filter(({ tasks }) => tasks > 0);
  }

  return {
    async render(path, format, use) {
      const target = join(dirname(path), clock.uuid());
      try {
        const made = await inHelper((worker) => outcomeOf(worker, { path, format, pixelsMax, target }));
        return await use(
          made && {
            image: rendition(made.image, format),
            thumbnail: rendition(made.thumbnail, 'webp'),
          },
        );
      } finally {
        await Promise.all(
          [`${target}.image`, `${target}.thumbnail`].map((one) => rm(one, { force: true }).catch(() => {})),
        );
      }
    },
    stats: () => ({
      running: workers.reduce((sum, { tasks }) => sum + tasks, 0),
      waiting: waiting.length,
    }),
    close,
  };
}

/** What takes too long is no picture that anybody should be shown. */
async function outcomeOf(worker: Helper, task: ImageTask): Promise<Outcome> {
  let isTooLong = false;
  const timer = setTimeout(() => {
    isTooLong = true;
    worker.kill();
  }, patienceMs);
  try {
    return await worker.run(task);
  } catch (error) {
    if (error instanceof WorkerExited && isTooLong) {
      return null;
    }
    throw storageFailure(error);
  } finally {
    clearTimeout(timer);
  }
}
