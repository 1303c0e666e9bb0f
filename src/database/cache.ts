/** A cache whose memory is bounded in bytes: the number of its entries says little, as rows differ in size a thousandfold. */

export interface Cache<T> {
  has(key: string): boolean;
  get(key: string): T | undefined;
  /** A value that takes more than a sixteenth of the cache is not kept. */
  set(key: string, value: T): void;
  clear(): void;
}

/** Of an entry without its texts: measured at 150 to 250. */
const entryBytes = 250;

/** Holds at most `bytesMax` bytes, and is emptied when they are used up. */
export function createCache<T>(bytesMax: number): Cache<T> {
  const values = new Map<string, T>();
  let bytes = 0;

  function clear(): void {
    values.clear();
    bytes = 0;
  }

  return {
    has: (key) => values.has(key),
    get: (key) => values.get(key),
    set(key, value) {
      const size = entryBytes + textBytes(key) + textBytes(value);
      if (values.has(key)) {
        bytes -= entryBytes + textBytes(key) + textBytes(values.get(key));
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

/** Of the texts in a row; V8 takes up to two bytes for a character. */
function textBytes(value: unknown): number {
  if (typeof value === 'string') {
    return value.length * 2;
  }
  return typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, member) => sum + textBytes(member), 0)
    : 0;
}
