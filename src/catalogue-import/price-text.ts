/**
 * Reads a price from the cell of a table. A comma or a point separates the decimals, of which there are at most two: with
 * three digits after it, a separator could be one of thousands, and the price would be read a thousand times too small.
 */
import { validationError } from '../errors.ts';
import { cut } from './row-changes.ts';

const price = /^(?:\$\s*)?(\d+)(?:[.,](\d{1,2}))?$/;

/** @throws AppError validation */
export function parsePrice(text: string): number {
  const [matched, whole, decimals = '0'] = price.exec(text) ?? [];
  if (matched === undefined) {
    const message = `"${cut(text)}" is not a price. Write digits with at most two decimals and without separators of thousands, such as 1234.50`;
    throw validationError([{ field: 'pricePerKg', message }]);
  }
  return Number(`${whole}.${decimals}`);
}
