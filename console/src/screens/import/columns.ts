/** The columns of a file, and which fields of a cheese they seem to be. The server reads the file itself. */
import { type ImportField, importFields, toFieldTitle } from '../cheeses/fields.ts';

/** The columns of each field, in the order in which the server looks for a value. */
export type Mapping = Readonly<Partial<Record<ImportField, readonly string[]>>>;

/**
 * Words by which a column is recognized, without case, spaces and signs, besides the name and the title of the field. They
 * are not in the table of fields, because the screen of cheeses would load them.
 */
const otherWords: Readonly<Partial<Record<ImportField, string>>> = {
  name: 'cheese cheesename cheesenameen title product productname article',
  category: 'categorytypeen type kind family group',
  tags: 'tag labels keywords milk milktype milktypeen',
  status: 'state availability',
  origin: 'country countryoforigin from',
  pricePerKg: 'price priceusd priceperkilogram kgprice unitprice',
  ageMonths: 'age aging ageing months ripening ripeningen',
  organic: 'isorganic bio',
  portions: 'pieces portion weights',
  photoUrls: 'photos photo images image imageurl imageurls picture',
  stockKg: 'stock onhand quantity inventory kilograms',
};

const bare = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** "CheeseName" of "CheeseNameEn" and "cheese name" of "cheese name fr". */
const stemOf = (column: string): string | undefined =>
  /^(.+[\p{Ll}\p{N}])(?:\p{Lu}\p{Ll}|[ _-]\p{L}{2})$/u.exec(column)?.[1];

/** A column and those of the same name in other languages, whose values stand in for missing ones. */
function withTranslations(column: string, columns: readonly string[]): string[] {
  const stem = stemOf(column);
  const others = columns.filter((other) => other !== column && stemOf(other) === stem);
  return stem === undefined ? [column] : [column, ...others];
}

export function guessMapping(columns: readonly string[]): Mapping {
  const guessed = importFields.map((field) => {
    const others = otherWords[field]?.split(' ') ?? [];
    const known = [bare(field), ...others, bare(toFieldTitle(field))];
    const exact = columns.filter((column) => column === field);
    const similar = columns
      .filter((column) => known.includes(bare(column)))
      .sort((one, other) => known.indexOf(bare(one)) - known.indexOf(bare(other)));
    const found = exact.length > 0 ? exact : field === 'tags' ? similar : similar.slice(0, 1);
    const [first] = found;
    // A row without a name is refused.
    return [
      field,
      field === 'name' && first !== undefined ? withTranslations(first, columns) : found,
    ] as const;
  });
  return Object.fromEntries(guessed.filter(([, found]) => found.length > 0));
}

/** Enough for the first line of a table. */
const headBytes = 64 * 1024;

/** The columns of a table, or the members of the first object. Empty if they cannot be read. */
export async function readColumns(file: File): Promise<string[]> {
  try {
    if (/\.json$/i.test(file.name)) {
      const [first] = JSON.parse(await textOf(file)) as object[];
      return Object.keys(first ?? {});
    }
    const head = await textOf(file.slice(0, headBytes));
    return /\.(ndjson|jsonl)$/i.test(file.name)
      ? Object.keys(JSON.parse(head.split('\n', 1)[0] ?? '') as object)
      : parseHeader(head);
  } catch {
    return [];
  }
}

/** UTF-8, or UTF-16 with a byte order mark. */
async function textOf(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [first, second] = bytes;
  const isLittle = first === 0xff && second === 0xfe;
  const isBig = first === 0xfe && second === 0xff;
  return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(bytes);
}

/** The cells of the first row of a CSV file, with the separator that the server chooses (RFC 4180). */
export function parseHeader(text: string): string[] {
  const cells: string[] = [];
  const [header = ''] = /[^\r\n]+/.exec(text.replace(/"[^"]*"/g, '""')) ?? [];
  const separator = [',', ';', '\t', '|'].find((candidate) => header.includes(candidate)) ?? ',';
  const end = `(\\${separator}|\\r?\\n|$)`;
  const cell = new RegExp(`\\s*"((?:[^"]|"")*)"\\s*${end}|([^${separator}\\r\\n]*)${end}`, 'y');
  for (let match = cell.exec(text); match !== null; match = cell.exec(text)) {
    cells.push((match[1]?.replaceAll('""', '"') ?? match[3] ?? '').trim());
    if ((match[2] ?? match[4]) !== separator) {
      break;
    }
  }
  return cells.filter((name) => name !== '');
}
