/** Maps the columns of an imported file to the fields of a cheese. */
import { validationError } from '../../errors.ts';
import { validate } from '../../schema/validate.ts';
import { onHandSchema } from '../../stock/schemas.ts';
import { CheeseInput } from '../schemas.ts';
import { parseRipening } from './ripening.ts';

/** Fields that a file may contain: all that the server does not supply. */
export const importFields = [
  'name',
  'category',
  'photoUrls',
  'tags',
  'status',
  'origin',
  'pricePerKg',
  'ageMonths',
  'organic',
  'stockKg',
] as const satisfies readonly (keyof CheeseInput | 'stockKg')[];
export type ImportField = (typeof importFields)[number];

/** The columns of each field. The first column that is not empty is used; for tags, all columns are used. */
export type Mapping = ReadonlyMap<ImportField, readonly string[]>;

/** One row, by column. */
export type SourceRow = Readonly<Record<string, unknown>>;

/** The default: columns are named like the fields. */
export const identityMapping: Mapping = new Map(importFields.map((field) => [field, [field]]));

/**
 * Parses texts such as `name=CheeseNameEn,CheeseNameFr`. With a mapping, only mapped fields are read.
 * @throws Error with a message for the operator
 */
export function parseMapping(texts: readonly string[]): Mapping {
  if (texts.length === 0) {
    return identityMapping;
  }
  const mapping = new Map<ImportField, string[]>();
  for (const text of texts) {
    const equals = text.indexOf('=');
    const field = text.slice(0, Math.max(0, equals)).trim();
    const columns = text.slice(equals + 1).trim();
    const known = importFields.find((name) => name === field);
    if (known === undefined || columns === '') {
      throw new Error(
        `--map "${text}" is not valid: write field=Column[,Other]. The field is one of ${importFields.join(', ')}.`,
      );
    }
    mapping.set(known, [...(mapping.get(known) ?? []), ...columns.split(',').map((column) => column.trim())]);
  }
  if (!mapping.has('name')) {
    throw new Error('The mapping has no column for the name: add --map name=Column.');
  }
  return mapping;
}

/**
 * Requires all mapped columns of a table, and a name column of JSON, whose elements can leave out other members.
 * @throws Error when a mapped column is missing from the first row
 */
export function requireColumns(mapping: Mapping, columns: readonly string[], isTable: boolean): void {
  const has = (column: string) => columns.includes(column);
  const nameColumns = mapping.get('name') ?? [];
  if (mapping === identityMapping && !nameColumns.some(has)) {
    throw new Error(
      `The file has no column "name". Name the column with --map name=Column. It has: ${columns.join(', ')}.`,
    );
  }
  const required = isTable ? [...mapping.values()].flat() : nameColumns.some(has) ? [] : nameColumns;
  const missing = required.filter((column) => !has(column));
  if (mapping !== identityMapping && missing.length > 0) {
    throw new Error(`The file has no column ${missing.join(', ')}. It has: ${columns.join(', ')}.`);
  }
}

/** What a row says about a cheese. */
export interface ImportedCheese {
  readonly input: CheeseInput;
  /** Kilograms on hand; undefined where the file does not say. */
  readonly stockKg: number | undefined;
  /** Remarks on values that were left out. */
  readonly remarks: readonly string[];
}

const rowSchema = {
  ...CheeseInput,
  properties: { ...CheeseInput.properties, stockKg: onHandSchema },
} as const;

/**
 * Converts a row to the input of a new cheese.
 * @throws AppError validation
 */
export function toCheeseInput(row: SourceRow, mapping: Mapping): ImportedCheese {
  const remarks: string[] = [];
  const fields: Record<string, unknown> = {};
  for (const [field, columns] of mapping) {
    const given = columns
      .map((column) => row[column])
      .filter((value) => value !== undefined && value !== null && value !== '');
    if (field === 'tags') {
      fields.tags = given.flatMap(readTags);
    } else if (given.length > 0) {
      fields[field] = readField(field, given[0], remarks);
    }
  }
  const { value, errors } = validate(rowSchema, fields);
  if (errors.length > 0) {
    throw validationError(errors);
  }
  const { stockKg, ...input } = value as CheeseInput & { stockKg?: number };
  return { input, stockKg, remarks };
}

function readField(field: ImportField, value: unknown, remarks: string[]): unknown {
  if (typeof value !== 'string') {
    return value;
  }
  const text = value.trim();
  switch (field) {
    case 'category':
      return { name: value };
    case 'photoUrls':
      return value.split('\n').filter((url) => url !== '');
    case 'pricePerKg':
      return /^\$?\s*\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text.replace(/^\$\s*/, '')) : text;
    case 'stockKg':
      return /^\d+$/.test(text) ? Number(text) : text;
    case 'ageMonths': {
      const months = parseRipening(text);
      if (months === null) {
        remarks.push(`ageMonths "${text}" is not an age in months and was left out`);
      }
      return months ?? undefined;
    }
    case 'organic':
      return (
        { 1: true, true: true, yes: true, 0: false, false: false, no: false }[text.toLowerCase()] ?? text
      );
    case 'status':
      return text.toLowerCase();
    default:
      return value;
  }
}

/** Tags are text separated by commas, or in JSON an array of texts or of objects with a name. */
function readTags(value: unknown): unknown[] {
  if (typeof value === 'string') {
    return value
      .split(',')
      .map((tag) => ({ name: tag.replace(/^ +|(?<! ) +$/g, '') }))
      .filter(({ name }) => name !== '');
  }
  return Array.isArray(value) ? value.map((tag) => (typeof tag === 'string' ? { name: tag } : tag)) : [value];
}
