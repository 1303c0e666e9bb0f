/** The words of all names. They are found by their beginnings. */
import { SlotSet } from './slot-set.ts';

/**
 * Words are grouped by so many code units, so that a search looks at the words of one group, and a new word does not
 * move others, as it would in a sorted list.
 */
const groupedBy = 2;

export class WordSets {
  readonly #groups = new Map<string, Map<string, SlotSet>>();

  add(word: string, slot: number): void {
    const start = word.slice(0, groupedBy);
    let group = this.#groups.get(start);
    if (group === undefined) {
      group = new Map();
      this.#groups.set(start, group);
    }
    let set = group.get(word);
    if (set === undefined) {
      set = new SlotSet();
      group.set(word, set);
    }
    set.add(slot);
  }

  /** The sets of the words that begin with a text. */
  startingWith(text: string): SlotSet[] {
    const found: SlotSet[] = [];
    for (const group of this.#groupsFor(text)) {
      for (const [word, set] of group) {
        if (word.startsWith(text)) {
          found.push(set);
        }
      }
    }
    return found;
  }

  named(word: string): SlotSet | undefined {
    return this.#groups.get(word.slice(0, groupedBy))?.get(word);
  }

  /** All sets. */
  *sets(): Generator<SlotSet> {
    for (const group of this.#groups.values()) {
      yield* group.values();
    }
  }

  #groupsFor(text: string): Map<string, SlotSet>[] {
    if (text.length >= groupedBy) {
      const group = this.#groups.get(text.slice(0, groupedBy));
      return group === undefined ? [] : [group];
    }
    return [...this.#groups].flatMap(([start, group]) => (start.startsWith(text) ? [group] : []));
  }
}
