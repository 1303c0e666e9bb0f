import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changedValues, contestedNames } from '../../console/src/parts/forms/changed-values.ts';

const value = fc.constantFrom('', 'a', 'b');
const values = fc.record(
  { name: value, origin: value, tags: fc.array(value, { maxLength: 2 }) },
  { noNullPrototype: true },
);

test('Changed values are the edits that differ from what is stored, and none is contested while nobody else changes it', () => {
  fc.assert(
    fc.property(values, values, (stored, edits) => {
      const changes = changedValues(edits, stored);
      assert.deepEqual({ ...stored, ...changes }, edits);
      assert.deepEqual(changedValues(changes, stored), changes);
      assert.deepEqual(changedValues(stored, structuredClone(stored)), {});
      assert.deepEqual(contestedNames(changes, stored, structuredClone(stored)), []);
    }),
  );
});

test('Contested fields are those that two people changed to different values', () => {
  const before = { name: 'Brie', origin: '', tags: ['soft'] };
  const changes = { name: 'Brie de Meaux', tags: ['soft', 'raw'] };
  assert.deepEqual(contestedNames(changes, before, { ...before, origin: 'France' }), []);
  assert.deepEqual(contestedNames(changes, before, { ...before, name: 'Brie de Melun' }), ['name']);
  assert.deepEqual(contestedNames(changes, before, { ...before, ...changes }), []);
  assert.deepEqual(contestedNames(changes, before, { name: 'x', origin: '', tags: [] }), ['name', 'tags']);
});
