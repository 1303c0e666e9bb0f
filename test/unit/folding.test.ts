/** Text without case and accents, and the words of names. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { foldText, splitWords } from '../../src/schema/folding.ts';

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

suite('foldText', () => {
  test('foldText removes case and accents', () => {
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

  test('foldText changes nothing in a folded text', () => {
    fc.assert(fc.property(texts, (text) => assert.equal(foldText(foldText(text)), foldText(text))));
  });

  test('foldText returns the same for all Unicode normalization forms of a text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        assert.equal(foldText(text.normalize('NFC')), foldText(text));
        assert.equal(foldText(text.normalize('NFD')), foldText(text));
      }),
    );
  });

  test('foldText returns the same for upper and lower case of every letter that has both', () => {
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

  test('foldText returns a prefix of the folded name for a prefix of the name', () => {
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
  test('splitWords returns sequences of letters and digits in their order, without duplicates', () => {
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

  test('splitWords returns letters and digits only', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const word of splitWords(text)) {
          assert.match(word, /^[\p{L}\p{N}]+$/u);
        }
      }),
    );
  });
});
