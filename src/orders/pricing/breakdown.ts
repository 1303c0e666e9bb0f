/**
 * What an order costs: the goods, less a discount, plus delivery and tax. Amounts are whole cents.
 *
 * Goods come first, because delivery can be free from a sum of goods on. Tax is rounded once for each rate: the goods of
 * a rate less their part of the discount, plus their part of the delivery charge.
 */
import { dollars } from '../../decimal.ts';
import type { AppliedRate } from '../../tax/choose-rate.ts';

import { type PricedLine, totalCents } from './lines.ts';
import type { Breakdown } from './schemas.ts';
import { proportion, split } from './shares.ts';

/** Whether prices contain the tax, or it is added to them. `off`: the shop computes no tax. */
export type TaxMode = 'off' | 'included' | 'added';

export interface TaxedLine extends PricedLine {
  /** The rate of the line's cheese at the destination; null if there is none. */
  readonly rate?: AppliedRate | null;
}

/** `value`: a percentage, or cents. */
export type CodeDiscount = {
  readonly code: string;
} & ({ readonly kind: 'percent' | 'amount'; readonly value: number } | { readonly kind: 'free_delivery' });

export interface DeliveryCharge {
  readonly id: number;
  readonly name: string;
  readonly kind: 'parcel' | 'pickup';
  /** What the method costs, before a code makes it free. */
  readonly cents: number;
}

/** Lines with the same rate. */
interface RateGroup {
  readonly rate: AppliedRate | null;
  readonly cents: number;
}

export interface Goods {
  readonly groups: readonly RateGroup[];
  readonly subtotalCents: number;
  readonly discount: (CodeDiscount & { readonly cents: number }) | null;
  /** What the goods cost after the discount. */
  readonly cents: number;
}

export interface OrderPrice {
  readonly goodsCents: number;
  readonly totalCents: number;
  /** Null if neither a discount, nor delivery, nor tax applies. */
  readonly breakdown: Breakdown | null;
}

/** @param mode without taxes, all lines are rounded together */
export function priceGoods(lines: readonly TaxedLine[], mode: TaxMode, discount: CodeDiscount | null): Goods {
  const groups = mode === 'off' ? [{ rate: null, cents: totalCents(lines) }] : groupByRate(lines);
  const subtotalCents = sum(groups.map(({ cents }) => cents));
  const discountCents = discount === null ? 0 : discountOf(discount, subtotalCents);
  return {
    groups,
    subtotalCents,
    discount: discount && { ...discount, cents: discountCents },
    cents: subtotalCents - discountCents,
  };
}

export function priceOrder(
  goods: Goods,
  { currency, mode, delivery }: { currency: string; mode: TaxMode; delivery: DeliveryCharge | null },
): OrderPrice {
  const deliveryCents = goods.discount?.kind === 'free_delivery' ? 0 : (delivery?.cents ?? 0);
  const tax = mode === 'off' ? null : taxOf(goods, mode, deliveryCents);
  const added = mode === 'added' && tax !== null ? tax.cents : 0;
  const breakdown: Breakdown = {
    currency,
    subtotal: dollars(goods.subtotalCents),
    ...(goods.discount && {
      discount: { code: goods.discount.code, amount: dollars(goods.discount.cents) },
    }),
    ...(delivery && {
      delivery: { id: delivery.id, name: delivery.name, kind: delivery.kind, amount: dollars(deliveryCents) },
    }),
    ...(tax && { tax: { included: mode === 'included', amount: dollars(tax.cents), rates: tax.rates } }),
  };
  const isPlain = goods.discount === null && delivery === null && tax === null;
  return {
    goodsCents: goods.cents,
    totalCents: goods.cents + deliveryCents + added,
    breakdown: isPlain ? null : breakdown,
  };
}

/** The groups are in the order of their first lines. */
function groupByRate(lines: readonly TaxedLine[]): RateGroup[] {
  const groups = Map.groupBy(lines, ({ rate }) => (rate ? `${rate.milliPercent} ${rate.name}` : ''));
  return [...groups.values()].map((own) => ({ rate: own[0]?.rate ?? null, cents: totalCents(own) }));
}

function discountOf(discount: CodeDiscount, subtotalCents: number): number {
  switch (discount.kind) {
    case 'percent':
      return proportion(subtotalCents, discount.value, 100);
    case 'amount':
      return Math.min(discount.value, subtotalCents);
    case 'free_delivery':
      return 0;
  }
}

function taxOf({ groups, discount }: Goods, mode: 'included' | 'added', deliveryCents: number) {
  const sums = groups.map(({ cents }) => cents);
  const discounts = split(discount?.cents ?? 0, sums);
  const goods = sums.map((cents, index) => cents - (discounts[index] ?? 0));
  // Goods that cost nothing any more have no proportions.
  const deliveries = split(deliveryCents, sum(goods) === 0 ? sums : goods);
  const taxed = groups.map(({ rate }, index) => {
    const cents = (goods[index] ?? 0) + (deliveries[index] ?? 0);
    const { name = '', milliPercent = 0 } = rate ?? {};
    const base = mode === 'included' ? 100_000 + milliPercent : 100_000;
    const tax = proportion(cents, milliPercent, base);
    return { rate, name, milliPercent, tax, net: mode === 'included' ? cents - tax : cents };
  });
  return {
    cents: sum(taxed.map(({ tax }) => tax)),
    rates: taxed
      .filter(({ rate }) => rate !== null)
      .map(({ name, milliPercent, tax, net }) => ({
        name,
        percent: milliPercent / 1000,
        net: dollars(net),
        amount: dollars(tax),
      })),
  };
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, cents) => total + cents, 0);
