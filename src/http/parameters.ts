/** Reads query parameters and headers: text that becomes the type its schema names. */
import { addError, type FieldError } from '../errors.ts';
import type { Parameter, Parameters } from '../schema/schema.ts';
import { scalarError } from '../schema/validate.ts';

/** Values by name, and every fault in the order of the declaration. */
interface Reading {
  readonly values: Record<string, unknown>;
  readonly errors: FieldError[];
}

/** Query parameters. Lists take commas and repeats alike; anything else may stand once. */
export function readQuery(declared: Parameters, query: URLSearchParams, isStrict: boolean): Reading {
  const reading: Reading = { values: {}, errors: [] };
  for (const [name, parameter] of Object.entries(declared)) {
    const texts = query.getAll(name);
    if (parameter.type === 'array') {
      readList(name, parameter, texts, reading);
    } else if (texts.length > 1) {
      addError(reading.errors, name, 'may stand only once');
    } else {
      readOne(name, parameter, texts[0], reading);
    }
  }
  if (isStrict) {
    for (const name of new Set(query.keys())) {
      if (!Object.hasOwn(declared, name)) {
        addError(reading.errors, name, 'is not a known parameter');
      }
    }
  }
  return reading;
}

/** Header values, declared in lower case. */
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
      addError(reading.errors, name, 'is required');
    } else if (parameter.default !== undefined) {
      reading.values[name] = parameter.default;
    }
    return;
  }
  const value = convert(parameter, text);
  const fault = value === undefined ? `must be ${wanted(parameter)}` : scalarError(parameter, value);
  if (fault !== null) {
    addError(reading.errors, name, fault);
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
  const elements = [...new Set(texts.flatMap((text) => text.split(',')))];
  const { items = {}, maxItems = Number.POSITIVE_INFINITY } = parameter;
  if (elements.length > maxItems) {
    addError(reading.errors, name, `must name at most ${maxItems} values`);
    return;
  }
  for (const element of elements) {
    const fault =
      element === ''
        ? 'must not hold an empty value'
        : element.includes('\uFFFD')
          ? 'must be Unicode text'
          : scalarError(items, element);
    if (fault !== null) {
      addError(reading.errors, name, fault);
      return;
    }
  }
  reading.values[name] = elements;
}

function convert(parameter: Parameter, text: string): unknown {
  switch (parameter.type) {
    case 'integer':
      return isInt64(text) ? Number(text) : undefined;
    case 'boolean':
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
    default:
      // What was no UTF-8 between the percent signs has become U+FFFD.
      return text.includes('\uFFFD') ? undefined : text;
  }
}

/** Beyond 2^53 the number is rounded: no id is so large, and no other parameter may be. */
function isInt64(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

function wanted(parameter: Parameter): string {
  if (parameter.type === 'integer') {
    const { minimum, maximum } = parameter;
    return minimum !== undefined && maximum !== undefined
      ? `a whole number from ${minimum} to ${maximum}`
      : 'a whole number';
  }
  return parameter.type === 'boolean' ? 'true or false' : 'Unicode text';
}
