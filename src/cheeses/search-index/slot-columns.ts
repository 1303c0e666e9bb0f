/** Values of slots in columns, and the orders that a list can have. */
import { withRoom } from './bits.ts';
import { bytesOf, NameHeap } from './name-heap.ts';
import { type Compare, SlotOrder } from './slot-order.ts';

/** Stands in positions for the price or age of a cheese that has none. */
export const noValue = -1;

/** What the columns contain of a cheese. */
export interface SlotValues {
  readonly id: number;
  readonly name: string;
  readonly pricePerKg?: number | undefined;
  readonly ageMonths?: number | undefined;
}

/** A place in a list: the id of a cheese, and the value that the list is sorted by. */
export interface Position {
  readonly id: number;
  readonly name?: string | undefined;
  /** -1 without a price. */
  readonly price?: number | undefined;
  /** -1 without an age. */
  readonly age?: number | undefined;
}

export type SortColumn = 'name' | 'id' | 'price' | 'age';

export const sortColumns: readonly SortColumn[] = ['name', 'id', 'price', 'age'];

/** One order of the live slots. Those without the value come last, by id. */
export interface Ordering {
  readonly order: SlotOrder;
  /** Returns a function that compares slots with a position. */
  comparedWith(position: Position): (slot: number) => number;
  hasValue(slot: number): boolean;
  /** The position of a slot in lists of this order. */
  positionOf(slot: number): Position;
}

export class SlotColumns {
  #length = 0;
  #ids = new Float64Array(0);
  #prices = new Float64Array(0);
  /** 0 to 120, or -1. */
  #ages = new Int8Array(0);
  /** Lengths of the stored JSON. */
  #sizes = new Uint32Array(0);
  readonly #names = new NameHeap();
  readonly orderings: Readonly<Record<SortColumn, Ordering>>;

  constructor() {
    const byId: Compare = (one, other) => this.id(one) - this.id(other);
    const all = () => true;
    this.orderings = {
      id: {
        order: new SlotOrder(byId),
        comparedWith: (position) => (slot) => this.id(slot) - position.id,
        hasValue: all,
        positionOf: (slot) => ({ id: this.id(slot) }),
      },
      name: {
        order: new SlotOrder((one, other) => this.#names.compare(one, other) || byId(one, other)),
        comparedWith: ({ id, name = '' }) => {
          const bytes = bytesOf(name);
          return (slot) => this.#names.compareWith(slot, bytes) || this.id(slot) - id;
        },
        hasValue: all,
        positionOf: (slot) => ({ id: this.id(slot), name: this.#names.text(slot) }),
      },
      price: this.#byValue((slot) => this.#prices[slot] as number, 'price'),
      age: this.#byValue((slot) => this.#ages[slot] as number, 'age'),
    };
  }

  #byValue(read: (slot: number) => number, column: 'price' | 'age'): Ordering {
    const compareValues = (one: number, other: number) =>
      one === other ? 0 : one === noValue ? 1 : other === noValue ? -1 : one - other;
    return {
      order: new SlotOrder(
        (one, other) => compareValues(read(one), read(other)) || this.id(one) - this.id(other),
      ),
      comparedWith:
        ({ id, [column]: value = noValue }) =>
        (slot) =>
          compareValues(read(slot), value) || this.id(slot) - id,
      hasValue: (slot) => read(slot) !== noValue,
      positionOf: (slot) => ({ id: this.id(slot), [column]: read(slot) }),
    };
  }

  get length(): number {
    return this.#length;
  }

  /** Makes room for this many slots. Arrays that grow are copied, for 10 ms where they have a million slots. */
  reserve(slots: number): void {
    this.#ids = withRoom(this.#ids, slots);
    this.#prices = withRoom(this.#prices, slots);
    this.#ages = withRoom(this.#ages, slots);
    this.#sizes = withRoom(this.#sizes, slots);
    this.#names.reserve(slots);
  }

  /** Adds a slot. @param size length of its JSON */
  add({ id, name, pricePerKg = noValue, ageMonths = noValue }: SlotValues, size: number): number {
    const slot = this.#length;
    this.#length += 1;
    this.reserve(this.#length);
    this.#ids[slot] = id;
    this.#prices[slot] = pricePerKg;
    this.#ages[slot] = ageMonths;
    this.#sizes[slot] = size;
    this.#names.add(name);
    return slot;
  }

  id(slot: number): number {
    return this.#ids[slot] as number;
  }

  size(slot: number): number {
    return this.#sizes[slot] as number;
  }
}
