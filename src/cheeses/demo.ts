/** A small catalogue of well-known cheeses with drawings of them, for a shop that has none yet. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Context } from '../database/context.ts';
import type { Rendition } from '../files/pictures.ts';
import type { ImageService } from './images.ts';
import type { CheeseInput } from './schemas.ts';
import type { CheeseService } from './service.ts';

/** What went into the catalogue: ids by category. */
export type DemoCatalogue = ReadonlyMap<string, readonly number[]>;

/** Fills a catalogue that was never written to. */
export async function seedDemoCatalogue(cheeses: CheeseService, context: Context): Promise<DemoCatalogue> {
  return (await cheeses.version()) > 0 ? new Map() : fillDemoCatalogue(cheeses, context);
}

/** Adds the demo cheeses that are not there. */
export async function fillDemoCatalogue(cheeses: CheeseService, context: Context): Promise<DemoCatalogue> {
  const idsByCategory = new Map<string, number[]>();
  const text = await readFile(new URL('demo-catalogue.json', import.meta.url), 'utf8');
  const inputs = JSON.parse(text) as CheeseInput[];
  for (const [index, result] of (await cheeses.import(context, inputs, new Set())).entries()) {
    const category = inputs[index]?.category?.name;
    if (result.outcome === 'created' && category !== undefined) {
      idsByCategory.set(category, [...(idsByCategory.get(category) ?? []), result.id]);
    }
  }
  return idsByCategory;
}

/** Gives the cheeses of a category the drawing of that category. `urlOf` says where the world finds a picture. */
export async function seedDemoPictures(
  catalogue: DemoCatalogue,
  images: ImageService,
  context: Context,
  urlOf: (name: string) => string,
): Promise<void> {
  await Promise.all(
    [...catalogue].map(async ([category, cheeseIds]) => {
      const name = category.toLowerCase().replaceAll(' ', '-');
      const picture = await drawing(`${name}.webp`);
      const stored = await images.keep(picture, await drawing(`${name}.small.webp`));
      const size = picture.bytes;
      for (const cheeseId of cheeseIds) {
        const caption = `Drawing of a ${category.toLowerCase()} cheese`;
        await images.attach(context, { cheeseId, ...stored, size, caption, isPrimary: true, urlOf });
      }
    }),
  );
}

/** Drawn for this place, and in the form in which pictures are kept. */
async function drawing(file: string): Promise<Rendition> {
  const path = fileURLToPath(new URL(`demo-pictures/${file}`, import.meta.url));
  const bytes = await readFile(path);
  return { path, name: `${hash('sha256', bytes)}.webp`, mediaType: 'image/webp', bytes: bytes.length };
}
