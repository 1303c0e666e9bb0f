/**
 * Price bands. Each contains the prices that begin with the same two significant digits. Their counters give the exact
 * number of cheeses in a range of prices, except in the bands at its ends.
 */

/** The lowest price of each band: 0, then 0.010, 0.011 ... 0.099, 0.10 ... 990,000. One band is below 0.01. */
const lowestPrices: readonly number[] = [
  0,
  // From texts, because products of decimal fractions are not exact.
  ...[-3, -2, -1, 0, 1, 2, 3, 4].flatMap((exponent) =>
    Array.from({ length: 90 }, (_, index) => Number(`${index + 10}e${exponent}`)),
  ),
];

/** The band of a price, from 0 to 720. */
export function bandOf(price: number): number {
  let [low, high] = [0, lowestPrices.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lowestPrices[middle] as number) <= price) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/** The prices of a band: from the lowest to below the lowest of the next band. */
export function pricesOf(band: number): { readonly from: number; readonly below: number } {
  return {
    from: lowestPrices[band] ?? 0,
    below: lowestPrices[band + 1] ?? Number.POSITIVE_INFINITY,
  };
}

/** The largest number below a positive one. With it, a range without its upper end is one with an upper end. */
export function nextBelow(price: number): number {
  const bits = new BigInt64Array(new Float64Array([price]).buffer);
  bits[0] = (bits[0] as bigint) - 1n;
  return new Float64Array(bits.buffer)[0] as number;
}
