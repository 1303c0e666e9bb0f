/** When two usernames, or two e-mail addresses, are the same. */

/**
 * What uniqueness compares: full-width and other compatible forms are taken for the letters they stand for (NFKC), and
 * case does not count, by way of upper case so that "ß" and "SS" are one.
 */
export function sameName(text: string): string {
  return text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}
