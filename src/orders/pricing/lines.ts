/** Exact sums of money, such as an order total: prices are decimal numbers of the currency, totals are whole cents. */
import { pieceCents } from '../../cheeses/portions.ts';
import { digitsAt, toDecimal } from '../../decimal.ts';

export interface PricedLine {
  /** Pieces of `grams`, or kilograms. */
  readonly quantity: number;
  readonly grams?: number;
  readonly pricePerKg: number;
}

/** Sums of doubles over 100 lines are off by less than 0.002 cents below this. */
const clearCentsMax = 1e11;

/**
 * What lines cost together: those in kilograms are rounded once, and each piece has a price in whole cents. Half a cent is
 * rounded up.
 */
export function totalCents(lines: readonly PricedLine[]): number {
  if (lines.every(({ grams }) => grams === undefined)) {
    return kilogramCents(lines);
  }
  return lines.reduce(
    (sum, { grams, quantity, pricePerKg }) =>
      grams === undefined ? sum : sum + quantity * pieceCents(pricePerKg, grams),
    kilogramCents(lines.filter(({ grams }) => grams === undefined)),
  );
}

/** The sum of doubles has the right cents unless it is near half a cent, and takes a tenth of the time. */
function kilogramCents(lines: readonly PricedLine[]): number {
  const cents = 100 * lines.reduce((sum, { quantity, pricePerKg }) => sum + quantity * pricePerKg, 0);
  const rounded = Math.round(cents);
  return cents < clearCentsMax && Math.abs(cents - rounded) < 0.49 ? rounded : exactCents(lines);
}

function exactCents(lines: readonly PricedLine[]): number {
  const amounts = lines.map(({ quantity, pricePerKg }) => {
    const { digits, scale } = toDecimal(pricePerKg);
    return { digits: digits * BigInt(quantity), scale };
  });
  // Three digits after the point or more, so that half a cent can be added.
  const scale = Math.max(3, ...amounts.map((amount) => amount.scale));
  const sum = amounts.reduce((total, amount) => total + digitsAt(scale, amount), 0n);
  const cent = 10n ** BigInt(scale - 2);
  return Number((sum + cent / 2n) / cent);
}
