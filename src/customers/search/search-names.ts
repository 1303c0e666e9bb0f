/** The folded names by which customers are found. */
import { foldText } from '../../schema/folding.ts';

/** Characters. Some characters fold to eighteen, and an index of PostgreSQL refuses texts above 2,700 bytes. */
const foldedMax = 200;

export function foldName(text: string): string {
  const folded = foldText(text);
  return folded.length <= foldedMax ? folded : [...folded].slice(0, foldedMax).join('');
}

/** The columns of a customer. */
export function searchNames({
  first_name,
  last_name,
}: {
  readonly first_name: string;
  readonly last_name: string;
}): { readonly lastFirst: string; readonly firstLast: string } {
  return {
    lastFirst: foldName(`${last_name} ${first_name}`),
    firstLast: foldName(`${first_name} ${last_name}`),
  };
}
