/** The prices of pieces in the console. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  pieceCents,
  pricePerKgDecimals,
  toPricePerKg,
} from '../../console/src/screens/cheeses/form/piece-price.ts';
import { pieceCents as storedCents } from '../../src/cheeses/portions.ts';

const grams = fc.integer({ min: 10, max: 100_000 });

suite('The price of a piece', () => {
  test('The price of a piece in the console is that of the server', () => {
    const price = fc.tuple(fc.nat({ max: 1e11 - 1 }), fc.integer({ min: 2, max: pricePerKgDecimals }));
    fc.assert(
      fc.property(price, grams, ([digits, decimals], weight) => {
        const pricePerKg = Number((digits / 1e5).toFixed(decimals));
        assert.equal(pieceCents(pricePerKg, weight), storedCents(pricePerKg, weight));
      }),
    );
    assert.equal(pieceCents(32.45, 150), 487);
  });

  test('The price per kilogram of a piece gives exactly its cents, with two decimals up to a kilogram', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), grams, (cents, weight) => {
        const pricePerKg = toPricePerKg(cents, weight);
        assert.equal(storedCents(pricePerKg, weight), cents);
        if (weight <= 1000) {
          assert.equal(pricePerKg, Number(pricePerKg.toFixed(2)));
        }
      }),
    );
    for (const [cents, weight, expected] of [
      [499, 180, 27.72],
      [650, 200, 32.5],
      [26_001, 8000, 32.501],
    ] as const) {
      assert.equal(toPricePerKg(cents, weight), expected);
    }
  });
});
