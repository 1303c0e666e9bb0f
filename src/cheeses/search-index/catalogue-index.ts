/**
 * The catalogue in memory: what lists filter, count and sort by. A cheese has a slot. A changed cheese gets a new slot,
 * and the old one is no longer live, so nothing of the old state must be known. Except for the live slots and their
 * orders, everything only grows: a reader that has copied the live slots can continue after others were added.
 */
import { searchableWords } from '../../schema/folding.ts';
import { type LabelField, labelFields, type RangeField, statuses } from '../fields.ts';
import type { TermKind } from '../queries.ts';
import type { Cheese } from '../schemas.ts';
import { type Bits, clearBit, setBit, withRoom } from './bits.ts';
import { Labels } from './labels.ts';
import { SlotColumns, type SortColumn, sortColumns } from './slot-columns.ts';
import { SlotSet } from './slot-set.ts';
import { WordSets } from './word-sets.ts';

/** What the index reads of a cheese. */
export type IndexedCheese = Pick<Cheese, 'id' | 'name' | 'photoUrls' | LabelField | RangeField>;

/** A cheese and the length of its JSON. */
export interface StoredCheese {
  readonly cheese: IndexedCheese;
  readonly size: number;
}

/** Sets whose memory is released between two pauses. */
const trimmedAtOnce = 1024;
/** A smaller index is not rebuilt, whatever part of it is dead. */
const rebuiltSlotsMin = 2000;

export class CatalogueIndex {
  readonly columns = new SlotColumns();
  readonly labels = Object.fromEntries(labelFields.map((field) => [field, new Labels()])) as Readonly<
    Record<LabelField, Labels>
  >;
  readonly words = new WordSets();
  readonly withoutPrice = new SlotSet();
  readonly withoutImage = new SlotSet();
  #live: Bits = new Uint32Array(0);
  #size = 0;
  #revision = 0;

  constructor() {
    for (const status of statuses) {
      this.labels.status.ensure(status);
    }
  }

  /** Number of cheeses. */
  get size(): number {
    return this.#size;
  }

  /** Increases with every change. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether so many slots are dead that a new index would be much smaller. */
  get isWasteful(): boolean {
    const { length } = this.columns;
    return length >= rebuiltSlotsMin && (length - this.#size) * 3 > length;
  }

  /** The labels of all categories or tags. */
  terms(kind: TermKind): Labels {
    return kind === 'tag' ? this.labels.tags : this.labels.category;
  }

  /** The slots of the cheeses that exist, in a new bitmap. */
  live(): Bits {
    return this.#live.slice(0, (this.columns.length + 31) >>> 5);
  }

  /** Fills an empty index, without orders. `sort` must follow. */
  append(cheeses: readonly StoredCheese[]): void {
    for (const cheese of cheeses) {
      this.#add(cheese);
    }
  }

  /** Sorts what was appended, with pauses. */
  *sort(): Generator<void> {
    for (const column of sortColumns) {
      yield* this.columns.orderings[column].order.fill(this.columns.length);
    }
    for (const labels of Object.values(this.labels)) {
      yield* labels.sort();
    }
    let trimmed = 0;
    for (const set of this.#sets()) {
      set.trim();
      trimmed += 1;
      if (trimmed % trimmedAtOnce === 0) {
        yield;
      }
    }
    this.#revision += 1;
  }

  /** Adds or replaces cheeses, and removes others. Each id is given once. */
  change(changed: readonly StoredCheese[], deletedIds: readonly number[]): void {
    const removed: number[] = [];
    const added: number[] = [];
    const replaced: (readonly [slot: number, by: number])[] = [];
    for (const id of deletedIds) {
      const slot = this.slotOf(id);
      if (slot !== undefined) {
        this.#remove(slot);
        removed.push(slot);
      }
    }
    for (const stored of changed) {
      const before = this.slotOf(stored.cheese.id);
      if (before !== undefined) {
        this.#remove(before);
      }
      const slot = this.#add(stored);
      if (before === undefined) {
        added.push(slot);
      } else {
        replaced.push([before, slot]);
      }
    }
    for (const column of sortColumns) {
      this.#changeOrder(column, removed, added, replaced);
    }
    for (const labels of Object.values(this.labels)) {
      labels.settle();
    }
    this.#revision += 1;
  }

  /** The slot of a cheese; undefined if there is none. */
  slotOf(id: number): number | undefined {
    const { order } = this.columns.orderings.id;
    const place = order.search((slot) => this.columns.id(slot) < id);
    const slot = place < order.length ? order.at(place) : undefined;
    return slot !== undefined && this.columns.id(slot) === id ? slot : undefined;
  }

  *#sets(): Generator<SlotSet> {
    for (const labels of Object.values(this.labels)) {
      for (const { slots } of labels.all()) {
        yield slots;
      }
    }
    yield* this.words.sets();
  }

  #changeOrder(
    column: SortColumn,
    removed: readonly number[],
    added: readonly number[],
    replaced: readonly (readonly [slot: number, by: number])[],
  ): void {
    const { order } = this.columns.orderings[column];
    const moved = replaced.filter(([slot, by]) => order.compare(slot, by) !== 0);
    for (const [slot, by] of replaced) {
      if (order.compare(slot, by) === 0) {
        order.replace(slot, by);
      }
    }
    order.change([...removed, ...moved.map(([slot]) => slot)], [...added, ...moved.map(([, by]) => by)]);
  }

  #add({ cheese, size }: StoredCheese): number {
    const slot = this.columns.add(cheese, size);
    this.#live = withRoom(this.#live, (slot >>> 5) + 1);
    setBit(this.#live, slot);
    this.#size += 1;
    for (const field of labelFields) {
      addSlot(this.labels[field], cheese[field], slot);
    }
    for (const word of searchableWords(cheese.name)) {
      this.words.add(word, slot);
    }
    if (cheese.pricePerKg === undefined) {
      this.withoutPrice.add(slot);
    }
    if (cheese.photoUrls.length === 0) {
      this.withoutImage.add(slot);
    }
    return slot;
  }

  #remove(slot: number): void {
    clearBit(this.#live, slot);
    this.#size -= 1;
  }
}

/** Adds a slot to the set of each value. Categories and tags have ids. */
function addSlot(labels: Labels, value: IndexedCheese[LabelField], slot: number): void {
  if (Array.isArray(value)) {
    for (const { name, id } of value) {
      labels.ensure(name, id).slots.add(slot);
    }
  } else if (typeof value === 'object' && value !== null) {
    labels.ensure(value.name, value.id).slots.add(slot);
  } else if (value !== null && value !== undefined) {
    labels.ensure(String(value)).slots.add(slot);
  }
}
