/** What a piece costs, as the server computes it, and the price per kilogram that makes it so. */

/** Decimals of a price per kilogram that a form takes: enough for each price of a piece of up to 100 kg. */
export const pricePerKgDecimals = 5;
const unit = 10 ** pricePerKgDecimals;

/** Cents of a piece: the price of its weight, half a cent rounded up. */
export function pieceCents(pricePerKg: number, grams: number): number {
  // A cent of the piece is a unit of the price times a gram, times this.
  const divisor = BigInt(unit * 10);
  return Number((BigInt(Math.round(pricePerKg * unit)) * BigInt(grams) + divisor / 2n) / divisor);
}

/** The nearest price per kilogram with which a piece costs this many cents, with two decimals if they suffice. */
export function toPricePerKg(cents: number, grams: number): number {
  for (let decimals = 2; decimals < pricePerKgDecimals; decimals += 1) {
    const price = Number(((cents * 10) / grams).toFixed(decimals));
    if (pieceCents(price, grams) === cents) {
      return price;
    }
  }
  return Number(((cents * 10) / grams).toFixed(pricePerKgDecimals));
}
