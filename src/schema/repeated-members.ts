/** Finds members that an object of a JSON text has twice. JSON.parse keeps the last one, and other parsers the first. */
import { endOfString } from './json-bounds.ts';

/**
 * The path of the first repeated member, such as `category.name`; null without one.
 * @param text valid JSON
 * @param members what `measureJson` has counted in the text: it is only searched if the value has fewer
 */
export function findRepeatedMember(text: string, value: unknown, members: number): string | null {
  return countMembers(value) === members ? null : searchRepeatedMember(text);
}

/** Every body is counted, so nothing is allocated. */
function countMembers(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) {
      count += typeof element === 'object' ? countMembers(element) : 0;
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) {
      const member = (value as Readonly<Record<string, unknown>>)[name];
      count += typeof member === 'object' ? 1 + countMembers(member) : 1;
    }
  }
  return count;
}

/** An open object or array. */
interface Open {
  readonly path: string;
  /** The names of an object; null for an array. */
  readonly names: Set<string> | null;
  /** The place of its current value. */
  place: string;
  elements: number;
}

function searchRepeatedMember(text: string): string | null {
  const open: Open[] = [];
  let string = '';
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index];
    const current = open.at(-1);
    if (char === '"') {
      const end = endOfString(text, index);
      string = text.slice(index, end + 1);
      index = end;
    } else if (char === '{' || char === '[') {
      const path = current?.place ?? '';
      open.push({ path, names: char === '{' ? new Set() : null, place: `${path}[0]`, elements: 0 });
    } else if (char === '}' || char === ']') {
      open.pop();
    } else if (char === ',' && current?.names === null) {
      current.elements += 1;
      current.place = `${current.path}[${current.elements}]`;
    } else if (char === ':' && current !== undefined) {
      const name = JSON.parse(string) as string;
      current.place = current.path === '' ? name : `${current.path}.${name}`;
      if (current.names?.has(name)) {
        return current.place;
      }
      current.names?.add(name);
    }
  }
  return null;
}
