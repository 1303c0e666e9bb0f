/** Text without case and accents, and the words of names. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { foldText, nameKey, searchableWords, splitWords } from '../../src/schema/folding.ts';

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
      ['\u3000Semi\u00a0\u2003 hard ', 'semi hard'],
      ['Br\u00adie\u200b de\u202e Meaux', 'brie de meaux'],
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

suite('nameKey', () => {
  test('nameKey is the same for texts that differ in blanks, invisible characters and Unicode normalization only', () => {
    const blanks = fc.string({ unit: fc.constantFrom(' ', '\u00a0', '\u3000', '\u2028'), maxLength: 3 });
    const hidden = fc.string({ unit: fc.constantFrom('\u200b', '\u202e', '\u00ad', '\u200d'), maxLength: 3 });
    const name = fc.array(fc.constantFrom('Brie', 'crème', 'É', '奶酪', 'w.'), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(name, blanks, hidden, fc.constantFrom('NFC', 'NFD'), (words, blank, invisible, form) => {
        const text = `${blank}${words.join(`${invisible} ${blank}`)}${invisible}${blank}`;
        assert.equal(nameKey(text.normalize(form)), words.join(' '));
      }),
    );
  });

  test('nameKey is idempotent, and keeps case and accents', () => {
    fc.assert(fc.property(texts, (text) => assert.equal(nameKey(nameKey(text)), nameKey(text))));
    assert.equal(new Set(['Brie', 'brie', 'Brié'].map(nameKey)).size, 3);
  });
});

suite('searchableWords', () => {
  test('searchableWords adds the text from each inner word on in scripts without blanks', () => {
    for (const [name, words] of [
      ['さけるチーズ', ['さけるチーズ', 'チーズ']],
      ['北海道チーズケーキ', ['北海道チーズケーキ', 'チーズケーキ', 'ケーキ']],
      ['ﾌﾟﾚﾐｱﾑﾁｰｽﾞ', ['プレミアムチーズ', 'チーズ']],
      ['山羊奶酪', ['山羊奶酪', '奶酪', '酪']],
      ['เนยแข็งหอม', ['เนยแข็งหอม', 'แข็งหอม', 'หอม']],
      ['Gruyère 熟成チーズ 12', ['gruyere', '熟成チーズ', '12', 'チーズ']],
      ['Brie-de Meaux', ['brie', 'de', 'meaux']],
      ['Сыр Российский', ['сыр', 'российский']],
    ] as const) {
      assert.deepEqual(searchableWords(name), words.map(foldText), name);
    }
  });

  test('searchableWords contains the words of any text, and is bounded', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const words = new Set(searchableWords(text));
        assert.deepEqual(
          splitWords(text).filter((word) => !words.has(word)),
          [],
        );
      }),
    );
    const inner = searchableWords('北海道チーズ'.repeat(42)).slice(1);
    assert.ok(inner.length < 100 && inner.every(({ length }) => length <= 64));
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
