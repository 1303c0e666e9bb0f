/** The fields of a cheese in words. */
import { showGrams, showKilograms, showMoney } from '../../parts/text/format.ts';

const names: Readonly<Record<string, string>> = {
  photoUrls: 'images',
  pricePerKg: 'price',
  ageMonths: 'age',
  stockKg: 'stock',
  portions: 'pieces',
};

/** "price" for `pricePerKg`. */
export const nameOfField = (field: string): string => names[field] ?? field;

/** A value of a field, as in a cheese or in an event. */
export function showField(value: unknown, field: string): string {
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
    return 'none';
  }
  if (field === 'portions') {
    return (value as readonly ShownPortion[]).map(portionText).join(', ');
  }
  if (Array.isArray(value)) {
    return field === 'photoUrls' ? `${value.length}` : value.map((one) => nameOf(one)).join(', ');
  }
  switch (field) {
    case 'pricePerKg':
      return showMoney(Number(value));
    case 'ageMonths':
      return value === 0 ? 'under 1 month' : value === 1 ? '1 month' : `${value} months`;
    case 'stockKg':
      return showKilograms(Number(value));
    case 'organic':
      return value === true ? 'yes' : 'no';
    default:
      return nameOf(value);
  }
}

interface ShownPortion {
  /** Text of a field, too. */
  readonly grams: number | string;
  readonly name?: string;
}

/** "200 g", or "Half wheel of 8 kg". */
export const portionText = ({ grams, name = '' }: ShownPortion): string =>
  name === '' ? showGrams(Number(grams)) : `${name} of ${showGrams(Number(grams))}`;

const nameOf = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? String((value as { name?: unknown }).name ?? '')
    : String(value);
