/** New prices of a bulk change, exact to a millionth. */

/** How a price ends: in whole cents, in steps of 5 or 10 cents, or in 95 cents. */
export const roundings = ['0.01', '0.05', '0.10', '0.95'] as const;
export type Rounding = (typeof roundings)[number];

const million = 1_000_000n;
const micros = (value: number): bigint => BigInt(Math.round(value * 1_000_000));

/** The distance of two rounded prices, and the lowest one: a price does not become free by rounding. */
const steps: Readonly<Record<Rounding, { readonly step: bigint; readonly lowest: bigint }>> = {
  '0.01': { step: 10_000n, lowest: 10_000n },
  '0.05': { step: 50_000n, lowest: 50_000n },
  '0.10': { step: 100_000n, lowest: 100_000n },
  '0.95': { step: million, lowest: 950_000n },
};

/** @param percent for example -10 for a tenth less */
export function changeByPercent(price: number, percent: number, rounding: Rounding): number {
  return round(micros(price) * (100n * million + micros(percent)), 100n * million, rounding);
}

/** @param amount in the currency of the shop; negative to make it cheaper */
export function changeByAmount(price: number, amount: number, rounding: Rounding): number {
  return round(micros(price) + micros(amount), 1n, rounding);
}

/** Rounds a fraction of millionths, half up. A price of 0, or below, stays as it is. */
function round(numerator: bigint, denominator: bigint, rounding: Rounding): number {
  if (numerator <= 0n) {
    return Number(numerator / denominator) / 1_000_000;
  }
  const { step, lowest } = steps[rounding];
  const offset = lowest % step;
  // Whole steps from the offset. Both sides have twice the denominator, to add half a step.
  const doubled = 2n * (numerator - offset * denominator) + step * denominator;
  const divisor = 2n * step * denominator;
  const count = doubled >= 0n ? doubled / divisor : -1n;
  const rounded = count * step + offset;
  return Number(rounded < lowest ? lowest : rounded) / 1_000_000;
}
