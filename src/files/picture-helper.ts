/** Makes of an uploaded picture what is kept of it, in a process of its own. */
import { hash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { serveTasks } from '../helper-process.ts';

export type PictureFormat = 'jpeg' | 'png' | 'webp';

export interface Task {
  /** The file as it was received. */
  readonly path: string;
  readonly format: PictureFormat;
  readonly pixelsMax: number;
  /** Where the results go: this, with an ending each. */
  readonly target: string;
}

/** A result, and what it will be named after. */
export interface Made {
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

/** null: it is no picture that could be shown. */
export type Outcome = { readonly image: Made; readonly thumbnail: Made } | null;

const thumbnailSide = 320;
/** Losses nobody sees; a PNG loses nothing. */
const options = { jpeg: { quality: 85 }, png: {}, webp: { quality: 85 } };

// Nothing but these three is ever decoded, whatever a file calls itself: no SVG, which reads other files, and no PDF.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'],
});
sharp.concurrency(1);
sharp.cache(false);

/** Upright, without what cameras write into pictures, of a film the first frame. */
function decode(bytes: Buffer, limitInputPixels: number): Sharp {
  return sharp(bytes, { limitInputPixels }).autoOrient();
}

async function render({ path, format, pixelsMax }: Task): Promise<[Buffer, Buffer] | null> {
  const bytes = await readFile(path);
  try {
    const image = await decode(bytes, pixelsMax).toFormat(format, options[format]).toBuffer();
    const thumbnail = await decode(bytes, pixelsMax)
      .resize(thumbnailSide, thumbnailSide, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer();
    return [image, thumbnail];
  } catch {
    return null;
  }
}

async function save(path: string, bytes: Buffer): Promise<Made> {
  await writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
  return { path, hash: hash('sha256', bytes), bytes: bytes.length };
}

serveTasks(async (task: Task): Promise<Outcome> => {
  const { target } = task;
  const rendered = await render(task);
  if (rendered === null) {
    return null;
  }
  const [image, thumbnail] = rendered;
  await mkdir(dirname(target), { recursive: true });
  return {
    image: await save(`${target}.image`, image),
    thumbnail: await save(`${target}.thumbnail`, thumbnail),
  };
});
