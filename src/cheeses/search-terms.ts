/** The terms of the search index: what cheeses can be found and counted by. Pure functions. */
import { bandOf } from './price-bands.ts';
import type { Cheese } from './schemas.ts';

/** Terms contain only the first characters of longer words. */
export const termLengthMax = 32;

/** Letters that Unicode does not decompose into a base letter and an accent. */
const ligatures: Readonly<Record<string, string>> = {
  œ: 'oe',
  æ: 'ae',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ß: 'ss',
  ı: 'i',
  ς: 'σ',
};

const plainAscii = /^[\x20-\x7e]*$/;

/** Lower case without accents: "Gruyère" and "GRUYERE" fold to the same text. */
export function foldText(text: string): string {
  if (plainAscii.test(text)) {
    return text.toLowerCase();
  }
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[œæøłđðþßıς]/g, (letter) => ligatures[letter] ?? letter);
}

/** The folded words of a text: sequences of letters and digits, without duplicates, in their order. */
export function splitWords(text: string): string[] {
  return [...new Set(foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [])];
}

/** The text in which ` word` is searched: letters and digits, with one space before each word. */
export function searchText(name: string): string {
  return ` ${splitWords(name).join(' ')}`;
}

/** The characters of a word that its term contains. */
export function truncateTerm(word: string): string {
  return word.length <= termLengthMax ? word : [...word].slice(0, termLengthMax).join('');
}

export type TermKind =
  | 'category'
  | 'tag'
  | 'origin'
  | 'organic'
  | 'missing'
  | 'word'
  | 'prefix'
  | 'price_band'
  | 'age';
export type Term = readonly [kind: TermKind, name: string];

/** Terms of the other kinds have counters only. The postings of a prefix are those of the words with it. */
export function hasPostings([kind]: Term): boolean {
  return kind !== 'prefix' && kind !== 'price_band' && kind !== 'age';
}

/** The name without case and accents, for kinds that are found by it; null for the others. */
export function foldedName([kind, name]: Term): string | null {
  return kind === 'category' || kind === 'tag' || kind === 'origin' ? foldText(name) : null;
}

type Indexed = Pick<
  Cheese,
  'name' | 'category' | 'tags' | 'photoUrls' | 'origin' | 'pricePerKg' | 'ageMonths' | 'organic'
>;

/** The terms of a cheese whose ids are not in its JSON and that facets count. */
export function originAndOrganicOf({ origin, organic }: Pick<Cheese, 'origin' | 'organic'>): Term[] {
  return [...(origin === null ? [] : [['origin', origin] as const]), ['organic', String(organic)]];
}

/**
 * Returns a function from a cheese to all of its terms. Equal terms are one object. The cheeses of an import share many
 * words, so most terms exist already.
 */
export function createTerms(): (cheese: Indexed) => Term[] {
  const terms = new Map<string, Term>();
  const termsOfWords = new Map<string, readonly Term[]>();

  function termOf(kind: TermKind, name: string): Term {
    const key = `${kind} ${name}`;
    const term = terms.get(key) ?? [kind, name];
    terms.set(key, term);
    return term;
  }

  function termsOfWord(word: string): readonly Term[] {
    let prefix = '';
    const prefixes = [...word].map((character) => {
      prefix += character;
      return termOf('prefix', prefix);
    });
    return [termOf('word', word), ...prefixes];
  }

  return (cheese) => {
    const { name, category, tags, photoUrls, pricePerKg, ageMonths } = cheese;
    const all = new Set(tags.map((tag) => termOf('tag', tag.name)));
    if (category !== undefined) {
      all.add(termOf('category', category.name));
    }
    for (const [kind, value] of originAndOrganicOf(cheese)) {
      all.add(termOf(kind, value));
    }
    all.add(
      pricePerKg === undefined ? termOf('missing', 'price') : termOf('price_band', `${bandOf(pricePerKg)}`),
    );
    if (ageMonths !== undefined) {
      all.add(termOf('age', `${ageMonths}`));
    }
    if (photoUrls.length === 0) {
      all.add(termOf('missing', 'image'));
    }
    for (const word of splitWords(name).map(truncateTerm)) {
      const known = termsOfWords.get(word) ?? termsOfWord(word);
      termsOfWords.set(word, known);
      for (const term of known) {
        all.add(term);
      }
    }
    return [...all];
  };
}
