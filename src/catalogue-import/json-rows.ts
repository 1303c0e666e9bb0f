/** Reads rows from JSON, as streams: a JSON array, or NDJSON. */
import { measureJson } from '../schema/json-bounds.ts';
import { findRepeatedMember } from '../schema/repeated-members.ts';
import { isWellFormed } from '../schema/well-formed.ts';
import type { SourceRow } from './column-mapping.ts';
import { ImportError } from './import-error.ts';
import { type ImportRow, rowBytesMax } from './import-row.ts';
import { cut } from './row-changes.ts';
import { openTextFile } from './text-file.ts';

/** The lines of a file, each with a JSON object. */
export async function* readNdjson(file: string): AsyncGenerator<ImportRow> {
  const { text: lines, bytesRead } = await openTextFile(file);
  for await (const { text, line } of linesOf(lines)) {
    yield { ...parseText(text), place: `line ${line}`, line, bytesRead: bytesRead() };
  }
}

/**
 * The lines that are not blank. Splits at line feeds only: node:readline also splits at U+2028 and U+2029, which JSON text
 * can contain. Of a line that is too long, only the beginning is returned.
 */
async function* linesOf(source: AsyncIterable<string>): AsyncGenerator<{ text: string; line: number }> {
  let line = 0;
  let rest = '';
  for await (const chunk of source) {
    const ends = chunk.split('\n');
    const last = ends.pop() ?? '';
    for (const end of ends) {
      line += 1;
      const text = rest + end;
      rest = '';
      if (text.trim() !== '') {
        yield { text, line };
      }
    }
    rest = rest.length > rowBytesMax ? rest : rest + last;
  }
  if (rest.trim() !== '') {
    yield { text: rest, line: line + 1 };
  }
}

function parseText(text: string): { row: SourceRow | null; reason?: string } {
  if (text.length > rowBytesMax) {
    return { row: null, reason: 'is larger than 1 MiB' };
  }
  const size = measureJson(text);
  if (size.excess !== null) {
    return { row: null, reason: size.excess };
  }
  try {
    const value: unknown = JSON.parse(text);
    const repeated = findRepeatedMember(text, value, size.members);
    return repeated === null
      ? asRow(value)
      : { row: null, reason: `has ${cut(repeated)} twice: which value counts is not clear` };
  } catch (error) {
    return { row: null, reason: `not valid JSON: ${(error as Error).message}` };
  }
}

/** The elements of a JSON array. @throws ImportError */
export async function* readJson(file: string): AsyncGenerator<ImportRow> {
  const { text: array, bytesRead } = await openTextFile(file);
  let line = 0;
  for await (const text of elementsOf(array)) {
    line += 1;
    const read = parseText(text);
    if (read.reason?.startsWith('not valid JSON')) {
      throw notAnArray(`element ${line} is ${read.reason}`);
    }
    yield { ...read, place: `element ${line}`, line, bytesRead: bytesRead() };
  }
}

/**
 * The texts of the elements of a JSON array, which JSON.parse checks. Of an element that is too long, only the beginning is
 * returned. @throws ImportError
 */
async function* elementsOf(source: AsyncIterable<string>): AsyncGenerator<string> {
  /** Open brackets, the one of the array included. */
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isEnded = false;
  let elements = 0;
  let text = '';
  for await (const chunk of source) {
    let first = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const character = chunk.charCodeAt(at);
      if (isInString) {
        isInString = isEscaped || character !== quote;
        isEscaped = !isEscaped && character === backslash;
        continue;
      }
      if (depth === 0) {
        if (isEnded || character !== openBracket) {
          if (!isBlank(character)) {
            throw notAnArray(isEnded ? 'something follows its end' : 'it does not begin with [');
          }
          continue;
        }
        depth = 1;
        first = at + 1;
        continue;
      }
      if (character === quote) {
        isInString = true;
      } else if (character === openBracket || character === openBrace) {
        depth += 1;
      } else if (depth > 1 && (character === closeBracket || character === closeBrace)) {
        depth -= 1;
      } else if (depth === 1 && (character === comma || character === closeBracket)) {
        text += chunk.slice(first, at);
        first = at + 1;
        isEnded = character === closeBracket;
        depth = isEnded ? 0 : 1;
        if (text.trim() !== '') {
          elements += 1;
          yield text;
        } else if (!isEnded || elements > 0) {
          throw notAnArray('an element is missing');
        }
        text = '';
      }
    }
    text = isEnded || depth === 0 || text.length > rowBytesMax ? text : text + chunk.slice(first);
  }
  if (!isEnded) {
    throw notAnArray('it ends in the middle');
  }
}

const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = [...'"\\,[]{}'].map(
  (character) => character.charCodeAt(0),
);

/** The white space of JSON. */
function isBlank(character: number): boolean {
  return [0x20, 0x0a, 0x0d, 0x09].includes(character);
}

function notAnArray(reason: string): ImportError {
  return new ImportError('file', `The file is not a JSON array: ${reason}.`);
}

function asRow(value: unknown): { row: SourceRow | null; reason?: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { row: null, reason: 'not an object' };
  }
  return isWellFormed(value)
    ? { row: value as SourceRow }
    : { row: null, reason: 'contains half of a surrogate pair, which is not valid Unicode' };
}
