/** When two usernames, or two e-mail addresses, are the same. */

/** Joiners and variation selectors: format `username` allows them where they have no width of their own. */
const withoutWidth = /\p{Join_Control}|[\ufe0e\ufe0f]/gu;

/**
 * What uniqueness compares: full-width and other compatible forms are taken for the letters they stand for (NFKC), and
 * case does not count, by way of upper case so that "ß" and "SS" are one.
 * Joiners and variation selectors do not count: with and without them, a name can look the same.
 */
export function caseFold(text: string): string {
  const visible = text.replace(withoutWidth, '');
  return visible.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}
