/** The forms in which names are compared and searched. Pure functions. */

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

/** Visible characters of ASCII with single blanks between them: most names. */
const plainAscii = /^[!-~]*(?: [!-~]+)*$/;

const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** A name can look the same with and without them. */
export function withoutInvisible(text: string): string {
  return text.replace(invisible, '');
}

/** A run of blanks counts as one, and blanks at the ends do not count. No-break spaces are blanks. */
function withSingleBlanks(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** The form in which names of cheeses, categories and tags are unique. Case and accents count. */
export function nameKey(name: string): string {
  return plainAscii.test(name) ? name : withSingleBlanks(withoutInvisible(name).normalize('NFC'));
}

/** A ZIP code, or its beginning, as it is compared. */
export function toZipKey(text: string): string {
  return text.replace(/[\s-]/gu, '').toUpperCase();
}

/** Lower case without accents: "Gruyère" and "GRUYERE" fold to the same text. */
export function foldText(text: string): string {
  if (plainAscii.test(text)) {
    return text.toLowerCase();
  }
  const folded = withoutInvisible(text)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[œæøłđðþßıς]/g, (letter) => ligatures[letter] ?? letter);
  return withSingleBlanks(folded);
}

/** The folded words of a text: sequences of letters and digits, without duplicates, in their order. */
export function splitWords(text: string): string[] {
  return [...new Set(wordsOf(foldText(text)))];
}

function wordsOf(folded: string): readonly string[] {
  // The expression for ASCII takes a quarter of the time, and the load of a large catalogue splits a million names.
  return (plainAscii.test(folded) ? folded.match(/[a-z0-9]+/g) : folded.match(/[\p{L}\p{N}]+/gu)) ?? [];
}

/** Scripts that are written without blanks between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
/** Characters of a name from a word inside of it on: without a bound, a long name would take milliseconds. */
const innerMax = 32;
let segmenter: Intl.Segmenter | undefined;

/**
 * The words by whose beginnings a name is found. In scripts without blanks, they include the text from each word inside
 * of a word on: the beginnings of "さけるチーズ" and "チーズ" find "さけるチーズ".
 */
export function searchableWords(name: string): string[] {
  const folded = foldText(name);
  const words = wordsOf(folded);
  if (plainAscii.test(folded) || !unspaced.test(folded)) {
    return [...new Set(words)];
  }
  // Folded text has lost marks by which the dictionary knows words.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  const text = name.normalize('NFKC');
  const inner: string[] = [];
  for (const { index } of segmenter.segment(text)) {
    const rest = /^[\p{L}\p{N}\p{M}]+/u.exec(text.slice(index, index + innerMax))?.[0] ?? '';
    inner.push(...wordsOf(foldText(rest)));
  }
  return [...new Set([...words, ...inner])];
}
