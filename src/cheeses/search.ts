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
export function fold(text: string): string {
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
export function wordsOf(text: string): string[] {
  return [...new Set(fold(text).match(/[\p{L}\p{N}]+/gu) ?? [])];
}

/** The text in which a word is looked for as ` word`: only letters, digits and single blanks. */
export function searchText(name: string): string {
  return ` ${wordsOf(name).join(' ')}`;
}

/** The first characters of a word, by which it is filed. */
export function filed(word: string): string {
  return word.length <= wordLengthMax ? word : [...word].slice(0, wordLengthMax).join('');
}

export type TermKind = 'category' | 'tag' | 'word' | 'prefix';
export type Term = readonly [kind: TermKind, name: string];

/** Every term of a cheese: category, tags, words of the name, and all beginnings of those words. */
export function termsOf(cheese: Pick<Cheese, 'name' | 'category' | 'tags'>): Term[] {
  const words = new Set(wordsOf(cheese.name).map(filed));
  const terms: Term[] = cheese.tags.map(({ name }) => ['tag', name]);
  if (cheese.category !== undefined) {
    terms.push(['category', cheese.category.name]);
  }
  const prefixes = new Set<string>();
  for (const word of words) {
    terms.push(['word', word]);
    let prefix = '';
    for (const character of word) {
      prefix += character;
      prefixes.add(prefix);
    }
  }
  for (const prefix of prefixes) {
    terms.push(['prefix', prefix]);
  }
  return terms;
}
