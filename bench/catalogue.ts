/** A generated catalogue of any size, similar to a real one. The same size gives the same catalogue. */
import type { ComposedShop } from '../src/app/compose.ts';
import type { CheeseInput } from '../src/cheeses/schemas.ts';

/**
 * An import changes most pages of every index, so larger batches write each page fewer times. In much larger ones,
 * PostgreSQL keeps a thousand versions of the counters of frequent terms until the commit.
 */
const batchSize = 1000;

const categories = [
  'Fresh',
  'Soft',
  'Semi-soft',
  'Semi-hard',
  'Hard',
  'Blue',
  'Washed rind',
  'Bloomy rind',
  'Whey',
  'Brined',
];
const milks = ['cow', 'cow', 'cow', 'goat', 'sheep', 'buffalo'];
const treatments = ['pasteurised', 'pasteurised', 'raw milk', 'thermised'];
const families = [
  'Cheddar',
  'Gouda',
  'Tomme',
  'Brie',
  'Comté',
  'Gruyère',
  'Pecorino',
  'Feta',
  'Bleu',
  'Chèvre',
  'Raclette',
];
const styles = [
  'Affiné',
  'Ancien',
  'Blanc',
  'Crémeux',
  'Doux',
  'Entier',
  'Fermier',
  'Grand',
  'Jeune',
  'Léger',
  'Noir',
  'Petit',
  'Vieux',
];
const syllables = [
  'ba',
  'cor',
  'du',
  'el',
  'fin',
  'gra',
  'hol',
  'is',
  'jo',
  'kel',
  'lun',
  'mar',
  'ne',
  'or',
  'pas',
  'ri',
  'sel',
  'tu',
  'val',
  'zer',
];
const origins = [
  'France',
  'Switzerland',
  'Italy',
  'Spain',
  'Canada',
  'Netherlands',
  'Greece',
  'Austria',
  'Norway',
  null,
];

function pick<T>(options: readonly T[], number: number): T {
  return options[Math.floor(number) % options.length] as T;
}

/** One of 8,000 generated place names. Real catalogues repeat the words of their names too. */
function place(number: number): string {
  return pick(syllables, number) + pick(syllables, number / 20) + pick(syllables, number / 400);
}

/** Cheese number `index`, from 0. The same number always gives the same cheese. */
export function cheeseAt(index: number): CheeseInput {
  // A hash of the index instead of a random number, so that neighbors differ.
  const random = Math.imul(index + 1, 2_654_435_761) >>> 0;
  return {
    name: `${pick(families, index)} ${pick(styles, index / families.length)} ${place(index / (families.length * styles.length))}`,
    category: { name: pick(categories, random >>> 7) },
    photoUrls: [`https://photos.example.com/${index}.jpg`],
    tags: [{ name: pick(milks, random >>> 13) }, { name: pick(treatments, random >>> 17) }],
    status: random % 100 < 85 ? 'available' : random % 100 < 95 ? 'pending' : 'sold',
    origin: pick(origins, random >>> 5),
    pricePerKg: (random % 8000) / 100,
    ageMonths: random % 61,
    organic: random % 8 === 0,
  };
}

/** Fills an empty catalogue with `size` cheeses, in the same way as an import. */
export async function fillCatalogue(
  services: ComposedShop,
  size: number,
  onProgress: (done: number) => void,
): Promise<void> {
  for (let done = 0; done < size; done += batchSize) {
    const inputs = Array.from({ length: Math.min(batchSize, size - done) }, (_, index) =>
      cheeseAt(done + index),
    );
    await services.cheeses.service.import(services.contextOf('bench'), inputs, new Set());
    onProgress(done + inputs.length);
  }
}
