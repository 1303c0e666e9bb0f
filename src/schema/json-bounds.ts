/** Bounds of a JSON text, checked before it is parsed: JSON.parse blocks the server, and is slow for many members. */

export const depthMax = 64;
export const valuesMax = 10_000;

/** What is too much in a text, which need not be valid JSON; or how many members its objects have. */
export type JsonSize = { readonly excess: string } | { readonly excess: null; readonly members: number };

/** @param most values, if not those of every body */
export function measureJson(text: string, most = valuesMax): JsonSize {
  let depth = 0;
  let values = 1;
  let members = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index];
    if (char === '"') {
      index = endOfString(text, index);
    } else if (char === '{' || char === '[') {
      depth += 1;
      values += 1;
    } else if (char === ',') {
      values += 1;
    } else if (char === ':') {
      members += 1;
    } else if (char === '}' || char === ']') {
      depth -= 1;
    }
    if (depth > depthMax) {
      return { excess: `is nested deeper than ${depthMax} levels` };
    }
    if (values > most) {
      return { excess: `has more than ${most} values` };
    }
  }
  return { excess: null, members };
}

/** The index of the quote that ends the string that starts at this index, or the end of the text. */
export function endOfString(text: string, start: number): number {
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
