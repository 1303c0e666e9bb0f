/**
 * Pictures of cheeses: what is taken, what is kept of it, and when it goes.
 *
 * Files are named after their content and shared: a row in image_file is announced before the bytes are written, and
 * deleted after they are. So a crash in between leaves nothing that `sweep` does not find.
 */
import { parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { createLookup } from '../database/lookup.ts';
import { unavailable, validationError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { StoredFile } from '../files/copy-files.ts';
import type { ByteRange, Files } from '../files/files.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Precondition } from '../versioned.ts';
import { type ImageFormat, unsupportedImage } from './image-format.ts';
import { type ImageFileRow, imageFileLookup, imageQueries } from './queries.ts';
import type { ImageRenderer, RenderedImage } from './renderer.ts';

/** As many as a cheese has photoUrls. */
export const imagesMax = 100;
/** Longer than any upload takes from the announcement of its files to their last byte. */
const looseMs = 10 * 60 * 1000;
const sweptAtOnce = 100;
const fileName = /^[0-9a-f]{64}\.(jpg|png|webp)$/;

/** A picture by the names of its files. */
export interface StoredImage {
  readonly imageName: string;
  readonly thumbnailName: string;
}

interface Described extends StoredImage {
  /** Bytes that were received. */
  readonly size: number;
  readonly caption: string | null;
  /** First of the cheese's photoUrls. */
  readonly isPrimary: boolean;
}

export interface StoredCheeseImage extends Described {
  readonly createdAt: string;
}

export interface NewCheeseImage extends Described {
  readonly cheeseId: number;
  /** Where the world finds a file. */
  readonly urlOf: (name: string) => string;
}

export interface ImageService {
  /**
   * Keeps what the file at `path` shows, until `sweep` unless it is attached to a cheese.
   * @throws AppError unsupportedMediaType, unavailable
   */
  store(path: string, format: ImageFormat): Promise<StoredImage>;
  /** The same with a picture and a thumbnail as they are. @throws AppError unavailable */
  keep(image: RenderedImage, thumbnail: RenderedImage): Promise<StoredImage>;
  /**
   * Gives a cheese a stored picture.
   * @throws AppError notFound, preconditionFailed, validation where it has too many, unavailable
   */
  attach(context: Context, image: NewCheeseImage, precondition?: Precondition): Promise<StoredImage>;
  /** In the order of their first upload. @throws AppError notFound */
  list(cheeseId: number): Promise<StoredCheeseImage[]>;
  /** A file that is in use, by its name. */
  findFile(name: string): MaybePromise<ImageFileRow | undefined>;
  /** @throws AppError notFound, unavailable */
  readFile(name: string, range: ByteRange | null): ReturnType<Files['read']>;
  /** The cheese is about to go: its pictures are shown no more, unless others have the same. */
  forgetCheese(tx: Sql, cheeseId: number): Promise<void>;
  /** Deletes files that nobody uses. */
  deleteUnused(): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly files: Files;
  readonly renderer: ImageRenderer;
  readonly cheeses: CheeseService;
}

export function createImageService({
  database,
  clock,
  files,
  renderer,
  cheeses,
}: Dependencies): ImageService {
  const lookup = createLookup<ImageFileRow>(database, imageFileLookup);
  const now = () => timestamp(clock.now());

  async function keep(image: RenderedImage, thumbnail: RenderedImage): Promise<StoredImage> {
    const distinct = [...new Map([image, thumbnail].map((one) => [one.name, one])).values()];
    await database.transaction(async (tx) => {
      const announced = await imageQueries(tx).announce(distinct.map(rowOf), now());
      requireAll(announced, distinct);
    });
    for (const { name, path, mediaType } of distinct) {
      await files.put(name, path, mediaType);
    }
    return { imageName: image.name, thumbnailName: thumbnail.name };
  }

  /** As far as it gets: what is left is loose as before. */
  async function deleteAll(names: readonly string[]): Promise<void> {
    const claimedAt = clock.now();
    let deleted = 0;
    try {
      // Whoever is held up for long may have been overtaken: somebody else then claims them, or uploads them anew.
      while (deleted < names.length && clock.now() < claimedAt + looseMs / 2) {
        await files.delete(names[deleted] as string);
        deleted += 1;
      }
    } finally {
      await database.transaction(async (tx) => {
        await imageQueries(tx).forget(names.slice(0, deleted));
        await imageQueries(tx).release(names);
      });
    }
  }

  return {
    async store(path, format) {
      await using rendered = await renderer.render(path, format);
      if (rendered === null) {
        throw unsupportedImage('The image is damaged, or has more than 40 megapixels.');
      }
      return await keep(rendered.image, rendered.thumbnail);
    },

    keep,

    attach(context, image, precondition) {
      const { cheeseId, imageName, thumbnailName, size, caption, isPrimary, urlOf } = image;
      const imageUrl = urlOf(imageName);
      return context.transaction(async (tx) => {
        await cheeses.changePhotosIn(
          tx,
          context,
          cheeseId,
          (urls) => placed(urls, imageUrl, isPrimary),
          precondition,
        );
        const queries = imageQueries(tx);
        const names = [...new Set([imageName, thumbnailName])];
        requireAll(await queries.markStored(names), names);
        const createdAt = now();
        await queries.addImage(cheeseId, {
          image_name: imageName,
          thumbnail_name: thumbnailName,
          size,
          caption,
          created_at: createdAt,
        });
        if ((await queries.countImages(cheeseId)) > imagesMax) {
          throw validationError([{ field: 'file', message: `the cheese has ${imagesMax} pictures already` }]);
        }
        const data = JSON.stringify({ imageUrl, thumbnailUrl: urlOf(thumbnailName), size });
        await recordEvents(tx, context.origin, createdAt, [
          { type: 'cheese.image_uploaded', subject: `cheese:${cheeseId}`, data },
        ]);
        return { imageName, thumbnailName };
      });
    },

    async list(cheeseId) {
      const cheese = await cheeses.find(cheeseId);
      const { photoUrls } = parseCheese(cheese.body);
      const rows = await imageQueries(database).findImages(cheeseId);
      return rows.map((row) => ({
        imageName: row.image_name,
        thumbnailName: row.thumbnail_name,
        size: row.size,
        caption: row.caption,
        isPrimary: isFirst(photoUrls, row.image_name),
        createdAt: row.created_at,
      }));
    },

    findFile: (name) => (fileName.test(name) ? lookup(name) : undefined),
    readFile: files.read,

    async forgetCheese(tx, cheeseId) {
      const queries = imageQueries(tx);
      const images = await queries.findImages(cheeseId);
      if (images.length > 0) {
        await queries.deleteImages(cheeseId);
        const names = images.flatMap((row) => [row.image_name, row.thumbnail_name]);
        await queries.loosen([...new Set(names)], now());
      }
    },

    async deleteUnused() {
      const before = timestamp(clock.now() - looseMs);
      for (;;) {
        const claimed = await database.transaction((tx) =>
          imageQueries(tx).claimLoose(before, now(), sweptAtOnce),
        );
        if (claimed.length === 0) {
          return;
        }
        await deleteAll(claimed.map(({ name }) => name));
      }
    },
  };
}

/** All files that the pictures of a shop consist of. */
export function storedFiles(database: Sql): Promise<StoredFile[]> {
  return imageQueries(database).listStored();
}

/** Where a picture stands among the addresses: first, last, or where it was. @throws AppError validation */
function placed(urls: readonly string[], url: string, isPrimary: boolean): string[] {
  if (urls.includes(url) && !isPrimary) {
    return [...urls];
  }
  const others = urls.filter((one) => one !== url);
  if (others.length >= imagesMax) {
    throw validationError([{ field: 'file', message: `the cheese has ${imagesMax} photoUrls already` }]);
  }
  return isPrimary ? [url, ...others] : [...others, url];
}

/** By name: the address that goes before it may have changed since. */
function isFirst(photoUrls: readonly string[], name: string): boolean {
  return photoUrls[0]?.endsWith(`/${name}`) ?? false;
}

function rowOf({ name, mediaType, bytes }: RenderedImage): ImageFileRow {
  return { name, media_type: mediaType, bytes };
}

/** Files that are being deleted this moment will be free in the next. */
function requireAll(counted: number, wanted: readonly unknown[]): void {
  if (counted < wanted.length) {
    throw unavailable('The same picture is being deleted. Try again in a moment.', 1);
  }
}
