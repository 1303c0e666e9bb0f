/** The breakdown of an order: its rules, tables computed by hand, and a second algorithm with fractions. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  type CodeDiscount,
  type DeliveryCharge,
  type OrderPrice,
  priceGoods,
  priceOrder,
  type TaxedLine,
  type TaxMode,
} from '../../src/orders/pricing/breakdown.ts';
import { totalCents } from '../../src/orders/pricing/lines.ts';
import { split } from '../../src/orders/pricing/shares.ts';
import type { AppliedRate } from '../../src/tax/choose-rate.ts';

/** More with CURD_TEST_CASES=200000. */
const numRuns = Number(process.env.CURD_TEST_CASES ?? 3000);

interface Case {
  readonly lines: readonly TaxedLine[];
  readonly mode: TaxMode;
  readonly discount: CodeDiscount | null;
  readonly delivery: DeliveryCharge | null;
}

const price = ({ lines, mode, discount, delivery }: Case): OrderPrice =>
  priceOrder(priceGoods(lines, mode, discount), { currency: 'CHF', mode, delivery });

const rates: fc.Arbitrary<AppliedRate | null> = fc.oneof(
  fc.constantFrom(
    { name: 'VAT', milliPercent: 8100 },
    { name: 'VAT reduced', milliPercent: 2600 },
    { name: 'Zero', milliPercent: 0 },
    null,
  ),
  fc.record({ name: fc.constantFrom('A', 'B'), milliPercent: fc.nat(50_000) }),
);
const prices = fc.oneof(
  fc.nat(20_000).map((cents) => cents / 100),
  fc.nat(20_000_000).map((digits) => digits / 1000),
  fc.constant(0),
);
const lines: fc.Arbitrary<TaxedLine> = fc.record(
  {
    quantity: fc.integer({ min: 1, max: 100 }),
    pricePerKg: prices,
    rate: rates,
    grams: fc.integer({ min: 10, max: 100_000 }),
  },
  { requiredKeys: ['quantity', 'pricePerKg', 'rate'] },
);
const discounts: fc.Arbitrary<CodeDiscount> = fc.oneof(
  fc.record({
    code: fc.constant('CODE'),
    kind: fc.constant('percent'),
    value: fc.integer({ min: 1, max: 100 }),
  }),
  fc.record({ code: fc.constant('CODE'), kind: fc.constant('amount'), value: fc.nat(100_000) }),
  fc.record({ code: fc.constant('CODE'), kind: fc.constant('free_delivery') }),
);
const deliveries: fc.Arbitrary<DeliveryCharge> = fc.record({
  id: fc.constant(1),
  name: fc.constant('Parcel'),
  kind: fc.constant('parcel'),
  cents: fc.nat(10_000),
});
const cases: fc.Arbitrary<Case> = fc.record({
  lines: fc.array(lines, { minLength: 1, maxLength: 8 }),
  mode: fc.constantFrom('off', 'included', 'added'),
  discount: fc.option(discounts),
  delivery: fc.option(deliveries),
});

const cents = (amount: number | undefined) => Math.round((amount ?? 0) * 100);

suite('The breakdown of an order', () => {
  test('Parts of a breakdown add up to the total, and none is negative', () => {
    fc.assert(
      fc.property(cases, (input) => {
        const { breakdown, goodsCents, totalCents: total } = price(input);
        if (breakdown === null) {
          assert.deepEqual([input.mode, input.discount, input.delivery], ['off', null, null]);
          assert.equal(total, totalCents(input.lines));
          assert.equal(goodsCents, total);
          return;
        }
        const { subtotal, discount, delivery, tax } = breakdown;
        const parts = [subtotal, discount?.amount, delivery?.amount, tax?.amount, goodsCents].map(
          (part) => part ?? 0,
        );
        assert.ok(parts.every((part) => part >= 0 && Number.isFinite(part)));
        assert.equal(goodsCents, cents(subtotal) - cents(discount?.amount));
        const added = tax?.included === false ? cents(tax.amount) : 0;
        assert.equal(total, goodsCents + cents(delivery?.amount) + added);
        assert.ok(cents(discount?.amount) <= cents(subtotal));
      }),
      { numRuns },
    );
  });

  test('Rates of a breakdown add up to the tax, and their sums to the goods and the delivery', () => {
    fc.assert(
      fc.property(cases, (input) => {
        const { breakdown, goodsCents } = price(input);
        if (breakdown?.tax === undefined) {
          return;
        }
        const { included, amount, rates: rows } = breakdown.tax;
        const sum = (of: 'net' | 'amount') => rows.reduce((total, row) => total + cents(row[of]), 0);
        assert.equal(sum('amount'), cents(amount));
        assert.ok(rows.every((row) => row.net >= 0 && row.amount >= 0));
        const charged = goodsCents + cents(breakdown.delivery?.amount);
        const listed = sum('net') + (included ? sum('amount') : 0);
        assert.ok(input.lines.some(({ rate }) => rate === null) ? listed <= charged : listed === charged);
        for (const { net, amount: tax, percent } of rows) {
          // Included tax, computed again from the net sum, differs by a cent at most.
          assert.ok(Math.abs(cents(net) * (percent / 100) - cents(tax)) <= 1);
        }
      }),
      { numRuns },
    );
  });

  test('A breakdown is the same by a second algorithm with fractions', () => {
    fc.assert(
      fc.property(cases, (input) => assert.deepEqual(price(input), naivePrice(input))),
      { numRuns },
    );
  });

  test('Parts of a split add up, differ from their exact shares by less than a cent, and stay below their weights', () => {
    const weights = fc.array(fc.nat(1_000_000_000), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(weights, fc.nat(1_000_000_000), (all, wanted) => {
        const sum = all.reduce((total, weight) => total + weight, 0);
        const amount = Math.min(wanted, sum);
        const parts = split(amount, all);
        assert.equal(
          parts.reduce((total, part) => total + part, 0),
          amount,
        );
        for (const [index, part] of parts.entries()) {
          const weight = all[index] ?? 0;
          assert.ok(part >= 0 && part <= weight);
          assert.ok(sum === 0 || Math.abs(part - (amount * weight) / sum) < 1.000_001);
        }
      }),
      { numRuns },
    );
  });
});

suite('Orders computed by hand', () => {
  const vat = { name: 'VAT', milliPercent: 2600 };
  const full = { name: 'VAT', milliPercent: 8100 };
  const parcel = (charge: number): DeliveryCharge => ({
    id: 1,
    name: 'Parcel',
    kind: 'parcel',
    cents: charge,
  });
  const percent = (value: number): CodeDiscount => ({ code: 'CODE', kind: 'percent', value });
  const amount = (value: number): CodeDiscount => ({ code: 'CODE', kind: 'amount', value });
  const kilograms = (quantity: number, pricePerKg: number, rate: AppliedRate | null = vat): TaxedLine => ({
    quantity,
    pricePerKg,
    rate,
  });
  const pieces = (
    quantity: number,
    grams: number,
    pricePerKg: number,
    rate: AppliedRate | null = vat,
  ): TaxedLine => ({
    quantity,
    grams,
    pricePerKg,
    rate,
  });
  /** Subtotal, discount, delivery, tax and total. */
  const table: readonly (readonly [string, Case, readonly number[]])[] = [
    // 2 x 32.50 = 65.00
    [
      'nothing configured',
      { lines: [kilograms(2, 32.5)], mode: 'off', discount: null, delivery: null },
      [65, 0, 0, 0, 65],
    ],
    // 65.00 + 9.90
    [
      'delivery',
      { lines: [kilograms(2, 32.5)], mode: 'off', discount: null, delivery: parcel(990) },
      [65, 0, 9.9, 0, 74.9],
    ],
    // 4.87 x 3 = 14.61; 10 % = 1.461, so 1.46; 13.15 + 6.90
    [
      'pieces, 10 %',
      { lines: [pieces(3, 150, 32.45)], mode: 'off', discount: percent(10), delivery: parcel(690) },
      [14.61, 1.46, 6.9, 0, 20.05],
    ],
    // 12.35 at 10 %: 1.235 is half a cent, so 1.24
    [
      'half a cent of discount',
      { lines: [kilograms(1, 12.35)], mode: 'off', discount: percent(10), delivery: null },
      [12.35, 1.24, 0, 0, 11.11],
    ],
    // 100 off 65.00 takes 65.00; the delivery remains
    [
      'more off than the goods',
      { lines: [kilograms(2, 32.5)], mode: 'off', discount: amount(10_000), delivery: parcel(990) },
      [65, 65, 9.9, 0, 9.9],
    ],
    // 107.40 x 2.6 / 102.6 = 2.7217
    [
      'included tax',
      { lines: [kilograms(3, 32.5)], mode: 'included', discount: null, delivery: parcel(990) },
      [97.5, 0, 9.9, 2.72, 107.4],
    ],
    // (97.50 + 9.90) x 2.6 % = 2.7924
    [
      'added tax',
      { lines: [kilograms(3, 32.5)], mode: 'added', discount: null, delivery: parcel(990) },
      [97.5, 0, 9.9, 2.79, 110.19],
    ],
    // Groups 65.00 at 2.6 % and 35.00 at 8.1 %. Delivery 10.00: 6.50 and 3.50. 71.50 x 2.6 / 102.6 = 1.8119; 38.50 x 8.1 / 108.1 = 2.8848
    [
      'two rates',
      {
        lines: [kilograms(2, 32.5), kilograms(1, 35, full)],
        mode: 'included',
        discount: null,
        delivery: parcel(1000),
      },
      [100, 0, 10, 4.69, 110],
    ],
    // CodeDiscount 10.00: 6.50 and 3.50, rest 58.50 and 31.50. Delivery 10.00: 6.50 and 3.50. 65.00 x 2.6 % = 1.69; 35.00 x 8.1 % = 2.835, so 2.84
    [
      'two rates, discount, added',
      {
        lines: [kilograms(2, 32.5), kilograms(1, 35, full)],
        mode: 'added',
        discount: amount(1000),
        delivery: parcel(1000),
      },
      [100, 10, 10, 4.53, 104.53],
    ],
    // Thirds of 1.00 over three equal groups: 0.34, 0.33, 0.33. (9.66 at 10 %: 0.966; 9.67 at 20 %: 1.934; 9.67 at 30 %: 2.901)
    [
      'largest remainders',
      {
        lines: [
          kilograms(1, 10, { name: 'A', milliPercent: 10_000 }),
          kilograms(1, 10, { name: 'B', milliPercent: 20_000 }),
          kilograms(1, 10, { name: 'C', milliPercent: 30_000 }),
        ],
        mode: 'added',
        discount: amount(100),
        delivery: null,
      },
      [30, 1, 0, 5.8, 34.8],
    ],
    // Goods of 0.00 after 100 %: the delivery is split by the sums before, 6.50 and 3.50. 6.50 x 2.6 / 102.6 = 0.1647; 3.50 x 8.1 / 108.1 = 0.2623
    [
      '100 % off',
      {
        lines: [kilograms(2, 32.5), kilograms(1, 35, full)],
        mode: 'included',
        discount: percent(100),
        delivery: parcel(1000),
      },
      [100, 100, 10, 0.42, 10],
    ],
    // Free delivery takes nothing off the goods. 65.00 x 2.6 / 102.6 = 1.6472
    [
      'free delivery',
      {
        lines: [kilograms(2, 32.5)],
        mode: 'included',
        discount: { code: 'CODE', kind: 'free_delivery' },
        delivery: parcel(990),
      },
      [65, 0, 0, 1.65, 65],
    ],
    // No row: no tax, and no rate in the list
    [
      'no rate',
      { lines: [kilograms(2, 32.5, null)], mode: 'added', discount: null, delivery: null },
      [65, 0, 0, 0, 65],
    ],
  ];
  for (const [title, input, [subtotal, discount = 0, delivery = 0, tax = 0, total]] of table) {
    test(title, () => {
      const { breakdown, totalCents: cents } = price(input);
      assert.deepEqual(
        [
          breakdown?.subtotal ?? 65,
          breakdown?.discount?.amount ?? 0,
          breakdown?.delivery?.amount ?? 0,
          breakdown?.tax?.amount ?? 0,
          cents / 100,
        ],
        [subtotal, discount, delivery, tax, total],
      );
    });
  }
});

/** A number as a fraction of whole numbers. */
interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

const fraction = (top: bigint, bottom = 1n): Fraction => ({ top, bottom });
const times = (a: Fraction, b: Fraction) => fraction(a.top * b.top, a.bottom * b.bottom);
const minus = (a: Fraction, b: Fraction) =>
  fraction(a.top * b.bottom - b.top * a.bottom, a.bottom * b.bottom);
const isLess = (a: Fraction, b: Fraction) => a.top * b.bottom < b.top * a.bottom;
const floor = ({ top, bottom }: Fraction) => Number(top / bottom);
const half = fraction(1n, 2n);
function round(value: Fraction): number {
  const whole = floor(value);
  return isLess(minus(value, fraction(BigInt(whole))), half) ? whole : whole + 1;
}
/** A number of a case, which has three decimals at most. */
const exact = (value: number) => fraction(BigInt(Math.round(value * 1000)), 1000n);

/** Gives cent after cent to the part that is furthest below its exact share. */
function naiveSplit(amount: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum === 0) {
    return weights.map((_, index) => (index === 0 ? amount : 0));
  }
  const shares = weights.map((weight) => fraction(BigInt(amount) * BigInt(weight), BigInt(sum)));
  const parts = shares.map(floor);
  while (parts.reduce((total, part) => total + part, 0) < amount) {
    const missing = shares.map((share, index) => minus(share, fraction(BigInt(parts[index] ?? 0))));
    const furthest = missing.reduce(
      (best, value, index) => (isLess(missing[best] ?? half, value) ? index : best),
      0,
    );
    parts[furthest] = (parts[furthest] ?? 0) + 1;
  }
  return parts;
}

function naiveTotal(lines: readonly TaxedLine[]): number {
  let kilograms = fraction(0n);
  let pieces = 0;
  for (const { quantity, grams, pricePerKg } of lines) {
    const count = fraction(BigInt(quantity) * 100n);
    if (grams === undefined) {
      kilograms = minus(kilograms, times(fraction(-1n), times(count, exact(pricePerKg))));
    } else {
      pieces +=
        quantity * round(times(times(fraction(100n), exact(pricePerKg)), fraction(BigInt(grams), 1000n)));
    }
  }
  return round(kilograms) + pieces;
}

function naivePrice({ lines, mode, discount, delivery }: Case): OrderPrice {
  const groups: { rate: AppliedRate | null; lines: TaxedLine[] }[] = [];
  for (const line of lines) {
    const rate = mode === 'off' ? null : (line.rate ?? null);
    const same = groups.find(
      (group) => group.rate?.name === rate?.name && group.rate?.milliPercent === rate?.milliPercent,
    );
    same === undefined ? groups.push({ rate, lines: [line] }) : same.lines.push(line);
  }
  const sums = groups.map((group) => naiveTotal(group.lines));
  const subtotal = sums.reduce((total, part) => total + part, 0);
  const off =
    discount?.kind === 'percent'
      ? round(fraction(BigInt(subtotal) * BigInt(discount.value), 100n))
      : discount?.kind === 'amount'
        ? Math.min(discount.value, subtotal)
        : 0;
  const charge = discount?.kind === 'free_delivery' ? 0 : (delivery?.cents ?? 0);
  const offs = naiveSplit(off, sums);
  const rest = sums.map((part, index) => part - (offs[index] ?? 0));
  const charges = naiveSplit(charge, off === subtotal ? sums : rest);
  const taxes = groups.map(({ rate }, index) => {
    const gross = (rest[index] ?? 0) + (charges[index] ?? 0);
    const percent = fraction(BigInt(rate?.milliPercent ?? 0), 1000n);
    const whole = fraction(100_000n + (mode === 'included' ? BigInt(rate?.milliPercent ?? 0) : 0n), 1000n);
    const tax = round(
      times(fraction(BigInt(gross)), fraction(percent.top * whole.bottom, percent.bottom * whole.top)),
    );
    return { rate, tax, net: mode === 'included' ? gross - tax : gross };
  });
  const tax = taxes.reduce((total, row) => total + row.tax, 0);
  const goodsCents = subtotal - off;
  const breakdown = {
    currency: 'CHF',
    subtotal: subtotal / 100,
    ...(discount && { discount: { code: discount.code, amount: off / 100 } }),
    ...(delivery && {
      delivery: { id: delivery.id, name: delivery.name, kind: delivery.kind, amount: charge / 100 },
    }),
    ...(mode !== 'off' && {
      tax: {
        included: mode === 'included',
        amount: tax / 100,
        rates: taxes.flatMap((row) =>
          row.rate === null
            ? []
            : [
                {
                  name: row.rate.name,
                  percent: row.rate.milliPercent / 1000,
                  net: row.net / 100,
                  amount: row.tax / 100,
                },
              ],
        ),
      },
    }),
  };
  return {
    goodsCents,
    totalCents: goodsCents + charge + (mode === 'added' ? tax : 0),
    breakdown: mode === 'off' && discount === null && delivery === null ? null : breakdown,
  };
}
