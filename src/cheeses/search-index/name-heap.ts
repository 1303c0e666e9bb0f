/** The names of all slots as UTF-8, one after another. Bytes are compared like both databases compare them. */
import { withRoom } from './bits.ts';

/** A character has at most three bytes for each code unit. */
const bytesOfAUnit = 3;
/** Longer than most names. Room that no name uses takes no memory. */
const usualNameBytes = 32;

export class NameHeap {
  #bytes: Uint8Array = new Uint8Array(0);
  /** The end of each slot's name. The next name begins there. */
  #ends = new Uint32Array(0);
  #length = 0;

  /** Makes room for the names of this many slots. */
  reserve(slots: number): void {
    if (slots > this.#ends.length) {
      this.#ends = withRoom(this.#ends, slots);
      this.#bytes = withRoom(this.#bytes, slots * usualNameBytes);
    }
  }

  /** Adds the name of the next slot. */
  add(name: string): void {
    const start = this.#startOf(this.#length);
    this.#bytes = withRoom(this.#bytes, start + name.length * bytesOfAUnit);
    const { written } = encoder.encodeInto(name, this.#bytes.subarray(start));
    this.#ends = withRoom(this.#ends, this.#length + 1);
    this.#ends[this.#length] = start + written;
    this.#length += 1;
  }

  text(slot: number): string {
    return decoder.decode(this.#bytes.subarray(this.#startOf(slot), this.#ends[slot]));
  }

  compare(one: number, other: number): number {
    const ends = this.#ends;
    const first = other === 0 ? 0 : (ends[other - 1] as number);
    return this.#compareWith(one, this.#bytes, first, ends[other] as number);
  }

  /** @param name the bytes of a name (`encodeName`) */
  compareWith(slot: number, name: Uint8Array): number {
    return this.#compareWith(slot, name, 0, name.length);
  }

  /** Loads and sorts call this most, so it is one loop without further calls. */
  #compareWith(slot: number, bytes: Uint8Array, start: number, end: number): number {
    const own = this.#bytes;
    const first = slot === 0 ? 0 : (this.#ends[slot - 1] as number);
    const length = (this.#ends[slot] as number) - first;
    const otherLength = end - start;
    const common = length < otherLength ? length : otherLength;
    for (let index = 0; index < common; index += 1) {
      const difference = (own[first + index] as number) - (bytes[start + index] as number);
      if (difference !== 0) {
        return difference;
      }
    }
    return length - otherLength;
  }

  #startOf(slot: number): number {
    return slot === 0 ? 0 : (this.#ends[slot - 1] as number);
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A name as `compareWith` needs it. */
export function encodeName(name: string): Uint8Array {
  return encoder.encode(name);
}
