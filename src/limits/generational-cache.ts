/** A cache of bounded size for values that are only needed for a short time after their last use. */
import type { Clock } from '../clock.ts';

export type GenerationalCache<T> = ReturnType<typeof createGenerationalCache<T>>;

/**
 * Keeps a value for `keptMs` after it was last read or set, and for a shorter time if more than `namesMax` names are in
 * use; it never has more than twice as many. There are two generations: a value that is read moves to the young one,
 * and the old one is dropped as a whole.
 */
export function createGenerationalCache<T>(namesMax: number, keptMs: number, clock: Clock) {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  let startedAt = clock.now();

  function startGenerationIfDue(): void {
    const now = clock.now();
    // The clock may have been ahead when the generation started.
    const ageMs = Math.abs(now - startedAt);
    if (young.size >= namesMax || ageMs >= keptMs) {
      // A pause of that length means that the young generation has expired too.
      old = ageMs >= 2 * keptMs ? new Map() : young;
      young = new Map();
      startedAt = now;
    }
  }

  return {
    get(name: string): T | undefined {
      startGenerationIfDue();
      const value = young.get(name) ?? old.get(name);
      if (value !== undefined && !young.has(name)) {
        young.set(name, value);
      }
      return value;
    },
    /** Returns the value. */
    set(name: string, value: T): T {
      startGenerationIfDue();
      young.set(name, value);
      return value;
    },
    *entries(): Iterable<readonly [string, T]> {
      yield* young;
      for (const [name, value] of old) {
        if (!young.has(name)) {
          yield [name, value];
        }
      }
    },
  };
}
