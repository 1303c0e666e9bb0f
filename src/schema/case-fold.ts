/** Decides whether two usernames or two e-mail addresses are equal. */

import { withoutInvisible } from './folding.ts';

/**
 * The form that uniqueness compares. Full-width and other compatible characters become usual ones (NFKC). Case is
 * removed by way of upper case, so that "ß" equals "SS". Blanks at the ends, which keyboards of phones add, are removed.
 */
export function caseFold(text: string): string {
  const visible = withoutInvisible(text);
  return visible.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim();
}
