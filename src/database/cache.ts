/** A cache bounded in bytes, because rows differ in size by a factor of a thousand. */

export interface Cache<T> {
  has(key: string): boolean;
  get(key: string): T | undefined;
  /** A value larger than a sixteenth of the cache is not stored. */
  set(key: string, value: T): void;
  clear(): void;
}

/** Size of an entry without its texts: measured at 150 to 250 bytes. */
const entryBytes = 250;

/** A cache of at most `bytesMax` bytes. It is cleared when they are used up. @param bytesOf size of a value */
export function createCache<T>(bytesMax: number, bytesOf: (value: T) => number = textBytes): Cache<T> {
  const values = new Map<string, T>();
  let bytes = 0;

  const sizeOf = (key: string, value: T) => entryBytes + textBytes(key) + bytesOf(value);

  function clear(): void {
    values.clear();
    bytes = 0;
  }

  return {
    has: (key) => values.has(key),
    get: (key) => values.get(key),
    set(key, value) {
      const size = sizeOf(key, value);
      if (values.has(key)) {
        bytes -= sizeOf(key, values.get(key) as T);
        values.delete(key);
      }
      if (size > bytesMax / 16) {
        return;
      }
      if (bytes + size > bytesMax) {
        clear();
      }
      values.set(key, value);
      bytes += size;
    },
    clear,
  };
}

/** Size of the texts in a row. V8 uses up to two bytes for a character. */
function textBytes(value: unknown): number {
  if (typeof value === 'string') {
    return value.length * 2;
  }
  return typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, member) => sum + textBytes(member), 0)
    : 0;
}
