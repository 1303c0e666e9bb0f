/** Which usernames are the same, and which tier an amount is worth. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { chooseTier, tiers } from '../../src/customers/tiers.ts';
import { caseFold } from '../../src/schema/case-fold.ts';

/** Any text, and text of the letters whose case or width is out of the ordinary. */
const texts = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 64 }),
    fc.string({ unit: 'grapheme', maxLength: 64 }),
    fc.string({
      unit: fc.constantFrom(...'aAéÉßſSsıIiİΣσς\u200d\u200c\ufe0f\u0301\u0307ﬁǅＡａ①㎒한🧀.'),
      maxLength: 20,
    }),
  )
  .filter((text) => !/\u0345/.test(text));

suite('caseFold', () => {
  test('caseFold is idempotent', () => {
    fc.assert(fc.property(texts, (text) => assert.equal(caseFold(caseFold(text)), caseFold(text))));
  });

  test('caseFold returns the same text for every case', () => {
    fc.assert(
      fc.property(texts, (text) => {
        assert.equal(caseFold(text.toUpperCase()), caseFold(text));
        assert.equal(caseFold(text.toLowerCase()), caseFold(text));
      }),
    );
  });

  test('caseFold returns the same text for every Unicode normalization form', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD'), (text, form) =>
        assert.equal(caseFold(text.normalize(form)), caseFold(text)),
      ),
    );
  });

  test('caseFold returns the same text for full-width ASCII', () => {
    for (let code = 0x21; code <= 0x7e; code += 1) {
      assert.equal(caseFold(String.fromCharCode(code + 0xfee0)), caseFold(String.fromCharCode(code)));
    }
  });

  test('caseFold keeps lower-case letters and digits unchanged', () => {
    const names = fc.string({ unit: fc.constantFrom(...'abcxyz0189._-@+'), maxLength: 64 });
    fc.assert(fc.property(names, (name) => assert.equal(caseFold(name), name)));
  });

  test('caseFold returns the same text for names that look the same, and for no others', () => {
    for (const [one, other] of [
      ['Straße', 'STRASSE'],
      ['ΟΔΟΣ', 'οδος'],
      ['οδοσ', 'οδος'],
      ['Ada', 'ａＤａ'],
      ['E\u0301', 'é'],
      ['ﬁore', 'FIORE'],
      ['a\u200dda', 'ada'],
      ['a\u00adda\u200b', 'ada'],
      ['\u3000ada ', 'ada'],
      ['👨\u200d👩\u200d👧', '👨👩👧'],
      ['❤\ufe0f', '❤'],
      ['e\u200d\u0301', 'é'],
    ] as const) {
      assert.equal(caseFold(one), caseFold(other), `${one} ${other}`);
    }
    for (const [one, other] of [
      ['e', 'é'],
      ['o', 'ø'],
      ['a', 'а'],
      ['0', 'o'],
    ] as const) {
      assert.notEqual(caseFold(one), caseFold(other), `${one} ${other}`);
    }
  });
});

suite('chooseTier', () => {
  const dollars = fc.integer({ min: 0, max: 1_000_000 });
  const thresholds = fc
    .tuple(dollars, dollars, dollars)
    .map((three) => three.sort((a, b) => a - b))
    .map(([silver = 0, gold = 0, platinum = 0]) => ({ silver, gold, platinum }));
  const cents = fc.integer({ min: 0, max: 200_000_000 });

  test('chooseTier never falls when the total rises', () => {
    fc.assert(
      fc.property(thresholds, cents, cents, (limits, before, more) => {
        const rank = (delivered: number) => tiers.indexOf(chooseTier(delivered, limits));
        assert.ok(rank(before + more) >= rank(before));
      }),
    );
  });

  test('chooseTier is reached at exactly its threshold', () => {
    const usual = { silver: 500, gold: 2000, platinum: 10_000 };
    const table = [
      [0, 'bronze'],
      [49_999, 'bronze'],
      [50_000, 'silver'],
      [199_999, 'silver'],
      [200_000, 'gold'],
      [999_999, 'gold'],
      [1_000_000, 'platinum'],
      [Number.MAX_SAFE_INTEGER, 'platinum'],
    ] as const;
    for (const [delivered, tier] of table) {
      assert.equal(chooseTier(delivered, usual), tier, `${delivered}`);
    }
    fc.assert(
      fc.property(thresholds, fc.constantFrom('silver', 'gold', 'platinum'), (limits, name) => {
        const at = limits[name] * 100;
        assert.ok(tiers.indexOf(chooseTier(at, limits)) >= tiers.indexOf(name));
        assert.ok(tiers.indexOf(chooseTier(at - 1, limits)) < tiers.indexOf(name));
      }),
    );
  });

  test('chooseTier is the highest of tiers with the same threshold', () => {
    assert.equal(chooseTier(0, { silver: 0, gold: 0, platinum: 0 }), 'platinum');
    assert.equal(chooseTier(0, { silver: 0, gold: 0, platinum: 1 }), 'gold');
  });
});
