/** Maps the columns of an imported file to the fields of a cheese. */

import { type CheeseField, cheeseFields, fieldNames, requiredFields } from '../cheeses/fields.ts';
import { CheeseInput } from '../cheeses/schemas.ts';
import { requireNoErrors } from '../errors.ts';
import { measureJson } from '../schema/json-bounds.ts';
import { findRepeatedMember } from '../schema/repeated-members.ts';
import { validate } from '../schema/validate.ts';
import { onHandSchema } from '../stock/schemas.ts';
import { type CellKind, readCell } from './cells.ts';
import { ImportError } from './import-error.ts';
import { cut } from './row-changes.ts';

export type ImportField = CheeseField | 'stockKg';
/** Fields that a file may contain: all that the server does not supply. */
export const importFields: readonly ImportField[] = [...fieldNames, 'stockKg'];

/** The columns of each field. The first column that is not empty is used; for tags, all columns are used. */
export type Mapping = ReadonlyMap<ImportField, readonly string[]>;

/** One row, by column. */
export type SourceRow = Readonly<Record<string, unknown>>;

/** The default: columns are named like the fields. */
export const identityMapping: Mapping = new Map(importFields.map((field) => [field, [field]]));

/**
 * Parses texts such as `name=CheeseNameEn,CheeseNameFr`. With a mapping, only mapped fields are read.
 * @throws ImportError
 */
export function parseMapping(texts: readonly string[]): Mapping {
  return toMapping(
    texts.map((text) => {
      const equals = text.indexOf('=');
      const columns = text.slice(equals + 1).split(',');
      return [text, text.slice(0, Math.max(0, equals)), columns] as const;
    }),
    'write field=Column[,Other]',
  );
}

/**
 * Parses JSON such as `{"name": ["CheeseNameEn", "CheeseNameFr"], "origin": "Country"}`, with the same meaning.
 * @throws ImportError
 */
export function parseJsonMapping(json: string): Mapping {
  const remedy = 'send an object of fields, each with its column or a list of its columns';
  const value = parseJson(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ImportError('map', `The mapping is not a JSON object: ${remedy}.`);
  }
  const size = measureJson(json);
  const repeated = size.excess === null ? findRepeatedMember(json, value, size.members) : null;
  if (repeated !== null) {
    throw new ImportError('map', `The mapping has ${repeated} twice: ${remedy}.`);
  }
  return toMapping(
    Object.entries(value).map(([field, columns]) => {
      const list: unknown[] = Array.isArray(columns) ? columns : [columns];
      return [field, field, list.map((column) => (typeof column === 'string' ? column : ''))] as const;
    }),
    remedy,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param entries as the caller wrote it, the field, and its columns */
function toMapping(
  entries: readonly (readonly [text: string, field: string, columns: readonly string[]])[],
  remedy: string,
): Mapping {
  if (entries.length === 0) {
    return identityMapping;
  }
  const mapping = new Map<ImportField, string[]>();
  for (const [text, field, columns] of entries) {
    const known = importFields.find((name) => name === field.trim());
    const names = columns.map((column) => column.trim());
    if (known === undefined || names.length === 0 || names.includes('')) {
      const shown = text.length > 60 ? `${text.slice(0, 60).toWellFormed()}...` : text;
      throw new ImportError(
        'map',
        `The mapping "${shown}" is not valid: ${remedy}. The field is one of ${importFields.join(', ')}.`,
      );
    }
    // A column counts once: tags are read from all columns, and a repeated name would multiply them.
    mapping.set(known, [...new Set([...(mapping.get(known) ?? []), ...names])]);
  }
  if (!mapping.has('name')) {
    throw new ImportError('map', 'The mapping has no column for the name.');
  }
  return mapping;
}

/** How many columns a file may have, and how many of them an error lists. */
export const columnsMax = 1000;
const listedColumnsMax = 60;

/**
 * The mapping for a file with these columns. A table must have all columns that are mapped, each once; elements of JSON can
 * leave out other members than the name.
 * @param isTable whether the columns are those of a header. By default, names of fields have any case there
 * @throws ImportError
 */
export function resolveMapping(mapping: Mapping, columns: readonly string[], isTable: boolean): Mapping {
  if (columns.length > columnsMax) {
    throw new ImportError('file', `The file has more than ${columnsMax} columns.`);
  }
  const isThere = new Set(columns);
  const resolved = isTable && mapping === identityMapping ? mappingInAnyCase(columns) : mapping;
  const names = resolved.get('name') ?? ['name'];
  const required = isTable && resolved.has('name') ? [...resolved.values()].flat() : names;
  const missing = required.filter((column) => !isThere.has(column));
  if (isTable ? missing.length > 0 : missing.length === names.length) {
    throw missingColumns(missing, columns, isTable ? 'row' : 'element');
  }
  if (isTable) {
    refuseRepeated(resolved, columns, mapping === identityMapping);
  }
  return resolved;
}

function mappingInAnyCase(columns: readonly string[]): Mapping {
  const mapping = new Map<ImportField, string[]>();
  for (const field of importFields) {
    const found = columns.filter((column) => column.toLowerCase() === field.toLowerCase());
    if (found.length > 0) {
      mapping.set(field, found);
    }
  }
  return mapping;
}

/** Refuses two columns with the same name: it would be unclear which of them is read. @throws ImportError */
function refuseRepeated(mapping: Mapping, columns: readonly string[], isInAnyCase: boolean): void {
  const keyOf = (column: string) => (isInAnyCase ? column.toLowerCase() : column);
  const read = new Set([...mapping.values()].flat().map(keyOf));
  const seen = new Set<string>();
  for (const column of columns) {
    const key = keyOf(column);
    if (read.has(key) && seen.has(key)) {
      throw new ImportError(
        'file',
        `The file has more than one column "${cut(column)}". Delete one, or give it another name.`,
      );
    }
    seen.add(key);
  }
}

function missingColumns(
  missing: readonly string[],
  columns: readonly string[],
  place: 'row' | 'element',
): ImportError {
  const named = columns.filter((column) => column !== '');
  const listed = named.slice(0, listedColumnsMax);
  const more = listed.length < named.length ? ', ...' : '';
  const quoted = missing.slice(0, listedColumnsMax).map((column) => `"${column}"`);
  return new ImportError(
    'map',
    `The file has no column ${quoted.join(', ')}. Its first ${place} has: ${listed.join(', ')}${more}.`,
  );
}

/** What a row says about a cheese. */
export interface ImportedCheese {
  readonly input: CheeseInput;
  /** Fields with a value, and optional ones that JSON sets to null: those that update an existing cheese. */
  readonly givenFields: readonly CheeseField[];
  /** Kilograms on hand; undefined if the file does not say. */
  readonly stockKg: number | undefined;
  /** Remarks on values that were left out. */
  readonly remarks: readonly string[];
}

/** A cheese is found by its category and name. */
const isClearable = (field: ImportField): field is CheeseField =>
  field !== 'stockKg' && field !== 'category' && !requiredFields.some((required) => required === field);

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
  const cleared: CheeseField[] = [];
  for (const [field, columns] of mapping) {
    const values = columns.map((column) => row[column]);
    const given = values.filter((value) => value !== undefined && value !== null && value !== '');
    if (given.length === 0) {
      if (isClearable(field) && values.includes(null)) {
        cleared.push(field);
      }
    } else {
      fields[field] = field === 'tags' ? given.flatMap(readTags) : readField(field, given[0], remarks);
    }
  }
  const { value, errors } = validate(rowSchema, fields);
  requireNoErrors(errors);
  const { stockKg, ...input } = value as CheeseInput & { stockKg?: number };
  const given = Object.keys(input) as CheeseField[];
  return { input, givenFields: [...given, ...cleared], stockKg, remarks };
}

/** The name of a row, which may be refused: cut, and null if it has none. */
export function nameOfRow(row: SourceRow, mapping: Mapping): string | null {
  const names = (mapping.get('name') ?? []).map((column) => row[column]);
  const name = names.find((value): value is string => typeof value === 'string' && value.trim() !== '');
  return name === undefined ? null : cut(name.trim());
}

/** What the cells of a field contain. */
export function findCellKind(field: ImportField): CellKind {
  return field === 'stockKg' ? 'kilograms' : cheeseFields[field].kind;
}

/** Values of JSON are as the API accepts them. */
function readField(field: ImportField, value: unknown, remarks: string[]): unknown {
  return typeof value === 'string' ? readCell(findCellKind(field), value, field, remarks) : value;
}

/** Tags are text separated by commas, or in JSON an array of texts or of objects with a name. */
function readTags(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return value.map((tag) => (typeof tag === 'string' ? { name: tag } : tag));
  }
  return [readField('tags', value, [])].flat();
}
