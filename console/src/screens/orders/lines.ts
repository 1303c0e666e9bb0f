/** What the lines of an order say: pieces of a weight, or kilograms. */
import type { Order } from '../../../../client/src/index.ts';
import { showGrams, showKilograms } from '../../parts/text/format.ts';

type Line = Order['items'][number];

/** "3 × 200 g", and "3 kg" for a line in kilograms. */
export function quantityOf({ quantity, grams }: Pick<Line, 'quantity' | 'grams'>): string {
  return grams === undefined ? showKilograms(quantity) : `${quantity} × ${showGrams(grams)}`;
}

/** "Beaufort 3 × 200 g", with the name that the piece has. */
export const lineText = (line: Line): string =>
  `${line.cheeseName} ${quantityOf(line)}${line.portionName === undefined ? '' : ` (${line.portionName})`}`;

/** What a line costs. */
export const amountOf = ({ amount, pricePerKg, quantity }: Line): number => amount ?? pricePerKg * quantity;

/** Grams, because their sum is exact. */
const gramsOf = ({ quantity, grams = 1000 }: Line): number => quantity * grams;

/** Kilograms of an order. */
export const weightOf = ({ items }: Pick<Order, 'items'>): number =>
  items.reduce((sum, line) => sum + gramsOf(line), 0) / 1000;

/** "Beaufort 10 kg, Brie 3 × 200 g +2". */
export function linesOf({ items }: Pick<Order, 'items'>, shown = 2): string {
  const lines = items.slice(0, shown).map(lineText);
  return lines.join(', ') + (items.length > shown ? ` +${items.length - shown}` : '');
}

/** "Cooled parcel, SPRING, gift": what there is beside the lines. */
export const describeExtras = ({ breakdown, gift }: Pick<Order, 'breakdown' | 'gift'>): string =>
  [breakdown?.delivery?.name, breakdown?.discount?.code, gift === undefined ? undefined : 'gift']
    .filter((text) => text !== undefined)
    .join(', ');
