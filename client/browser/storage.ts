/** Values that a page keeps: in memory, or over a reload. */

/** `sessionStorage`, `localStorage`, or anything of their shape. */
export interface TokenStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** A JSON value in a storage. */
export interface StorageEntry<T> {
  read(): T | null;
  write(value: T): void;
  remove(): void;
}

export function storageEntry<T>(storage: TokenStorage, key: string): StorageEntry<T> {
  return {
    read: () => JSON.parse(storage.getItem(key) ?? 'null'),
    write: (value) => storage.setItem(key, JSON.stringify(value)),
    remove: () => storage.removeItem(key),
  };
}

/** A value that a reload forgets. */
export function memoryEntry<T>(): StorageEntry<T> {
  let current: T | null = null;
  return {
    read: () => current,
    write: (value) => {
      current = value;
    },
    remove: () => {
      current = null;
    },
  };
}

/** A value in `sessionStorage`; in memory if there is none, or the browser forbids it to the page. */
export function sessionEntry<T>(key: string): StorageEntry<T> {
  try {
    const { sessionStorage } = globalThis as unknown as { readonly sessionStorage: TokenStorage };
    sessionStorage.getItem(key);
    return storageEntry(sessionStorage, key);
  } catch {
    return memoryEntry();
  }
}
