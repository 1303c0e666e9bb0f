/** Which events tick the first steps of Home. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStep } from '../../console/src/screens/home/first-steps.ts';

type Event = Parameters<typeof isStep>[0];

const created = (scopes: readonly string[]) =>
  ({ type: 'api_key.created', actor: 'system', data: { scopes } }) as unknown as Event;

test('A key ticks its step only if it may place the order of a later step', () => {
  assert.equal(isStep(created([])), false, 'the key that the first start prints');
  assert.equal(isStep(created(['read:cheeses', 'write:cheeses'])), false);
  assert.equal(isStep(created(['write:orders'])), true);
  assert.equal(isStep(created(['admin'])), true);
});

test('What the demo shop begins with ticks no step', () => {
  const order = (actor: string) => ({ type: 'order.placed', actor, data: {} }) as unknown as Event;
  assert.equal(isStep(order('system')), false);
  assert.equal(isStep(order('key:2')), true);
});
