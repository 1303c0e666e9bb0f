/** The weight of lines of orders. */
import { kilogramGrams } from '../cheeses/portions.ts';

export interface LineWeight {
  readonly cheeseId: number;
  readonly quantity: number;
  /** The weight of a piece. undefined: the quantity is in kilograms. */
  readonly grams?: number;
}

/** Grams that a line takes from the stock. */
export function lineGrams({ quantity, grams = kilogramGrams }: LineWeight): number {
  return quantity * grams;
}
