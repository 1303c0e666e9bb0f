/** Parses JSON bodies. Every error is 422 with a position: the contract has no 400 for bodies. */
import { addError, type FieldError, validationError } from '../../errors.ts';
import { endOfString, measureJson } from '../../schema/json-bounds.ts';
import { findRepeatedMember } from '../../schema/repeated-members.ts';
import { isWellFormed } from '../../schema/well-formed.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * `__proto__` is plain data.
 * @param valuesMax if not that of every body
 * @throws AppError validation
 */
export function parseJson(bytes: Uint8Array, valuesMax?: number): unknown {
  const text = decode(bytes);
  if (text.trim() === '') {
    throw validationError([{ field: '', message: 'a JSON body is required here, and this one is empty' }]);
  }
  const size = measureJson(text, valuesMax);
  if (size.excess !== null) {
    throw validationError([{ field: '', message: `the JSON ${size.excess}` }]);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw validationError([
      { field: '', message: `the body is not valid JSON${positionOf(error as Error, text)}` },
    ]);
  }
  const repeated = findRepeatedMember(text, value, size.members);
  if (repeated !== null) {
    const errors: FieldError[] = [];
    addError(errors, repeated, 'is in the body twice: send it once');
    throw validationError(errors);
  }
  // The bytes are valid UTF-8, so half of a surrogate pair can only be written as an escape.
  if (/\\u[dD][89a-fA-F]/.test(text) && !isWellFormed(value)) {
    throw validationError([
      { field: '', message: 'the body contains half of a surrogate pair, which is not Unicode text' },
    ]);
  }
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw validationError([{ field: '', message: 'the body is not valid UTF-8' }]);
  }
}

/**
 * V8 reports a position for most errors, but not when the text ends early or a token is out of place. Clients need the
 * position in both cases, so it is found here.
 */
function positionOf(error: Error, text: string): string {
  const found = / JSON at position (\d+) \(line \d+ column \d+\)$/.exec(error.message)?.[1];
  const isToken = found === undefined && error.message.startsWith('Unexpected token');
  const position = found !== undefined ? Number(found) : isToken ? unexpectedAt(text) : text.length;
  const before = text.slice(0, position).split('\n');
  return `, at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** The position of the first token that cannot be a value, where one is expected. The text before it is well-formed. */
function unexpectedAt(text: string): number {
  const number = /-?\d[\d.eE+-]*/y;
  const open: string[] = [];
  let isValueExpected = true;
  let previous = '';
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] ?? '';
    if (/[ \t\r\n]/.test(char)) {
      continue;
    }
    if (char === '"') {
      index = endOfString(text, index);
      isValueExpected = false;
    } else if (char === '{' || char === '[') {
      open.push(char);
      isValueExpected = char === '[';
    } else if (char === ':') {
      isValueExpected = true;
    } else if (char === ',' && !isValueExpected) {
      isValueExpected = open.at(-1) === '[';
    } else if (
      (char === ']' && (!isValueExpected || previous === '[')) ||
      (char === '}' && !isValueExpected)
    ) {
      open.pop();
      isValueExpected = false;
    } else {
      const word = ['true', 'false', 'null'].find((literal) => literal.startsWith(char)) ?? '';
      number.lastIndex = index;
      if (text.startsWith(word, index) && word !== '') {
        index += word.length - 1;
      } else if (number.test(text)) {
        index = number.lastIndex - 1;
      } else {
        return (
          index +
          [...word].findIndex((letter, offset) => text[index + offset] !== letter) +
          (word === '' ? 1 : 0)
        );
      }
      isValueExpected = false;
    }
    previous = char;
  }
  return text.length;
}
