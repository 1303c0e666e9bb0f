/** Portions: the weights in which a cheese is sold, cut from one stock. Without portions it is sold by the kilogram. */
import type { XStatic } from 'typebox/schema';
import { toDecimal } from '../decimal.ts';
import { addError, type FieldError, validationError } from '../errors.ts';
import { nameKey } from '../schema/folding.ts';
import type { TextRule } from '../schema/schema.ts';
import { lineRule } from '../schema/text-rules.ts';

/** The weight of a line without a portion. */
export const kilogramGrams = 1000;
export const portionsMax = 12;

/** Cells of files separate portions by semicolons. */
const nameRule: TextRule = {
  ...lineRule,
  test: (text) => lineRule.test(text) && !text.includes(';'),
  message: `${lineRule.message}, and no semicolon`,
};

export const Portion = {
  title: 'Portion',
  type: 'object',
  required: ['grams'],
  properties: {
    grams: { type: 'integer', minimum: 10, maximum: 100_000, description: 'The weight of a piece' },
    name: {
      type: 'string',
      minLength: 1,
      maxLength: 40,
      rule: nameRule,
      description: 'Such as "Half wheel"',
    },
  },
  examples: [{ grams: 200 }],
} as const;
export type Portion = XStatic<typeof Portion>;

export const portionsSchema = {
  type: 'array',
  maxItems: portionsMax,
  items: Portion,
  description:
    'The pieces in which the cheese is sold, by their weight in grams. Without portions it is sold by the kilogram. An order in kilograms needs the portion of 1000 grams',
  examples: [[{ grams: 200 }, { grams: 8000, name: 'Half wheel' }]],
} as const;

/** What the schema cannot check: weights and names are distinct. */
export function checkPortions(errors: FieldError[], field: string, portions: readonly Portion[]): void {
  const seen = new Set<number | string>();
  for (const [index, { grams, name }] of portions.entries()) {
    if (seen.has(grams)) {
      addError(errors, `${field}[${index}].grams`, `${grams} is the weight of another portion`);
    }
    seen.add(grams);
    if (name !== undefined) {
      const key = nameKey(name);
      if (seen.has(key)) {
        addError(errors, `${field}[${index}].name`, 'is the name of another portion');
      }
      seen.add(key);
    }
  }
}

/** The smallest weight in grams that an order can have of a cheese. */
export function smallestGrams({ portions = [] }: { readonly portions?: readonly Portion[] }): number {
  return portions.length === 0 ? kilogramGrams : Math.min(...portions.map(({ grams }) => grams));
}

/** The quantity of a line of an order, such as "3 × 200 g", "1 × 8000 g (Half wheel)" or "2 kg". */
export function quantityText(line: {
  readonly quantity: number;
  readonly grams?: number;
  readonly portionName?: string;
}): string {
  const { quantity, grams, portionName } = line;
  const name = portionName === undefined ? '' : ` (${portionName})`;
  return grams === undefined ? `${quantity} kg` : `${quantity} × ${grams} g${name}`;
}

/** The price of a piece: that of its weight, rounded half up to cents. */
export function pieceCents(pricePerKg: number, grams: number): number {
  const { digits, scale } = toDecimal(pricePerKg);
  // A price for a kilogram has a tenth of as many cents for a gram.
  const divisor = 10n ** BigInt(scale + 1);
  return Number((digits * BigInt(grams) + divisor / 2n) / divisor);
}

/** Portions as the cell of a file: `200; 8000 Half wheel`. */
export function portionsText(portions: readonly Portion[]): string {
  return portions
    .map(({ grams, name }) =>
      name === undefined ? grams : `${grams} ${isPlainName(name) ? '' : 'g '}${name}`,
    )
    .join('; ');
}

/** A unit of weight at the beginning of a text, which people write behind the number. */
const unit = /^(?:g|gr|grams?)\.?(?=\s|$)/iu;
const otherUnit = /^(?:kg|kilo\p{L}*|lbs?|oz|pounds?|ounces?)(?=[\s.]|$)/iu;

/** Other names are behind a unit, so that no weight or unit is read as a name, and no name as a unit. */
const isPlainName = (name: string) => /^\p{L}/u.test(name) && !unit.test(name) && !otherUnit.test(name);

/** Reads what `portionsText` writes. @throws AppError validation */
export function parsePortions(text: string): Portion[] {
  const parts = text.split(';', cellsMax).map((part) => part.trim());
  return parts.filter((part) => part !== '').map(parsePortion);
}

/** More parts than the schema permits, empty ones included. */
const cellsMax = 1000;

function parsePortion(part: string): Portion {
  const [, grams, rest = ''] = /^(\d{1,9})(.*)$/su.exec(part) ?? [];
  const behind = rest.trimStart();
  const hasUnit = unit.test(behind);
  const name = behind.replace(unit, '').trim();
  const isName = name === '' || hasUnit || (behind !== rest && isPlainName(name));
  if (grams === undefined || !isName) {
    const message = `"${part.slice(0, 100)}" is not a weight in whole grams, with a name or without. Separate portions by semicolons, such as 200; 8000 Half wheel`;
    throw validationError([{ field: 'portions', message }]);
  }
  return { grams: Number(grams), ...(name === '' ? {} : { name }) };
}
