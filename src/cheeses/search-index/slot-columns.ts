/** Values of slots in columns, and the orders that a list can have. */
import { cheeseFields, type RangeField, rangeFields } from '../fields.ts';
import { withRoom } from './bits.ts';
import { encodeName, NameHeap } from './name-heap.ts';
import { type Compare, SlotOrder } from './slot-order.ts';

/** Stands for the number of a cheese that has none. */
export const noValue = -1;

/** What the columns contain of a cheese. */
export type SlotValues = { readonly id: number; readonly name: string } & {
  readonly [F in RangeField]?: number | undefined;
};

/** A place in a list: the id of a cheese, and the value that the list is sorted by. */
export interface Position {
  readonly id: number;
  readonly name?: string | undefined;
  /** -1 for a cheese without the number. */
  readonly value?: number | undefined;
}

export type SortColumn = 'name' | 'id' | RangeField;

export const sortColumns: readonly SortColumn[] = ['name', 'id', ...rangeFields];

/** The numbers of a field. Whole numbers below 128 take a byte. */
class NumberColumn {
  #values: Float64Array | Int8Array;

  constructor({ type, maximum }: { readonly type: string; readonly maximum: number }) {
    this.#values = type === 'integer' && maximum < 128 ? new Int8Array(0) : new Float64Array(0);
  }

  at(slot: number): number {
    return this.#values[slot] as number;
  }

  set(slot: number, value: number): void {
    this.#values[slot] = value;
  }

  reserve(slots: number): void {
    this.#values = withRoom(this.#values, slots);
  }
}

function forRanges<T>(of: (field: RangeField) => T): Readonly<Record<RangeField, T>> {
  return Object.fromEntries(rangeFields.map((field) => [field, of(field)])) as Record<RangeField, T>;
}

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
  readonly #numbers = forRanges((field) => new NumberColumn(cheeseFields[field].schema));
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
          const bytes = encodeName(name);
          return (slot) => this.#names.compareWith(slot, bytes) || this.id(slot) - id;
        },
        hasValue: all,
        positionOf: (slot) => ({ id: this.id(slot), name: this.#names.text(slot) }),
      },
      ...forRanges((field) => this.#byNumber(this.#numbers[field])),
    };
  }

  #byNumber(numbers: NumberColumn): Ordering {
    const compareValues = (one: number, other: number) =>
      one === other ? 0 : one === noValue ? 1 : other === noValue ? -1 : one - other;
    return {
      order: new SlotOrder(
        (one, other) => compareValues(numbers.at(one), numbers.at(other)) || this.id(one) - this.id(other),
      ),
      comparedWith:
        ({ id, value = noValue }) =>
        (slot) =>
          compareValues(numbers.at(slot), value) || this.id(slot) - id,
      hasValue: (slot) => numbers.at(slot) !== noValue,
      positionOf: (slot) => ({ id: this.id(slot), value: numbers.at(slot) }),
    };
  }

  get length(): number {
    return this.#length;
  }

  /** Makes room for this many slots. Arrays that grow are copied, for 10 ms if they have a million slots. */
  reserve(slots: number): void {
    this.#ids = withRoom(this.#ids, slots);
    for (const field of rangeFields) {
      this.#numbers[field].reserve(slots);
    }
    this.#sizes = withRoom(this.#sizes, slots);
    this.#names.reserve(slots);
  }

  /** Adds a slot. @param size length of its JSON */
  add(values: SlotValues, size: number): number {
    const slot = this.#length;
    this.#length += 1;
    this.reserve(this.#length);
    this.#ids[slot] = values.id;
    for (const field of rangeFields) {
      this.#numbers[field].set(slot, values[field] ?? noValue);
    }
    this.#sizes[slot] = size;
    this.#names.add(values.name);
    return slot;
  }

  id(slot: number): number {
    return this.#ids[slot] as number;
  }

  size(slot: number): number {
    return this.#sizes[slot] as number;
  }
}
