/**
 * Validates a value against a schema. Returns all validation errors in the order of the schema, and a copy with
 * declared members only.
 *
 * The copy follows two rules that general validators do not have: null for an optional member that is not nullable
 * counts as absent, and unknown members are dropped unless the client requires strict handling (RFC 7240).
 */
import { decimalOf } from '../decimal.ts';
import { addError, type FieldError, isFull } from '../errors.ts';
import type { BatchEntry } from './batch.ts';
import type { Schema } from './schema.ts';
import { noControlRule } from './text-rules.ts';

/** When `errors` is empty, the returned `value` is the copy. */
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
    const members = field === '' ? '' : membersOf(schema);
    const names = types.map((name) => `${typeNames[name] ?? name}${name === 'object' ? members : ''}`);
    fail(`must be ${names.join(' or ')}`);
  } else if (type === 'object') {
    return validateObject(schema, value as Record<string, unknown>, field, isStrict, errors);
  } else if (type === 'array') {
    return validateArray(schema, value as unknown[], field, isStrict, errors);
  } else {
    const cleaned = cleanScalar(schema, value);
    const message = scalarError(schema, cleaned);
    if (message !== null) {
      fail(message);
    }
    return cleaned;
  }
  return value;
}

/** What is checked and stored in place of a string, number or boolean. */
export function cleanScalar<T>({ rule }: Schema, value: T): T | string {
  return typeof value === 'string' && rule?.clean !== undefined ? rule.clean(value) : value;
}

function validateObject(
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
      if (given === null && (isRequired || property.refusesNull)) {
        addError(errors, path, 'is required and must not be null');
      } else if (isRequired) {
        addError(errors, path, 'is required');
      }
      continue;
    }
    copy[name] = validateValue(property, given, path, isStrict, errors);
  }
  if (isStrict && schema.additionalProperties !== true) {
    for (const name of Object.keys(value)) {
      if (isFull(errors)) {
        break;
      }
      if (!Object.hasOwn(properties, name)) {
        addError(errors, field === '' ? name : `${field}.${name}`, 'is not a known field');
      }
    }
  }
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const { length } = Object.keys(copy);
  if (length < minProperties || length > maxProperties) {
    const count = maxProperties === 1 ? 'exactly one' : 'at least one';
    addError(errors, field, `must have ${count} of ${Object.keys(properties).join(', ')}`);
  }
  // Members of any name cannot be copied one by one: `__proto__` is not data there.
  return schema.additionalProperties === true ? value : copy;
}

function validateArray(
  schema: Schema,
  value: unknown[],
  field: string,
  isStrict: boolean,
  errors: FieldError[],
): unknown[] {
  if (value.length < (schema.minItems ?? 0)) {
    const { minItems } = schema;
    addError(errors, field, minItems === 1 ? 'must not be empty' : `must have at least ${minItems} elements`);
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

/** The error of a string, number or boolean that has the type of the schema; null without one. */
export function scalarError(schema: Schema, value: unknown): string | null {
  if (schema.enum !== undefined && !schema.enum.includes(value as string | boolean)) {
    const options = schema.enum.filter((option) => option !== null);
    return `must be ${options.length === 1 ? '' : 'one of '}${options.join(', ')}`;
  }
  if (typeof value === 'string') {
    return textError(schema, value);
  }
  if (typeof value === 'number') {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
    if (value < minimum || value > maximum) {
      return Number.isFinite(minimum) && Number.isFinite(maximum)
        ? `must be from ${minimum} to ${maximum}`
        : `must be ${value < minimum ? `${minimum} or more` : `${maximum} or less`}`;
    }
    const { decimals } = schema;
    if (decimals !== undefined && decimalOf(value).scale > decimals) {
      return `must have at most ${decimals} decimals`;
    }
  }
  return null;
}

function textError(schema: Schema, text: string): string | null {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  // Code points are counted only when the number of UTF-16 units does not decide.
  const length = text.length > maxLength || text.length < minLength * 2 ? codePoints(text) : text.length;
  if (length < minLength) {
    return minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`;
  }
  if (length > maxLength) {
    return `must have at most ${maxLength} characters`;
  }
  // A text that may have line breaks says so with its own rule.
  const { rule = noControlRule } = schema;
  return rule.test(text) ? null : rule.message;
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

/** " {id, name}": the first members that an object of the schema may have. */
function membersOf({ properties = {} }: Schema): string {
  const names = Object.keys(properties).filter((name) => !properties[name]?.readOnly);
  return names.length === 0 ? '' : ` {${names.slice(0, 5).join(', ')}}`;
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
      // The other names are those of typeof.
      return typeof value === type;
  }
}
