/** Remembers which slots match the filters of lists, for the pages that follow. */
import { type Bits, countBits } from '../search-index/bits.ts';
import type { CatalogueIndex } from '../search-index/catalogue-index.ts';
import { type Filters, keepMatches, liveInRanges } from '../search-index/matches.ts';

const cachedBytesMax = 8 * 1024 * 1024;

export interface Match {
  readonly slots: Bits;
  /** Number of slots: the total of the list. */
  readonly size: number;
}

export class MatchCache {
  #index: CatalogueIndex | null = null;
  #revision = 0;
  #bytes = 0;
  readonly #matches = new Map<string, Match>();

  /**
   * The slots that match, with pauses. null: the index has changed during a pause, and its orders with it.
   * @param words of the filter q
   */
  *find(index: CatalogueIndex, filters: Filters, words: readonly string[]): Generator<void, Match | null> {
    const { revision } = index;
    const key = JSON.stringify(filters);
    const known = this.#of(index).get(key);
    if (known !== undefined) {
      return known;
    }
    const slots = liveInRanges(index, filters);
    yield* keepMatches(index, slots, filters, words);
    if (index.revision !== revision) {
      return null;
    }
    const match = { slots, size: countBits(slots) };
    this.#add(index, key, match);
    return match;
  }

  #add(index: CatalogueIndex, key: string, match: Match): void {
    const bytes = match.slots.byteLength + key.length * 2;
    const matches = this.#of(index);
    if (this.#bytes + bytes > cachedBytesMax) {
      matches.clear();
      this.#bytes = 0;
    }
    matches.set(key, match);
    this.#bytes += bytes;
  }

  #of(index: CatalogueIndex): Map<string, Match> {
    if (index !== this.#index || index.revision !== this.#revision) {
      this.#matches.clear();
      this.#bytes = 0;
      this.#index = index;
      this.#revision = index.revision;
    }
    return this.#matches;
  }
}
