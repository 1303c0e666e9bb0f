/** Bitmaps of slots: a slot is bit `slot & 31` of word `slot >>> 5`. */
export type Bits = Uint32Array;

type Column = Float64Array | Uint32Array | Int8Array | Uint8Array;

/** An empty bitmap with room for this many slots. */
export function newBits(slots: number): Bits {
  return new Uint32Array((slots + 31) >>> 5);
}

export function hasBit(bits: Bits, slot: number): boolean {
  return (((bits[slot >>> 5] ?? 0) >>> (slot & 31)) & 1) === 1;
}

export function setBit(bits: Bits, slot: number): void {
  const word = slot >>> 5;
  bits[word] = (bits[word] ?? 0) | (1 << (slot & 31));
}

export function clearBit(bits: Bits, slot: number): void {
  const word = slot >>> 5;
  bits[word] = (bits[word] ?? 0) & ~(1 << (slot & 31));
}

/** Keeps the slots that are in both. The other bitmap may be shorter. */
export function intersect(bits: Bits, other: Bits): void {
  const common = Math.min(bits.length, other.length);
  for (let word = 0; word < common; word += 1) {
    bits[word] = (bits[word] as number) & (other[word] as number);
  }
  bits.fill(0, common);
}

/** How many slots are in both. */
export function countCommon(bits: Bits, other: Bits): number {
  const common = Math.min(bits.length, other.length);
  let total = 0;
  for (let word = 0; word < common; word += 1) {
    total += ones((bits[word] as number) & (other[word] as number));
  }
  return total;
}

export function countBits(bits: Bits): number {
  let total = 0;
  for (let word = 0; word < bits.length; word += 1) {
    total += ones(bits[word] as number);
  }
  return total;
}

/** Calls `visit` with each slot, in ascending order. */
export function forEachBit(bits: Bits, visit: (slot: number) => void): void {
  for (let word = 0; word < bits.length; word += 1) {
    for (let rest = bits[word] as number; rest !== 0; rest &= rest - 1) {
      visit(word * 32 + 31 - Math.clz32(rest & -rest));
    }
  }
}

/** The array, or a larger one with the same beginning if `length` values have no room. */
export function withRoom<A extends Column>(array: A, length: number): A {
  if (length <= array.length) {
    return array;
  }
  const Larger = array.constructor as new (length: number) => A;
  const larger = new Larger(Math.max(length, Math.ceil(array.length * 1.25) + 32));
  larger.set(array);
  return larger;
}

/** The number of ones in 32 bits, by adding neighboring groups of bits. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
