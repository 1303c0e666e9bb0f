/** The slots of the cheeses that have one value, such as a tag or a word of the name. */
import { type Bits, countCommon, hasBit, intersect, newBits, setBit, withRoom } from './bits.ts';

/** Shorter lists stay lists: a bitmap begins at slot 0, also for slots at the end of a large catalogue. */
const bitmapSizeMin = 1024;
/** A slot of a list takes 8 bytes, as much as 64 slots of a bitmap. */
const slotsOfAnEntry = 64;

/**
 * A sorted list while it is sparse, a bitmap once that is smaller. Slots are only added, so a reader that ignores slots
 * above a number reads the same set at any time.
 */
export class SlotSet {
  #list: number[] | null = null;
  #bits: Bits | null = null;
  #size = 0;

  /** How many slots are in the set, also those of replaced and deleted cheeses. */
  get size(): number {
    return this.#size;
  }

  /** @param slot higher than all others, or the last one again */
  add(slot: number): void {
    if (this.#bits !== null) {
      if (!hasBit(this.#bits, slot)) {
        this.#bits = withRoom(this.#bits, (slot >>> 5) + 1);
        setBit(this.#bits, slot);
        this.#size += 1;
      }
      return;
    }
    const list = this.#list;
    if (list === null) {
      this.#list = [slot];
      this.#size = 1;
    } else if (list.at(-1) !== slot) {
      list.push(slot);
      this.#size += 1;
      if (this.#size > bitmapSizeMin && this.#size * slotsOfAnEntry > slot) {
        const bits = newBits(slot + 1);
        this.addTo(bits);
        this.#bits = bits;
        this.#list = null;
      }
    }
  }

  /** Adds the slots to a bitmap. Those beyond its end are left out. */
  addTo(target: Bits): void {
    const bits = this.#bits;
    if (bits !== null) {
      const common = Math.min(bits.length, target.length);
      for (let word = 0; word < common; word += 1) {
        target[word] = (target[word] as number) | (bits[word] as number);
      }
      return;
    }
    const end = target.length * 32;
    for (const slot of this.#list ?? []) {
      if (slot >= end) {
        return;
      }
      target[slot >>> 5] = (target[slot >>> 5] as number) | (1 << (slot & 31));
    }
  }

  /** Keeps the slots of a bitmap that are in the set. */
  intersectInto(target: Bits): void {
    if (this.#bits !== null) {
      intersect(target, this.#bits);
      return;
    }
    const kept = new Uint32Array(target.length);
    this.addTo(kept);
    intersect(target, kept);
  }

  /** How many slots are also in a bitmap. */
  countIn(target: Bits): number {
    if (this.#bits !== null) {
      return countCommon(this.#bits, target);
    }
    const end = target.length * 32;
    let total = 0;
    for (const slot of this.#list ?? []) {
      if (slot >= end) {
        return total;
      }
      total += ((target[slot >>> 5] as number) >>> (slot & 31)) & 1;
    }
    return total;
  }

  /** Releases the room that a list keeps for further slots: a fifth of the memory of a loaded catalogue. */
  trim(): void {
    this.#list = this.#list?.slice() ?? null;
  }
}
