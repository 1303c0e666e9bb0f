/** Exact decimal numbers, for prices: rounded sums and ratios of doubles can be wrong by one. */

/** `digits` times ten to the power of minus `scale`. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** The shortest decimal number of a double, which is the one that the client sent. */
export function toDecimal(number: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** The digits of a decimal at a scale that is not below its own. */
export function digitsAt(scale: number, decimal: Decimal): bigint {
  return decimal.digits * 10n ** BigInt(scale - decimal.scale);
}

/** Grams of a quantity in kilograms, which has at most three decimals. */
export function kilogramsToGrams(kilograms: number): number {
  return Math.round(kilograms * 1000);
}

/** Kilograms, as in requests and responses. */
export function gramsToKilograms(grams: number): number {
  return grams / 1000;
}

/** The whole cents of an amount that a client sent, rounded down. */
export function wholeCents(amount: number): number {
  const { digits, scale } = toDecimal(amount);
  return Number(scale > 2 ? digits / 10n ** BigInt(scale - 2) : digitsAt(2, { digits, scale }));
}

/** An amount of the currency, as in requests and responses. */
export function dollars(cents: number): number {
  return cents / 100;
}
