/** Price bands: prices with the same two significant digits. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { bandOf } from '../../src/cheeses/price-bands.ts';

suite('bandOf', () => {
  test('has one band for all prices below 0.01 and one for each two significant digits', () => {
    const table: [price: number, band: number][] = [
      [0, 0],
      [0.0099999, 0],
      [0.01, 1],
      [0.0109, 1],
      [0.011, 2],
      [0.29, 90 + 20],
      [9.99, 2 * 90 + 90],
      [10, 3 * 90 + 1],
      [10.99, 3 * 90 + 1],
      [999_999.99, 720],
      [1_000_000, 720],
    ];
    for (const [price, band] of table) {
      assert.equal(bandOf(price), band, `${price}`);
    }
  });

  test('never decreases when the price increases', () => {
    const prices = fc.double({ min: 0, max: 1_000_000, noNaN: true });
    fc.assert(
      fc.property(prices, prices, (one, other) =>
        assert.ok(bandOf(Math.min(one, other)) <= bandOf(Math.max(one, other))),
      ),
    );
  });

  test('puts prices of one band together and separates the others', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 99 }), fc.integer({ min: 0, max: 999 }), (digits, more) => {
        const price = digits + more / 1000;
        assert.equal(bandOf(price), bandOf(digits));
        assert.notEqual(bandOf(price), bandOf(digits + 1));
      }),
    );
  });
});
