/** Remembers what was computed from an index. */
import { createCache } from '../../database/cache.ts';
import type { CatalogueIndex } from './catalogue-index.ts';

export class IndexCache<T> {
  readonly #results;
  /** Results of another index are forgotten, because they can keep it in memory. */
  #index: CatalogueIndex | null = null;

  constructor(bytesMax: number, bytesOf: (result: T) => number) {
    this.#results = createCache<T>(bytesMax, bytesOf);
  }

  /** @param steps compute the result for this revision, also if the index changes during their pauses */
  *find(
    index: CatalogueIndex,
    revision: number,
    filters: string,
    steps: () => Generator<void, T>,
  ): Generator<void, T> {
    if (this.#index !== index) {
      this.#results.clear();
      this.#index = index;
    }
    const key = `${revision} ${filters}`;
    const known = this.#results.get(key);
    if (known !== undefined) {
      return known;
    }
    const result = yield* steps();
    if (this.#index === index) {
      this.#results.set(key, result);
    }
    return result;
  }
}
