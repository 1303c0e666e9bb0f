/** The values of one kind that cheeses have: categories, tags, origins, organic or not, statuses. */
import { foldText, nameKey } from '../../schema/folding.ts';
import type { Bits } from './bits.ts';
import { SlotOrder } from './slot-order.ts';
import { SlotSet } from './slot-set.ts';

/** Labels that are counted between two pauses. */
const countedAtOnce = 256;

export interface Label {
  /** Id of a category or tag; 0 for others. */
  readonly id: number;
  readonly name: string;
  /** The name without case and accents. */
  readonly folded: string;
  readonly slots: SlotSet;
}

export class Labels {
  readonly #labels: Label[] = [];
  readonly #byName = new Map<string, Label>();
  /** Places in `#labels`, in the order of folded names and ids. */
  readonly #order = new SlotOrder((one, other) => compareLabels(this.#at(one), this.#at(other)));

  /** The label with a name, which is added if it is new. It is listed after `settle`. */
  ensure(name: string, id = 0): Label {
    let label = this.#byName.get(name);
    if (label === undefined) {
      label = { id, name, folded: foldText(name), slots: new SlotSet() };
      this.#byName.set(name, label);
      this.#labels.push(label);
    }
    return label;
  }

  named(name: string): Label | undefined {
    return this.#byName.get(name);
  }

  /** The label of which this is a spelling. */
  spelled(name: string): Label | undefined {
    const key = nameKey(name);
    return this.named(name) ?? this.folded(foldText(name)).find((label) => nameKey(label.name) === key);
  }

  withId(id: number): Label | undefined {
    return this.#labels.find((label) => label.id === id);
  }

  /** Labels with the same name without case and accents. */
  folded(folded: string): Label[] {
    return this.#between(folded, (label) => label.folded <= folded);
  }

  /** Labels whose folded name begins with a text, in the order of folded names and ids. */
  startingWith(text: string): Label[] {
    return this.#between(text, ({ folded }) => folded < text || folded.startsWith(text));
  }

  /** All labels in the order in which they were added. */
  all(): readonly Label[] {
    return this.#labels;
  }

  /** Puts new labels into their order. */
  settle(): void {
    const added = this.#labels.length - this.#order.length;
    if (added > 0) {
      this.#order.change(
        [],
        Array.from({ length: added }, (_, index) => this.#labels.length - added + index),
      );
    }
  }

  /** `settle` for all labels of a loaded catalogue, with pauses. */
  *sort(): Generator<void> {
    yield* this.#order.fill(this.#labels.length);
  }

  #at(place: number): Label {
    return this.#labels[place] as Label;
  }

  /** Labels from a folded name on, to the last one for which `isBeforeEnd` is true. */
  #between(folded: string, isBeforeEnd: (label: Label) => boolean): Label[] {
    const from = this.#order.search((place) => this.#at(place).folded < folded);
    const to = this.#order.search((place) => isBeforeEnd(this.#at(place)));
    return Array.from({ length: to - from }, (_, index) => this.#at(this.#order.at(from + index)));
  }
}

/** The order in which labels are listed. */
export function compareLabels(
  one: Pick<Label, 'folded' | 'id'>,
  other: Pick<Label, 'folded' | 'id'>,
): number {
  return one.folded < other.folded ? -1 : one.folded > other.folded ? 1 : one.id - other.id;
}

/** How many slots of a bitmap have each of the labels, with pauses. */
export function* countLabels(labels: readonly Label[], bits: Bits): Generator<void, Uint32Array> {
  const counts = new Uint32Array(labels.length);
  for (const [index, { slots }] of labels.entries()) {
    counts[index] = slots.countIn(bits);
    if (index % countedAtOnce === countedAtOnce - 1) {
      yield;
    }
  }
  return counts;
}
