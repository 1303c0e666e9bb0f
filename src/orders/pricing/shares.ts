/** Exact parts of amounts: whole cents, computed with whole numbers. */

/**
 * `amount * numerator / denominator`, rounded half up.
 * @param amount cents, at least 0
 */
export function proportion(amount: number, numerator: number, denominator: number): number {
  const [product, divisor] = [BigInt(amount) * BigInt(numerator), BigInt(denominator)];
  return Number((2n * product + divisor) / (2n * divisor));
}

/**
 * Splits an amount in proportion to weights, so that the parts add up to it: what rounding down leaves goes, a cent each, to
 * the parts that lost most, and among equal ones to the first. No part is above its weight if the amount is not above
 * their sum.
 * @param amount cents, at least 0
 * @param weights whole numbers of at least 0, at least one; if all are 0, the first gets the amount
 */
export function split(amount: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + BigInt(weight), 0n);
  if (sum === 0n) {
    return weights.map((_, index) => (index === 0 ? amount : 0));
  }
  const products = weights.map((weight) => BigInt(amount) * BigInt(weight));
  const parts = products.map((product) => Number(product / sum));
  const rest = amount - parts.reduce((total, part) => total + part, 0);
  const byRemainder = products
    .map((product, index) => ({ index, remainder: product % sum }))
    .sort(
      (a, b) => Number(b.remainder > a.remainder) - Number(b.remainder < a.remainder) || a.index - b.index,
    );
  const rounded = new Set(byRemainder.slice(0, rest).map(({ index }) => index));
  return parts.map((part, index) => (rounded.has(index) ? part + 1 : part));
}
