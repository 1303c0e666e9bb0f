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
