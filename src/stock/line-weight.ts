/** The weight of lines of orders. */

export interface LineWeight {
  readonly cheeseId: number;
  readonly quantity: number;
}

/** Grams that a line takes from the stock. */
export function lineGrams({ quantity }: LineWeight): number {
  return quantity * 1000;
}
