/** Words of names and terms of cheeses in the search index. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  createTerms,
  foldText,
  searchText,
  splitWords,
  termLengthMax,
  truncateTerm,
} from '../../src/cheeses/search-terms.ts';

/** Any text, realistic names, and words that are long enough to be truncated. */
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      'É',
      'é',
      'œ',
      'Ø',
      'ß',
      'İ',
      'ﬁ',
      '한',
      '9',
      '🧀',
      '𝔸',
      ' ',
      '-',
      '%',
      '_',
      "'",
    ),
    maxLength: 200,
  }),
);

const unclassified = { photoUrls: ['https://example.com/1.jpg'], origin: null, organic: false };

const cheeseNamed = (name: string) => ({
  name,
  category: { id: 1, name: 'Hard' },
  tags: [
    { id: 2, name: 'cow' },
    { id: 3, name: 'raw milk' },
  ],
  ...unclassified,
});

const termsOf = createTerms();
const namesOf = (kind: string, name: string) =>
  termsOf(cheeseNamed(name))
    .filter(([one]) => one === kind)
    .map(([, term]) => term);

suite('foldText', () => {
  test('removes case and accents', () => {
    const table: [text: string, folded: string][] = [
      ['Gruyère', 'gruyere'],
      ['GRUYÈRE', 'gruyere'],
      ['Gruye\u0300re', 'gruyere'],
      ['Bœuf', 'boeuf'],
      ['ŒUF', 'oeuf'],
      ['Æbleost', 'aebleost'],
      ['Brunøst', 'brunost'],
      ['Wałęsa', 'walesa'],
      ['Đorđe', 'dorde'],
      ['Skyr þorsins', 'skyr thorsins'],
      ['Weißkäse', 'weisskase'],
      ['WEISSKÄSE', 'weisskase'],
      ['İzmir tulumu', 'izmir tulumu'],
      ['Kaşarlı', 'kasarli'],
      ['ＦＵＬＬ', 'full'],
      ['ﬁore', 'fiore'],
      ['Žinčica', 'zincica'],
      ['Tiếng', 'tieng'],
    ];
    for (const [text, folded] of table) {
      assert.equal(foldText(text), folded, text);
    }
  });

  test('changes nothing in a folded text', () => {
    fc.assert(fc.property(texts, (text) => assert.equal(foldText(foldText(text)), foldText(text))));
  });

  test('returns the same for all Unicode normalization forms of a text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        assert.equal(foldText(text.normalize('NFC')), foldText(text));
        assert.equal(foldText(text.normalize('NFD')), foldText(text));
      }),
    );
  });

  test('returns the same for upper and lower case of every letter that has both', () => {
    const differing: string[] = [];
    for (let code = 0; code <= 0x1ffff; code += 1) {
      const letter = String.fromCodePoint(code);
      const hasCase = /\p{Lu}|\p{Ll}/u.test(letter) && letter.toUpperCase().toLowerCase() === letter;
      if (hasCase && foldText(letter.toUpperCase()) !== foldText(letter)) {
        differing.push(letter);
      }
    }
    assert.deepEqual(differing, []);
  });

  test('returns a prefix of the folded name for a prefix of the name', () => {
    const cased = fc.string({ unit: fc.constantFrom('G', 'r', 'È', 'ø', 'ß', 'Σ', 'ς', 'İ'), maxLength: 12 });
    fc.assert(
      fc.property(cased, fc.nat(12), (name, length) =>
        assert.ok(
          foldText(name).startsWith(foldText(name.slice(0, length))),
          `${name.slice(0, length)} begins ${name}`,
        ),
      ),
    );
  });
});

suite('splitWords', () => {
  test('returns sequences of letters and digits in their order, without duplicates', () => {
    assert.deepEqual(splitWords("Brie de Meaux (lait cru), 60% - L'Étivaz de Meaux"), [
      'brie',
      'de',
      'meaux',
      'lait',
      'cru',
      '60',
      'l',
      'etivaz',
    ]);
    assert.deepEqual(splitWords(' -- % _ '), []);
  });

  test('never returns a wildcard of LIKE or a space', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const word of splitWords(text)) {
          assert.match(word, /^[\p{L}\p{N}]+$/u);
          assert.doesNotMatch(word, /[%_\s\\]/);
        }
        assert.doesNotMatch(searchText(text), /[%_\\]/);
      }),
    );
  });

  test('returns words that follow a space in the search text', () => {
    fc.assert(
      fc.property(texts, (text) =>
        assert.ok(splitWords(text).every((word) => searchText(text).includes(` ${word}`))),
      ),
    );
  });
});

suite('createTerms', () => {
  test('returns category and tags unchanged and the words of the name folded', () => {
    const name = "Époisses d'Ép";
    assert.deepEqual(namesOf('category', name), ['Hard']);
    assert.deepEqual(namesOf('tag', name), ['cow', 'raw milk']);
    assert.deepEqual(namesOf('word', name).sort(), ['d', 'ep', 'epoisses']);
    assert.deepEqual(namesOf('prefix', name).sort(), [
      'd',
      'e',
      'ep',
      'epo',
      'epoi',
      'epois',
      'epoiss',
      'epoisse',
      'epoisses',
    ]);
    // Besides these: not organic, and without a price.
    assert.equal(termsOf(cheeseNamed(name)).length, 1 + 2 + 3 + 9 + 2);
  });

  test('returns origin, organic, missing fields, the price band and the age', () => {
    const found = (cheese: object) =>
      termsOf({ name: 'X', tags: [], ...unclassified, ...cheese })
        .filter(([kind]) => kind !== 'word' && kind !== 'prefix')
        .map((term) => term.join(' '));
    assert.deepEqual(found({ origin: 'Spain', organic: true, pricePerKg: 0.01, ageMonths: 0 }), [
      'origin Spain',
      'organic true',
      'price_band 1',
      'age 0',
    ]);
    assert.deepEqual(found({ photoUrls: [] }), ['organic false', 'missing price', 'missing image']);
  });

  test('returns no category for a cheese without one', () => {
    assert.deepEqual(termsOf({ name: 'X', tags: [], ...unclassified }), [
      ['organic', 'false'],
      ['missing', 'price'],
      ['word', 'x'],
      ['prefix', 'x'],
    ]);
  });

  test('returns every prefix of every word, so that any beginning of a word finds it', () => {
    fc.assert(
      fc.property(texts, (name) => {
        const prefixes = new Set(namesOf('prefix', name));
        for (const word of splitWords(name)) {
          const characters = [...word];
          for (let length = 1; length <= characters.length; length += 1) {
            const typed = characters.slice(0, length).join('');
            assert.ok(prefixes.has(truncateTerm(typed)), `${typed} of ${name}`);
          }
        }
      }),
    );
  });

  test('returns each term once, and only prefixes of its words', () => {
    fc.assert(
      fc.property(texts, (name) => {
        const keys = termsOf(cheeseNamed(name)).map(([kind, term]) => JSON.stringify([kind, term]));
        assert.equal(new Set(keys).size, keys.length);
        const words = namesOf('word', name);
        for (const prefix of namesOf('prefix', name)) {
          assert.ok(words.some((word) => word.startsWith(prefix)));
        }
      }),
    );
  });

  test(`returns no word longer than ${termLengthMax} characters, and no half of a surrogate pair`, () => {
    fc.assert(
      fc.property(texts, (name) => {
        for (const term of [...namesOf('word', name), ...namesOf('prefix', name)]) {
          assert.ok([...term].length <= termLengthMax);
          assert.ok(term.isWellFormed());
        }
      }),
    );
    assert.equal([...truncateTerm('𐐷'.repeat(40))].length, termLengthMax);
    assert.equal(truncateTerm('a'.repeat(termLengthMax)), 'a'.repeat(termLengthMax));
  });
});
