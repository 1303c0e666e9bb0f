/** Whether texts are valid Unicode: escapes in JSON can contain half of a surrogate pair. */

/** Whether every string in a JSON value, member names included, has complete surrogate pairs. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') {
    return value.isWellFormed();
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member));
  }
  return true;
}
