/** Amounts with their currency, in texts. */

/** What a text needs of the shop. */
export interface MoneyStyle {
  /** ISO 4217, with two decimals. */
  readonly currency: string;
  /** BCP 47. English by default, as all texts of the API. */
  readonly language?: string;
}

/** Prices are exact to a millionth. */
const digitsMax = 6;
const formats = new Map<string, Intl.NumberFormat>();

/** A price, which can have more digits than cents, such as "$12.345". */
export function showPrice(price: number, { currency, language = 'en' }: MoneyStyle): string {
  const key = `${language} ${currency}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(language, {
      style: 'currency',
      currency,
      minimumFractionDigits: 2,
      maximumFractionDigits: digitsMax,
    });
    formats.set(key, format);
  }
  return format.format(price);
}

/** An amount, such as "$12.50" or "€12.50". */
export function showMoney(cents: number, style: MoneyStyle): string {
  return showPrice(cents / 100, style);
}
