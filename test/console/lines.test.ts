/** Lines of orders in the console. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { amountOf, linesOf, quantityOf, weightOf } from '../../console/src/screens/orders/lines.ts';

const piece = {
  ...{ cheeseId: 1, cheeseName: 'Brie', quantity: 3, pricePerKg: 32.45 },
  ...{ grams: 150, portionName: 'Wedge', unitPrice: 4.87, amount: 14.61 },
};
const kilograms = { cheeseId: 2, cheeseName: 'Comté', quantity: 2, pricePerKg: 20 };
const wheel = { ...kilograms, grams: 8500, unitPrice: 170, amount: 340 };

suite('Lines of orders in the console', () => {
  test('Lines of orders in the console say pieces, or kilograms', () => {
    assert.deepEqual([piece, kilograms, wheel].map(quantityOf), ['3 × 150 g', '2 kg', '2 × 8.5 kg']);
    assert.deepEqual([piece, kilograms, wheel].map(amountOf), [14.61, 40, 340]);
    const order = { items: [piece, kilograms, wheel] };
    assert.equal(weightOf(order), 19.45);
    assert.equal(linesOf(order), 'Brie 3 × 150 g (Wedge), Comté 2 kg +1');
  });
});
