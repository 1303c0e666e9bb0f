/** Slots, or other numbers, in the order of a comparison. No two of them are equal. */
import { withRoom } from './bits.ts';

/** So many are sorted at once: 1 ms with names. */
const runLength = 1024;
/** So many are merged between two pauses. */
const mergedAtOnce = 4096;

export type Compare = (one: number, other: number) => number;

export class SlotOrder {
  readonly compare: Compare;
  #slots: Uint32Array = new Uint32Array(0);
  #length = 0;

  constructor(compare: Compare) {
    this.compare = compare;
  }

  get length(): number {
    return this.#length;
  }

  at(place: number): number {
    return this.#slots[place] as number;
  }

  /** The first place whose slot is not before what is searched. @param end searches only places before it */
  search(isBefore: (slot: number) => boolean, end = this.#length): number {
    return searchPlace(end, (place) => isBefore(this.#slots[place] as number));
  }

  /** Replaces a slot by one that is equal to it in this order. */
  replace(slot: number, by: number): void {
    this.#slots[this.#placeOf(slot)] = by;
  }

  /** Removes and adds slots. Costs a move of the places behind the first one, not a sort. */
  change(removed: readonly number[], added: readonly number[]): void {
    if (removed.length > 0) {
      this.#remove(removed);
    }
    if (added.length > 0) {
      this.#add(added);
    }
  }

  #remove(slots: readonly number[]): void {
    const places = Uint32Array.from(slots, (slot) => this.#placeOf(slot)).sort();
    let target = places[0] as number;
    for (const [index, place] of places.entries()) {
      const end = places[index + 1] ?? this.#length;
      this.#slots.copyWithin(target, place + 1, end);
      target += end - place - 1;
    }
    this.#length = target;
  }

  #add(slots: readonly number[]): void {
    const sorted = slots.toSorted(this.compare);
    this.#slots = withRoom(this.#slots, this.#length + sorted.length);
    let end = this.#length;
    for (let index = sorted.length - 1; index >= 0; index -= 1) {
      const added = sorted[index] as number;
      const place = this.search((slot) => this.compare(slot, added) < 0, end);
      this.#slots.copyWithin(place + index + 1, place, end);
      this.#slots[place + index] = added;
      end = place;
    }
    this.#length += sorted.length;
  }

  #placeOf(slot: number): number {
    return this.search((other) => this.compare(other, slot) < 0);
  }

  /**
   * Sorts the slots from 0 on into the empty order, with pauses. A merge sort, because its steps can be as short as
   * needed.
   */
  *fill(length: number): Generator<void> {
    const slots = new Uint32Array(length);
    for (let slot = 0; slot < length; slot += 1) {
      slots[slot] = slot;
    }
    for (let start = 0; start < length; start += runLength) {
      slots.subarray(start, start + runLength).sort(this.compare);
      yield;
    }
    let source: Uint32Array = slots;
    let target: Uint32Array = new Uint32Array(length);
    for (let width = runLength; width < length; width *= 2) {
      for (let start = 0; start < length; start += width * 2) {
        yield* this.#merge(source, target, start, Math.min(start + width, length), width);
      }
      [source, target] = [target, source];
    }
    this.#slots = source;
    this.#length = length;
  }

  *#merge(
    source: Uint32Array,
    target: Uint32Array,
    start: number,
    middle: number,
    width: number,
  ): Generator<void> {
    const end = Math.min(middle + width, source.length);
    if (middle === end || this.compare(source[middle - 1] as number, source[middle] as number) < 0) {
      target.set(source.subarray(start, end), start);
      yield;
      return;
    }
    let left = start;
    let right = middle;
    for (let place = start; place < end; place += 1) {
      const isLeft =
        right === end || (left < middle && this.compare(source[left] as number, source[right] as number) < 0);
      target[place] = source[isLeft ? left : right] as number;
      if (isLeft) {
        left += 1;
      } else {
        right += 1;
      }
      if (place % mergedAtOnce === 0) {
        yield;
      }
    }
  }
}

export function searchPlace(length: number, isBefore: (place: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
