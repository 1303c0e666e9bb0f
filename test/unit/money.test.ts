/** Sums of money against a second algorithm, and the status of an order against the list of transitions. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { dollars, wholeCents } from '../../src/decimal.ts';
import { type PricedLine, totalCents } from '../../src/orders/pricing/lines.ts';
import { allowedFrom, nextStatusText, orderStatuses } from '../../src/orders/transitions/order-status.ts';

/** A price as text: its digits, and how many of them are decimals. */
interface Price {
  readonly digits: bigint;
  readonly decimals: number;
}

const numberOf = ({ digits, decimals }: Price) => Number(`${digits}e-${decimals}`);

/** Up to 1,000,000.000000, which a double represents without loss. */
const usualPrices = fc
  .nat(6)
  .chain((decimals) =>
    fc.bigInt(0n, 1_000_000n * 10n ** BigInt(decimals)).map((digits): Price => ({ digits, decimals })),
  );
/** Small enough that JavaScript writes them as 1.5e-7. */
const tinyPrices = fc.record({ digits: fc.bigInt(1n, 999_999n), decimals: fc.integer({ min: 12, max: 20 }) });
/** Often exactly half a cent. */
const halfCents = fc.bigInt(0n, 10n ** 8n).map((cents): Price => ({ digits: cents * 10n + 5n, decimals: 3 }));
const prices = fc.oneof(usualPrices, tinyPrices, halfCents);
const quantities = fc.integer({ min: 1, max: 100 });
const orders = fc.array(fc.record({ price: prices, quantity: quantities }), { minLength: 1, maxLength: 100 });

const linesOf = (order: readonly { price: Price; quantity: number }[]): PricedLine[] =>
  order.map(({ price, quantity }) => ({ quantity, pricePerKg: numberOf(price) }));

/** In units of 10^-20 dollars: a cent has 10^18 of them. The rest is compared with half a cent. */
function expectedCents(order: readonly { price: Price; quantity: number }[]): bigint {
  let units = 0n;
  for (const { price, quantity } of order) {
    for (let kilogram = 0; kilogram < quantity; kilogram += 1) {
      units += price.digits * 10n ** BigInt(20 - price.decimals);
    }
  }
  const cent = 10n ** 18n;
  const whole = units / cent;
  return (units % cent) * 2n < cent ? whole : whole + 1n;
}

suite('totalCents', () => {
  test('totalCents is the exact sum, rounded once, half a cent up', () => {
    fc.assert(
      fc.property(orders, (order) => {
        assert.equal(BigInt(totalCents(linesOf(order))), expectedCents(order));
      }),
      { numRuns: 500 },
    );
  });

  test('totalCents does not depend on the order of the lines, nor on splitting one', () => {
    fc.assert(
      fc.property(orders, quantities, (order, quantity) => {
        const lines = linesOf(order);
        const [first] = lines as [PricedLine];
        const whole = [...lines, { ...first, quantity: first.quantity + quantity }];
        const split = [{ ...first, quantity }, ...lines.toReversed(), first];
        assert.equal(totalCents(split), totalCents(whole));
      }),
    );
  });

  test('totalCents is right for sums that doubles get wrong', () => {
    const table: [lines: [price: number, quantity: number][], cents: number][] = [
      [[], 0],
      [[[0.1, 3]], 30],
      [[[1.005, 1]], 101],
      [[[33.335, 1]], 3334],
      [[[0.285, 1]], 29],
      [[[1.015, 100]], 10_150],
      [[[0.004999999, 1]], 0],
      [[[1e-7, 100]], 0],
      [[[5e-5, 100]], 1],
      [[[5e-324, 100]], 0],
      [[[1_000_000, 100]], 10_000_000_000],
      [Array.from({ length: 100 }, () => [1_000_000, 100]), 1_000_000_000_000],
    ];
    for (const [lines, cents] of table) {
      assert.equal(
        totalCents(lines.map(([pricePerKg, quantity]) => ({ pricePerKg, quantity }))),
        cents,
        JSON.stringify(lines[0]),
      );
    }
  });
});

suite('dollars', () => {
  test('dollars() returns at most two decimals, and the same value in cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (cents) => {
        const text = String(dollars(cents));
        assert.match(text, /^\d+(\.\d{1,2})?$/);
        const [whole = '', fraction = ''] = text.split('.');
        assert.equal(BigInt(whole + fraction.padEnd(2, '0')), BigInt(cents));
      }),
    );
  });
});

suite('The status of an order', () => {
  const all = [
    'placed approved',
    'placed cancelled',
    'approved shipped',
    'approved cancelled',
    'shipped delivered',
  ];

  test('The status of an order changes by five transitions', () => {
    const known = orderStatuses.flatMap((to) => allowedFrom(to).map((from) => `${from} ${to}`));
    assert.deepEqual(known.sort(), all.toSorted());
  });

  test('The status of an order is explained with its possible transitions only', () => {
    for (const from of orderStatuses) {
      const words: readonly string[] = nextStatusText(from).match(/\w+/g) ?? [];
      for (const to of orderStatuses.filter((status) => status !== from)) {
        assert.equal(words.includes(to), all.includes(`${from} ${to}`), `${from} ${to}`);
      }
    }
  });
});

test('The whole cents of an amount are rounded down, and exact where it has no more than two decimals', () => {
  for (const [amount, cents] of [
    [0.29, 29],
    [1.005, 100],
    [29.999_999_9, 2999],
    [1e-7, 0],
    [1e12, 1e14],
  ] as const) {
    assert.equal(wholeCents(amount), cents);
  }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e11 }), fc.bigInt(0n, 99_999n), (cents, rest) => {
      const digits = BigInt(cents) * 100_000n + rest;
      const amount = Number(`${digits}e-7`);
      fc.pre(digits < 10n ** 15n);
      assert.equal(wholeCents(amount), cents);
    }),
  );
});
