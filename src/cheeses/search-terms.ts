/** The terms of the search index: words of names and their prefixes, tags and categories. Pure functions. */
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

export type TermKind = 'category' | 'tag' | 'word' | 'prefix';
export type Term = readonly [kind: TermKind, name: string];

/**
 * Returns a function from a cheese to all of its terms: category, tags, words of the name, and all prefixes of those
 * words. Equal terms are one object. The cheeses of an import share many words, so most terms exist already.
 */
export function createTerms(): (cheese: Pick<Cheese, 'name' | 'category' | 'tags'>) => Term[] {
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

  return ({ name, category, tags }) => {
    const all = new Set(tags.map((tag) => termOf('tag', tag.name)));
    if (category !== undefined) {
      all.add(termOf('category', category.name));
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
