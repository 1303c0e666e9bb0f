/** Query parameters and headers: text that is converted to the type in its schema, and validated. */
import { addError, badRequestError, type FieldError, validationError } from '../../errors.ts';
import type { Parameter, Parameters, Schema } from '../../schema/schema.ts';
import { cleanScalar, scalarError } from '../../schema/validate.ts';
import type { Route } from '../route.ts';

/** Values by name, and every error in the order of the declaration. */
interface Reading {
  readonly values: Record<string, unknown>;
  readonly errors: FieldError[];
}

/** @throws AppError badRequest or validation when there are errors */
export function throwIfInvalid(errors: readonly FieldError[], as: 'badRequest' | 'validation'): void {
  if (errors.length > 0) {
    throw as === 'validation' ? validationError(errors) : badRequestError(errors);
  }
}

/** The errors of a query or body, with one for each given field that the route cannot change. */
export function unchangeableErrors(
  { unchangeable }: Route,
  params: Readonly<Record<string, string>>,
  errors: readonly FieldError[],
  isGiven: (name: string) => boolean,
): readonly FieldError[] {
  if (unchangeable === undefined) {
    return errors;
  }
  const fields = unchangeable.fields.filter(isGiven);
  const remedy = fields.length === 0 ? '' : unchangeable.remedy(params);
  return [
    ...errors.filter(({ field }) => !fields.includes(field)),
    ...fields.map((field) => ({ field, message: `cannot be changed here: ${remedy}` })),
  ];
}

/** Reads query parameters. A list can be separated by commas or repeated; other parameters can be sent once. */
export function readQuery(
  declared: Parameters,
  query: URLSearchParams,
  isStrict: boolean,
  /** A parameter that the pipeline reads. */
  other?: string,
): Reading {
  const reading: Reading = { values: {}, errors: [] };
  // Object.entries would copy the parameters for every request.
  for (const name in declared) {
    const parameter = declared[name] as Parameter;
    const texts = query.size === 0 ? [] : query.getAll(name);
    if (parameter.type === 'array') {
      readList(name, parameter, texts, reading);
    } else if (texts.length > 1) {
      addError(reading.errors, name, 'must be sent only once');
    } else {
      readOne(name, parameter, texts[0], reading);
    }
  }
  for (const name of query.size === 0 ? [] : new Set(query.keys())) {
    const remedy = bracketRemedy(name, declared);
    if (remedy !== null) {
      addError(reading.errors, name, remedy);
    } else if (isStrict && name !== other && !Object.hasOwn(declared, name)) {
      addError(reading.errors, name, 'is not a known parameter');
    }
  }
  return reading;
}

/**
 * What to send in place of a known name in brackets, such as `status[]`, `status[0]` or `filter[status]`: frameworks and
 * HTTP clients write lists and conditions so. Null for other names, which are ignored or unknown.
 */
export function bracketRemedy(name: string, known: Readonly<Record<string, Schema>>): string | null {
  if (!/[[\]]|%5[bd]/i.test(name)) {
    return null;
  }
  const meant = name.split(/[[\]]|%5[bd]/i).find((part) => Object.hasOwn(known, part));
  if (meant === undefined) {
    return null;
  }
  const isList = known[meant]?.type === 'array';
  return `has brackets, which are not read: send ${meant}${isList ? ', with its values separated by commas or each in a parameter' : ''}`;
}

/** Reads headers. */
export function readHeaders(
  declared: Parameters,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Reading {
  const reading: Reading = { values: {}, errors: [] };
  for (const [name, parameter] of Object.entries(declared)) {
    const value = headers[name.toLowerCase()];
    readOne(name, parameter, Array.isArray(value) ? value.join(', ') : value, reading);
  }
  return reading;
}

function readOne(name: string, parameter: Parameter, text: string | undefined, reading: Reading): void {
  if (text === undefined) {
    if (parameter.isRequired) {
      const only = parameter.enum?.length === 1 ? `: send ${parameter.enum[0]}` : '';
      addError(reading.errors, name, `is required${only}`);
    } else if (parameter.default !== undefined) {
      reading.values[name] = parameter.default;
    }
    return;
  }
  const value = cleanScalar(parameter, convert(parameter, text));
  const message = value === undefined ? `must be ${expectedType(parameter)}` : scalarError(parameter, value);
  if (message !== null) {
    addError(reading.errors, name, message);
  } else {
    reading.values[name] = value;
  }
}

function readList(name: string, parameter: Parameter, texts: readonly string[], reading: Reading): void {
  if (texts.length === 0) {
    if (parameter.isRequired) {
      addError(reading.errors, name, 'is required');
    }
    return;
  }
  const { items = {}, maxItems = Number.POSITIVE_INFINITY } = parameter;
  const given = texts.flatMap((text) => text.split(','));
  const elements = [...new Set(given.map((text) => cleanScalar(items, text)))];
  if (elements.length > maxItems) {
    addError(reading.errors, name, `must have at most ${maxItems} values`);
    return;
  }
  for (const element of elements) {
    const message =
      element === ''
        ? 'must not contain an empty value'
        : element.includes('\uFFFD')
          ? 'must be Unicode text'
          : scalarError(items, element);
    if (message !== null) {
      addError(reading.errors, name, message);
      return;
    }
  }
  reading.values[name] = elements;
}

function convert(parameter: Parameter, text: string): unknown {
  switch (parameter.type) {
    case 'integer':
      return isInt64(text) ? Number(text) : undefined;
    case 'number':
      return /^-?\d{1,19}(\.\d{1,19})?$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
    default:
      // Percent-encoded bytes that are not UTF-8 were decoded to U+FFFD.
      return text.includes('\uFFFD') ? undefined : text;
  }
}

/** A number above 2^53 is rounded later. No id is that large, and other parameters have smaller maxima. */
function isInt64(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

function expectedType(parameter: Parameter): string {
  if (parameter.enum?.length === 1) {
    return String(parameter.enum[0]);
  }
  if (parameter.type === 'integer') {
    const { minimum, maximum } = parameter;
    return minimum !== undefined && maximum !== undefined
      ? `a whole number from ${minimum} to ${maximum}`
      : 'a whole number';
  }
  if (parameter.type === 'number') {
    return `a decimal number from ${parameter.minimum} to ${parameter.maximum}`;
  }
  return parameter.type === 'boolean' ? 'true or false' : 'Unicode text';
}
