/** Decides whether two usernames or two e-mail addresses are equal. */

/** Joiners and variation selectors. The rule for usernames permits them only where they have no width. */
const withoutWidth = /\p{Join_Control}|[\ufe0e\ufe0f]/gu;

/**
 * The form that uniqueness compares. Full-width and other compatible characters become usual ones (NFKC). Case is
 * removed by way of upper case, so that "ß" equals "SS". Joiners and variation selectors are removed, because a name can
 * look the same with and without them.
 */
export function caseFold(text: string): string {
  const visible = text.replace(withoutWidth, '');
  return visible.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}
