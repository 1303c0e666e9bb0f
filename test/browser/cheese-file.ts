/** A file of cheeses for the import screen. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Options {
  /** The row whose price is another one. */
  readonly changed?: number;
  /** The column of the names. */
  readonly name?: string;
}

/** Writes a CSV file whose last two rows have prices that are refused. */
export async function writeCheeseFile(
  folder: string,
  rows: number,
  { changed = 0, name = 'Nom' }: Options = {},
): Promise<string> {
  const lines = Array.from({ length: rows }, (_, index) => {
    const price = index + 1 === changed ? 99 : index >= rows - 2 ? -1 : 10 + (index % 40);
    return `Cheese ${index + 1},Imported,${price}`;
  });
  const path = join(folder, `${name}.csv`);
  await writeFile(path, [`${name},Type,Price`, ...lines].join('\n'));
  return path;
}
