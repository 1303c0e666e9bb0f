/** A memory of whoever came by lately, of bounded size. */
import type { Clock } from '../clock.ts';

export interface GenerationalCache<T> {
  get(name: string): T | undefined;
  /** Returns the value. */
  set(name: string, value: T): T;
  entries(): Iterable<readonly [string, T]>;
}

/**
 * Forgets what was not asked for during `keptMs`, and sooner where there are more than `namesMax` names at once; twice
 * as many are held at most. Two generations: what is asked for moves into the younger, the older is dropped whole.
 */
export function createGenerationalCache<T>(
  namesMax: number,
  keptMs: number,
  clock: Clock,
): GenerationalCache<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  let bornAt = clock.now();

  function age(): void {
    const now = clock.now();
    // The clock may have been ahead at birth.
    const ageMs = Math.abs(now - bornAt);
    if (young.size >= namesMax || ageMs >= keptMs) {
      // After a silence as long as that, both are of no interest.
      old = ageMs >= 2 * keptMs ? new Map() : young;
      young = new Map();
      bornAt = now;
    }
  }

  return {
    get(name) {
      age();
      const value = young.get(name) ?? old.get(name);
      if (value !== undefined && !young.has(name)) {
        young.set(name, value);
      }
      return value;
    },
    set(name, value) {
      age();
      young.set(name, value);
      return value;
    },
    *entries() {
      yield* young;
      for (const [name, value] of old) {
        if (!young.has(name)) {
          yield [name, value] as const;
        }
      }
    },
  };
}
