/** Words of names: what a search matches, and under which terms a cheese is filed. Pure functions. */
import type { Cheese } from './schemas.ts';

/** Longer words are filed under their first characters. */
export const wordLengthMax = 32;

/** Letters that Unicode does not take apart into a base and an accent. */
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

/** Lower case, without accents: "Gruyère" and "GRUYERE" fold to the same text. */
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

/** The folded words of a text: runs of letters and digits, each once, in their order. */
export function splitWords(text: string): string[] {
  return [...new Set(foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [])];
}

/** The text in which a word is looked for as ` word`: only letters, digits and single blanks. */
export function searchText(name: string): string {
  return ` ${splitWords(name).join(' ')}`;
}

/** The first characters of a word, by which it is filed. */
export function truncateTerm(word: string): string {
  return word.length <= wordLengthMax ? word : [...word].slice(0, wordLengthMax).join('');
}

export type TermKind = 'category' | 'tag' | 'word' | 'prefix';
export type Term = readonly [kind: TermKind, name: string];

/**
 * Makes a function from a cheese to every term of it: category, tags, words of the name, and all beginnings of those
 * words. One term is always one object; the cheeses of an import share their words, so most have been met before.
 */
export function createTerms(): (cheese: Pick<Cheese, 'name' | 'category' | 'tags'>) => Term[] {
  const terms = new Map<string, Term>();
  const ofWords = new Map<string, readonly Term[]>();

  function termOf(kind: TermKind, name: string): Term {
    const key = `${kind} ${name}`;
    const term = terms.get(key) ?? [kind, name];
    terms.set(key, term);
    return term;
  }

  function ofWord(word: string): readonly Term[] {
    let prefix = '';
    const prefixes = [...word].map((character) => {
      prefix += character;
      return termOf('prefix', prefix);
    });
    return [termOf('word', word), ...prefixes];
  }

  return ({ name, category, tags }) => {
    const met = new Set(tags.map((tag) => termOf('tag', tag.name)));
    if (category !== undefined) {
      met.add(termOf('category', category.name));
    }
    for (const word of splitWords(name).map(truncateTerm)) {
      const known = ofWords.get(word) ?? ofWord(word);
      ofWords.set(word, known);
      for (const term of known) {
        met.add(term);
      }
    }
    return [...met];
  };
}
