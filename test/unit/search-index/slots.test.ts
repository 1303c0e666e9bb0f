/** Sets and orders of slots, compared with arrays, at sizes where lists become bitmaps and runs are merged. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { countBits, forEachBit, newBits, setBit } from '../../../src/cheeses/search-index/bits.ts';
import { encodeName, NameHeap } from '../../../src/cheeses/search-index/name-heap.ts';
import { atOnce, inSlices } from '../../../src/cheeses/search-index/slices.ts';
import { SlotOrder } from '../../../src/cheeses/search-index/slot-order.ts';
import { SlotSet } from '../../../src/cheeses/search-index/slot-set.ts';
import { WordSets } from '../../../src/cheeses/search-index/word-sets.ts';

/** Slots of a set: so many, each so much higher than the one before. */
const sets = fc
  .tuple(fc.constantFrom(0, 1, 40, 1023, 1025, 3000), fc.constantFrom(1, 2, 50, 70), fc.nat(99))
  .map(([size, step, first]) =>
    Array.from({ length: size }, (_, index) => first + index * step + (index % 3 && step > 3 ? 1 : 0)),
  );

const slotsOf = (bits: Uint32Array) => {
  const found: number[] = [];
  forEachBit(bits, (slot) => found.push(slot));
  return found;
};

suite('A set of slots', () => {
  test('A set of slots is the same as an array, as a list and as a bitmap', () => {
    fc.assert(
      fc.property(sets, sets, fc.constantFrom(100, 2000, 250_000), (slots, others, size) => {
        const set = new SlotSet();
        for (const slot of slots) {
          set.add(slot);
          set.add(slot);
        }
        set.trim();
        assert.equal(set.size, slots.length);
        const room = newBits(size).length * 32;
        const inRoom = slots.filter((slot) => slot < room);
        const union = newBits(size);
        set.addTo(union);
        assert.deepEqual(slotsOf(union), inRoom);
        assert.equal(countBits(union), inRoom.length);
        const other = newBits(size);
        for (const slot of others.filter((one) => one < room)) {
          setBit(other, slot);
        }
        const known = new Set(others);
        const common = inRoom.filter((slot) => known.has(slot));
        assert.equal(set.countIn(other), common.length);
        set.intersectInto(other);
        assert.deepEqual(slotsOf(other), common);
      }),
      { numRuns: 200 },
    );
  });
});

suite('An order of slots', () => {
  test('An order of slots is the same as a sorted array after a load and after changes', () => {
    const values = fc.array(fc.nat(500), { minLength: 0, maxLength: 60 });
    fc.assert(
      fc.property(
        fc.constantFrom(0, 5, 1024, 2100, 5000),
        fc.array(values, { maxLength: 4 }),
        (size, batches) => {
          const keys = Array.from({ length: size }, (_, slot) => (slot * 7919) % 1000);
          const compare = (one: number, other: number) =>
            (keys[one] ?? 0) - (keys[other] ?? 0) || one - other;
          const order = new SlotOrder(compare);
          atOnce(order.fill(size));
          const model = new Set(keys.keys());
          for (const batch of batches) {
            const removed = [...new Set(batch)].filter((slot) => model.has(slot)).slice(0, 20);
            const added = batch.map((key) => keys.push(key) - 1);
            order.change(removed, added);
            for (const slot of removed) {
              model.delete(slot);
            }
            for (const slot of added) {
              model.add(slot);
            }
          }
          assert.deepEqual(
            Array.from({ length: order.length }, (_, place) => order.at(place)),
            [...model].sort(compare),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});

suite('Names of slots', () => {
  test('Names of slots are returned unchanged and compared by their bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 40 }), (names) => {
        const heap = new NameHeap();
        for (const name of names) {
          heap.add(name);
        }
        const sign = (difference: number) => Math.sign(difference);
        for (const [slot, name] of names.entries()) {
          assert.equal(heap.text(slot), name);
          const other = (slot * 7) % names.length;
          const expected = sign(Buffer.compare(Buffer.from(name), Buffer.from(names[other] as string)));
          assert.equal(sign(heap.compare(slot, other)), expected);
          assert.equal(sign(heap.compareWith(slot, encodeName(names[other] as string))), expected);
        }
      }),
    );
  });
});

suite('Words of names', () => {
  test('Words of names are found by each of their beginnings', () => {
    const words = new WordSets();
    const all = ['a', 'ab', 'abc', 'b', '한국', '𐐷𐐷', '𐐷'];
    for (const [slot, word] of all.entries()) {
      words.add(word, slot);
    }
    for (const start of ['a', 'ab', 'abcd', '한', '𐐷', '𐐷𐐷', 'z']) {
      const bits = newBits(10);
      for (const set of words.startingWith(start)) {
        set.addTo(bits);
      }
      assert.deepEqual(
        slotsOf(bits),
        [...all.entries()].flatMap(([slot, word]) => (word.startsWith(start) ? [slot] : [])),
      );
    }
  });
});

suite('Work in slices', () => {
  test('Work of the index in slices lets other work run in between', async () => {
    function* steps() {
      for (let step = 0; step < 200; step += 1) {
        for (const until = performance.now() + 0.5; performance.now() < until; ) {}
        yield;
      }
      return 'done';
    }
    let turns = 0;
    const count = () => {
      turns += 1;
      if (turns < 1000) {
        setImmediate(count);
      }
    };
    count();
    assert.equal(await inSlices(steps()), 'done');
    assert.ok(turns > 5, `${turns} turns`);
  });
});
