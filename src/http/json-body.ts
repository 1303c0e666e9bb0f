/** Reads a JSON body. Whatever is wrong with it is 422 with a position: the contract has no 400 for bodies. */
import { invalid } from '../errors.ts';

const depthMax = 64;
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Bytes to a value. Duplicate members: the last wins (as JSON.parse does); `__proto__` is plain data.
 * @throws AppError validation
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  if (text.trim() === '') {
    throw invalid([{ field: '', message: 'a JSON body is required here, and this one is empty' }]);
  }
  if (isDeeperThan(text, depthMax)) {
    throw invalid([{ field: '', message: `the JSON is nested deeper than ${depthMax} levels` }]);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid([{ field: '', message: `the body is not valid JSON${positionOf(error as Error, text)}` }]);
  }
  // Bytes were valid UTF-8, so half a surrogate pair can only have come as an escape.
  if (/\\u[dD][89a-fA-F]/.test(text) && !isWellFormed(value)) {
    throw invalid([
      { field: '', message: 'the body holds half of a surrogate pair, which is no Unicode text' },
    ]);
  }
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid([{ field: '', message: 'the body is not valid UTF-8' }]);
  }
}

/** Counts open brackets outside of strings. */
function isDeeperThan(text: string, max: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index];
    if (char === '"') {
      index = endOfString(text, index);
    } else if (char === '{' || char === '[') {
      depth += 1;
      if (depth > max) {
        return true;
      }
    } else if (char === '}' || char === ']') {
      depth -= 1;
    }
  }
  return false;
}

function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const char = text[index];
    if (char === '\\') {
      index += 1;
    } else if (char === '"') {
      return index;
    }
  }
  return text.length;
}

/** V8 names a position for most faults, and none where the text just ends. */
function positionOf(error: Error, text: string): string {
  const found = /position (\d+)/.exec(error.message)?.[1];
  const position = found === undefined ? text.length : Number(found);
  const before = text.slice(0, position).split('\n');
  return `, at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') {
    return value.isWellFormed();
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member));
  }
  return true;
}
