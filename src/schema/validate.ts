/**
 * Holds a value against a schema: all faults at once, in the order of the schema, in words for the caller, and a
 * clean copy that carries declared members only.
 *
 * A general validator gives neither of the copy's two rules: null for an optional member that is not nullable
 * counts as absent, and unknown members are dropped unless the caller asked for strictness (RFC 7240).
 */
import { addError, type FieldError, isFull } from '../errors.ts';
import type { BatchEntry } from './batch.ts';
import type { Schema } from './schema.ts';

/** Checks `value`; where `errors` is empty, `value` is the clean copy. */
export function validate(
  schema: Schema,
  value: unknown,
  isStrict = false,
): { value: unknown; errors: FieldError[] } {
  const errors: FieldError[] = [];
  return { value: validateValue(schema, value, '', isStrict, errors), errors };
}

function validateValue(
  schema: Schema,
  value: unknown,
  field: string,
  isStrict: boolean,
  errors: FieldError[],
): unknown {
  const types = typesOf(schema);
  const type = types.find((candidate) => hasType(value, candidate));
  const fail = (message: string) => addError(errors, field, message);
  if (type === undefined) {
    fail(`must be ${types.map((name) => typeNames[name] ?? name).join(' or ')}`);
  } else if (type === 'object') {
    return walkObject(schema, value as Record<string, unknown>, field, isStrict, errors);
  } else if (type === 'array') {
    return walkArray(schema, value as unknown[], field, isStrict, errors);
  } else {
    const message = scalarError(schema, value);
    if (message !== null) {
      fail(message);
    }
  }
  return value;
}

function walkObject(
  schema: Schema,
  value: Record<string, unknown>,
  field: string,
  isStrict: boolean,
  errors: FieldError[],
): Record<string, unknown> {
  const properties = schema.properties ?? {};
  const copy: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const path = field === '' ? name : `${field}.${name}`;
    if (property.readOnly) {
      continue;
    }
    const isRequired = schema.required?.includes(name) ?? false;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined || (given === null && !typesOf(property).includes('null'))) {
      if (isRequired) {
        addError(errors, path, given === null ? 'is required and must not be null' : 'is required');
      }
      continue;
    }
    copy[name] = validateValue(property, given, path, isStrict, errors);
  }
  if (isStrict) {
    for (const name of Object.keys(value)) {
      if (isFull(errors)) {
        break;
      }
      if (!Object.hasOwn(properties, name)) {
        addError(errors, field === '' ? name : `${field}.${name}`, 'is not a known field');
      }
    }
  }
  if (Object.keys(copy).length < (schema.minProperties ?? 0)) {
    addError(errors, field, `must have at least one of ${Object.keys(properties).join(', ')}`);
  }
  return copy;
}

function walkArray(
  schema: Schema,
  value: unknown[],
  field: string,
  isStrict: boolean,
  errors: FieldError[],
): unknown[] {
  if (value.length < (schema.minItems ?? 0)) {
    const least = schema.minItems;
    addError(errors, field, least === 1 ? 'must not be empty' : `must have at least ${least} elements`);
  }
  if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) {
    addError(errors, field, `must have at most ${schema.maxItems} elements`);
    return value;
  }
  const { items } = schema;
  if (items !== undefined && schema.isBatch) {
    return value.map((element) => toBatchEntry(validate(items, element, isStrict)));
  }
  return items === undefined
    ? value
    : value.map((element, index) => validateValue(items, element, `${field}[${index}]`, isStrict, errors));
}

function toBatchEntry({ value, errors }: ReturnType<typeof validate>): BatchEntry<unknown> {
  return errors.length > 0 ? { errors } : { value };
}

/** What is wrong with a string, number or boolean of the right type, or null. Parameters use this too. */
export function scalarError(schema: Schema, value: unknown): string | null {
  if (schema.enum !== undefined && !schema.enum.includes(value as string | boolean)) {
    return `must be one of ${schema.enum.filter((option) => option !== null).join(', ')}`;
  }
  if (typeof value === 'string') {
    return faultOfText(schema, value);
  }
  if (typeof value === 'number') {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
    if (value < minimum || value > maximum) {
      return Number.isFinite(minimum) && Number.isFinite(maximum)
        ? `must be from ${minimum} to ${maximum}`
        : `must be ${value < minimum ? `${minimum} or more` : `${maximum} or less`}`;
    }
  }
  return null;
}

function faultOfText(schema: Schema, text: string): string | null {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  // Counted in code points, and only where the cheap count of UTF-16 units leaves it open.
  const length = text.length > maxLength || text.length < minLength * 2 ? codePoints(text) : text.length;
  if (length < minLength) {
    return minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`;
  }
  if (length > maxLength) {
    return `must have at most ${maxLength} characters`;
  }
  const { rule } = schema;
  return rule === undefined || rule.test(text) ? null : rule.message;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) {
    count += 1;
  }
  return count;
}

function typesOf(schema: Schema): readonly string[] {
  return typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      // The remaining names are those of typeof.
      return typeof value === type;
  }
}
