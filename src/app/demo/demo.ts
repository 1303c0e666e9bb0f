/** A small catalogue of well-known cheeses with drawings, for new shops. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { findSameCheeses } from '../../cheeses/import-comparison.ts';
import type { Cheese, CheeseInput } from '../../cheeses/schemas.ts';
import type { CheeseService } from '../../cheeses/service.ts';
import type { Context } from '../../database/context.ts';
import type { Database, Sql } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { digestInName, toImageName } from '../../files/file-name.ts';
import type { RenderedImage } from '../../images/renderer.ts';
import type { ImageService } from '../../images/service.ts';
import { restoreTestOrders } from '../../orders/test-orders.ts';
import type { DemoFill } from '../../sandbox/snapshots/reset.ts';

interface DemoServices {
  readonly images: ImageService;
  readonly database: Database;
}

/** Adds the demo cheeses to a catalogue that was never changed. */
export async function seedDemoCatalogue(cheeses: CheeseService, context: Context): Promise<void> {
  if ((await cheeses.version()) === 0) {
    await fillDemoCatalogue(cheeses, context);
  }
}

/** Adds the demo cheeses that are missing. */
export async function fillDemoCatalogue(cheeses: CheeseService, context: Context): Promise<void> {
  await cheeses.import(context, await demoInputs(), new Set());
}

/**
 * Adds the drawing of its category to each demo cheese that was never changed. These are the new ones, and those whose
 * server was stopped before it stored the drawings. `urlOf` returns the public URL of an image.
 */
export async function seedDemoImages(
  { images, database }: DemoServices,
  context: Context,
  urlOf: (name: string) => string,
): Promise<void> {
  const unchanged = (await findSameCheeses(database, await demoInputs())).filter(({ body }) => {
    const { createdAt, updatedAt } = JSON.parse(body) as Cheese;
    return createdAt === updatedAt;
  });
  const byCategory = Map.groupBy(unchanged, ({ body }) => (JSON.parse(body) as Cheese).category?.name ?? '');
  await Promise.all(
    [...byCategory].map(async ([category, found]) => {
      const [image, thumbnail] = await drawingsOf(category);
      const stored = await images.storeRendered(image, thumbnail);
      const size = image.bytes;
      for (const { id: cheeseId } of found) {
        const caption = `Drawing of a ${category.toLowerCase()} cheese`;
        await images.attach(context, { cheeseId, ...stored, size, caption, isPrimary: true, urlOf });
      }
    }),
  );
}

interface FillDependencies extends DemoServices {
  readonly cheeses: CheeseService;
  readonly fileUrl: (name: string) => string;
}

/** Fills an empty shop as a first start does. */
export function createDemoFill({ cheeses, fileUrl, ...services }: FillDependencies): DemoFill {
  return {
    catalogue: (context) => fillDemoCatalogue(cheeses, context),
    async imagesAndOrders(context) {
      await seedDemoImages(services, context, fileUrl);
      await restoreTestOrders(context);
    },
  };
}

/** Names of demo cheeses. */
export interface RemovedDemo {
  readonly removed: readonly string[];
  /** They are in orders: if the environment changes, in those that are approved or shipped. */
  readonly kept: readonly string[];
}

/**
 * Deletes the demo cheeses whose values were not changed and that have no image except their drawing. Their orders in
 * the status placed are canceled.
 * @param listKept returns those of the cheeses that are kept
 */
export async function removeDemoCheeses(
  cheeses: CheeseService,
  tx: Sql,
  context: Context,
  listKept: (ids: readonly number[]) => Promise<ReadonlySet<number>> = async () => new Set(),
): Promise<RemovedDemo> {
  const inputs = await demoInputs();
  const categories = new Set(inputs.map(({ category }) => category?.name ?? ''));
  const drawings = new Set<string>();
  for (const category of categories) {
    drawings.add((await drawingsOf(category))[0].name);
  }
  const removed: string[] = [];
  const kept: string[] = [];
  const found = (await findSameCheeses(tx, inputs)).toSorted((a, b) => a.id - b.id);
  // All before the first deletion, which locks customers and orders.
  await cheeses.lockCatalogue(tx);
  for (const { id } of found) {
    await cheeses.lock(tx, id);
  }
  const keptIds = await listKept(found.map(({ id }) => id));
  for (const { id, body } of found) {
    const { name, photoUrls } = JSON.parse(body) as Cheese;
    if (photoUrls.every((url) => drawings.has(url.slice(url.lastIndexOf('/') + 1)))) {
      if (keptIds.has(id)) {
        kept.push(name);
        continue;
      }
      try {
        await cheeses.deleteIn(tx, context, id);
        removed.push(name);
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'conflict')) {
          throw error;
        }
        kept.push(name);
      }
    }
  }
  return { removed, kept };
}

async function demoInputs(): Promise<CheeseInput[]> {
  return JSON.parse(await readFile(new URL('catalogue.json', import.meta.url), 'utf8'));
}

/** The drawing of a category, and its thumbnail. */
async function drawingsOf(category: string): Promise<[RenderedImage, RenderedImage]> {
  const name = category.toLowerCase().replaceAll(' ', '-');
  const [image, thumbnail] = [await drawing(`${name}.webp`), await drawing(`${name}.small.webp`)];
  return [{ ...image, name: toImageName(digestInName(image.name), thumbnail.name, 'webp') }, thumbnail];
}

/** A file of images/. It was rendered already, like the images that the server stores. */
async function drawing(file: string): Promise<RenderedImage> {
  const path = fileURLToPath(new URL(`images/${file}`, import.meta.url));
  const bytes = await readFile(path);
  return { path, name: `${hash('sha256', bytes)}.webp`, mediaType: 'image/webp', bytes: bytes.length };
}
