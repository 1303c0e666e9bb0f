/**
 * Validates a value against a schema. Returns all validation errors in the order of the schema, and a copy with
 * declared members only.
 *
 * The copy follows two rules that general validators do not have: null for an optional member that is not nullable
 * counts as absent, and unknown members are dropped unless the client requires strict handling (RFC 7240).
 */
import { toDecimal } from '../decimal.ts';
import { addError, type FieldError } from '../errors.ts';
import type { BatchEntry } from './batch.ts';
import type { Schema } from './schema.ts';
import { noControlRule } from './text-rules.ts';

/** Unknown members that were dropped. */
export interface IgnoredMembers {
  count: number;
  /** Paths of the first ones. The client chooses names, so there are bounds of number and length. */
  readonly paths: string[];
}

/** Clients send back what they have read: these are not counted, also if the schema does not declare them. */
const serverSetNames: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt']);
const ignoredPathsMax = 10;
const ignoredPathLengthMax = 500;

/** What one validation has found. */
interface Findings {
  readonly isStrict: boolean;
  readonly errors: FieldError[];
  readonly ignored: IgnoredMembers;
}

/** When `errors` is empty, the returned `value` is the copy. With `isStrict`, no member is ignored. */
export function validate(
  schema: Schema,
  value: unknown,
  isStrict = false,
): { value: unknown; errors: FieldError[]; ignored: IgnoredMembers } {
  const findings: Findings = { isStrict, errors: [], ignored: { count: 0, paths: [] } };
  const copy = validateValue(schema, value, '', findings);
  return { value: copy, errors: findings.errors, ignored: findings.ignored };
}

function validateValue(schema: Schema, value: unknown, field: string, findings: Findings): unknown {
  const types = typesOf(schema);
  const type = types.find((candidate) => hasType(value, candidate));
  const fail = (message: string) => addError(findings.errors, field, message);
  if (type === undefined) {
    const members = field === '' ? '' : membersOf(schema);
    const names = types.map((name) => `${typeNames[name] ?? name}${name === 'object' ? members : ''}`);
    fail(`must be ${names.join(' or ')}`);
  } else if (type === 'object') {
    return validateObject(schema, value as Record<string, unknown>, field, findings);
  } else if (type === 'array') {
    return validateArray(schema, value as unknown[], field, findings);
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
  findings: Findings,
): Record<string, unknown> {
  const { properties = {} } = schema;
  const { isStrict, errors } = findings;
  // Members are validated later, so that the paths of the outer ones come first.
  const unknown = schema.additionalProperties === true ? [] : unknownNames(properties, value);
  if (!isStrict && unknown.length > 0) {
    const names = unknown.filter((name) => !serverSetNames.has(name));
    ignore(
      findings.ignored,
      names.map((name) => pathOf(field, name)),
    );
  }
  const copy: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (property.readOnly) {
      continue;
    }
    const path = pathOf(field, name);
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
    copy[name] = validateValue(property, given, path, findings);
  }
  if (isStrict) {
    for (const name of unknown) {
      addError(errors, pathOf(field, name), 'is not a known field');
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

function pathOf(field: string, name: string): string {
  return field === '' ? name : `${field}.${name}`;
}

function unknownNames(properties: object, value: object): string[] {
  return Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
}

function ignore(ignored: IgnoredMembers, paths: readonly string[], count = paths.length): void {
  ignored.count += count;
  const shown = paths.filter((path) => path !== '' && path.length <= ignoredPathLengthMax);
  ignored.paths.push(...shown.slice(0, ignoredPathsMax - ignored.paths.length));
}

function validateArray(schema: Schema, value: unknown[], field: string, findings: Findings): unknown[] {
  const { isStrict, errors, ignored } = findings;
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
    return value.map((element, index) => {
      const entry = validate(items, element, isStrict);
      ignore(
        ignored,
        entry.ignored.paths.map((path) => `${field}[${index}].${path}`),
        entry.ignored.count,
      );
      return toBatchEntry(entry);
    });
  }
  return items === undefined
    ? value
    : value.map((element, index) => validateValue(items, element, `${field}[${index}]`, findings));
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
    if (decimals !== undefined && toDecimal(value).scale > decimals) {
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
