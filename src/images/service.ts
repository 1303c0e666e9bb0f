/**
 * Images of cheeses: stores, attaches, lists and deletes them.
 *
 * Files are named after their content, and images share them. The row in image_file is inserted before the file is
 * written, and deleted after the file. So after a crash, `deleteUnused` finds every file that was left.
 */
import { parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { createLookup } from '../database/lookup.ts';
import { AppError, unavailable, validationError } from '../errors.ts';
import { recordEvents } from '../event-log/record.ts';
import type { StoredFile } from '../files/copy-files.ts';
import { isFileName } from '../files/file-name.ts';
import type { Files } from '../files/files.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Precondition } from '../versioned.ts';
import { imageEvents } from './event-types.ts';
import type { ImageFormat } from './image-format.ts';
import { type ImageFileRow, imageFileLookup, imageQueries } from './queries.ts';
import type { ImageRenderer, RenderedImage } from './renderer.ts';

/** Images of one cheese; the same limit as for photoUrls. */
export const imagesMax = 100;
/** Unused files are deleted after this time. It is longer than any upload needs to write its files. */
const unusedMs = 10 * 60 * 1000;
const deletedAtOnce = 100;

/** The names of the files of an image. */
export interface StoredImage {
  readonly imageName: string;
  readonly thumbnailName: string;
}

interface ImageDetails extends StoredImage {
  /** Size of the uploaded file in bytes. */
  readonly size: number;
  readonly caption: string | null;
  /** Whether it is the first of the photoUrls of the cheese. */
  readonly isPrimary: boolean;
}

/** An image of a cheese, as lists return it. */
export interface StoredCheeseImage extends ImageDetails {
  readonly createdAt: string;
}

/** An image to attach to a cheese. */
export interface NewCheeseImage extends ImageDetails {
  readonly cheeseId: number;
  /** The public URL of a file. */
  readonly urlOf: (name: string) => string;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly files: Files;
  readonly renderer: ImageRenderer;
  readonly cheeses: CheeseService;
}

export type ImageService = ReturnType<typeof createImageService>;

export function createImageService({ database, clock, files, renderer, cheeses }: Dependencies) {
  const lookup = createLookup<ImageFileRow>(database, imageFileLookup);
  const now = () => timestamp(clock.now());

  async function storeRendered(image: RenderedImage, thumbnail: RenderedImage): Promise<StoredImage> {
    const distinct = [...new Map([image, thumbnail].map((file) => [file.name, file])).values()];
    await database.transaction(async (tx) => {
      const added = await imageQueries(tx).addPending(distinct.map(toRow), now());
      requireAll(added, distinct);
    });
    for (const { name, path, mediaType } of distinct) {
      await files.put(name, path, mediaType);
    }
    return { imageName: image.name, thumbnailName: thumbnail.name };
  }

  /** When it fails, the remaining files stay unused, and the next run deletes them. */
  async function deleteFiles(names: readonly string[]): Promise<void> {
    const startedAt = clock.now();
    let deleted = 0;
    try {
      // The loop ends early: after a long delay, another instance may delete these files too, or an upload may store
      // them again.
      while (deleted < names.length && clock.now() < startedAt + unusedMs / 2) {
        await files.delete(names[deleted] as string);
        deleted += 1;
      }
    } finally {
      await database.transaction(async (tx) => {
        await imageQueries(tx).deleteRows(names.slice(0, deleted));
        await imageQueries(tx).markUndeleted(names);
      });
    }
  }

  return {
    /**
     * Renders the uploaded file `path` and stores the results. `deleteUnused` deletes them unless they are attached.
     * @throws AppError unsupportedMediaType, unavailable
     */
    async store(path: string, format: ImageFormat): Promise<StoredImage> {
      const rendered = await renderer.render(path, format);
      if ('refusal' in rendered) {
        throw new AppError('unsupportedMediaType', rendered.refusal);
      }
      await using _files = rendered;
      return await storeRendered(rendered.image, rendered.thumbnail);
    },

    /** Stores an image and a thumbnail that are rendered already. @throws AppError unavailable */
    storeRendered,

    /**
     * Adds a stored image to a cheese and to its photoUrls.
     * @throws AppError notFound, preconditionFailed, validation when it has too many, unavailable
     */
    attach(context: Context, image: NewCheeseImage, precondition?: Precondition): Promise<StoredImage> {
      const { cheeseId, imageName, thumbnailName, size, caption, isPrimary, urlOf } = image;
      const imageUrl = urlOf(imageName);
      return context.transaction(async (tx) => {
        await cheeses.changePhotosIn(
          tx,
          context,
          cheeseId,
          (urls) => withUrl(urls, imageUrl, isPrimary),
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
          throw validationError([{ field: 'file', message: `the cheese already has ${imagesMax} images` }]);
        }
        const data = { imageUrl, thumbnailUrl: urlOf(thumbnailName), size };
        const event = imageEvents.uploaded.of(`cheese:${cheeseId}`, data);
        await recordEvents(tx, context.origin, createdAt, [event]);
        return { imageName, thumbnailName };
      });
    },

    /** Images of a cheese in the order of upload. @throws AppError notFound */
    async list(cheeseId: number): Promise<StoredCheeseImage[]> {
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

    /** A file that an image uses, by name. */
    findFile: (name: string): MaybePromise<ImageFileRow | undefined> =>
      isFileName(name) ? lookup(name) : undefined,
    /** The bytes of a file. null when it does not exist. @throws AppError unavailable */
    readFile: files.read,

    /** Deletes the images of a cheese that is being deleted. Files that other cheeses use stay. */
    async onCheeseDelete(tx: Sql, { origin }: Context, { id }: { readonly id: number }) {
      const queries = imageQueries(tx);
      const images = await queries.findImages(id);
      if (images.length > 0) {
        await queries.deleteImages(id);
        const names = images.flatMap((row) => [row.image_name, row.thumbnail_name]);
        await queries.markUnused([...new Set(names)], now());
        origin.effects?.addCount('images.unreferenced', images.length);
      }
    },

    /** Keeps the files that images use now until `unpinFiles`, for a snapshot of the shop. */
    async pinFiles(tx: Sql, snapshotId: number) {
      await imageQueries(tx).pinStored(snapshotId);
    },

    async unpinFiles(tx: Sql, snapshotId: number) {
      await imageQueries(tx).unpin(snapshotId);
    },

    /** Deletes files that no image has used for ten minutes, and no snapshot needs. */
    async deleteUnused() {
      const before = timestamp(clock.now() - unusedMs);
      for (;;) {
        const marked = await database.transaction((tx) =>
          imageQueries(tx).markDeleting(before, now(), deletedAtOnce),
        );
        if (marked.length === 0) {
          return;
        }
        await deleteFiles(marked.map(({ name }) => name));
      }
    },
  };
}

/** The files of all images of a shop. */
export function storedFiles(database: Sql): Promise<StoredFile[]> {
  return imageQueries(database).listStored();
}

/** Puts the URL of an image first or last. One that is there already keeps its position. @throws AppError validation */
function withUrl(urls: readonly string[], url: string, isPrimary: boolean): string[] {
  if (urls.includes(url) && !isPrimary) {
    return [...urls];
  }
  const others = urls.filter((other) => other !== url);
  if (others.length >= imagesMax) {
    throw validationError([{ field: 'file', message: `the cheese already has ${imagesMax} photoUrls` }]);
  }
  return isPrimary ? [url, ...others] : [...others, url];
}

/** Compares the file names, because the part of the URL before it can change with the settings. */
function isFirst(photoUrls: readonly string[], name: string): boolean {
  return photoUrls[0]?.endsWith(`/${name}`) ?? false;
}

function toRow({ name, mediaType, bytes }: RenderedImage): ImageFileRow {
  return { name, media_type: mediaType, bytes };
}

/** Files that are being deleted can be stored again a moment later. @throws AppError unavailable */
function requireAll(changed: number, wanted: readonly unknown[]): void {
  if (changed < wanted.length) {
    throw unavailable('The same image is being deleted. Try again in a moment.', 1);
  }
}
