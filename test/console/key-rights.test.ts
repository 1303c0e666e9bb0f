/** The sentence that says what an API key may do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showDay, showMoney } from '../../console/src/parts/text/format.ts';
import { describeRights, type KeyRights } from '../../console/src/screens/access/key-rights.ts';

const until = '2027-02-21T12:00:00.000Z';
const secret: KeyRights = { kind: 'secret', scopes: [], expiresAt: null };
const restricted: KeyRights = { kind: 'restricted', scopes: ['write:orders'], expiresAt: until };

test('A key says what it may do, its limits and its end', () => {
  const sentences: readonly (readonly [KeyRights, string])[] = [
    [secret, 'May read cheeses, all orders and all profiles, without an end.'],
    [{ ...secret, scopes: ['admin'] }, 'May do everything that an operator can, without an end.'],
    [
      { ...secret, scopes: ['write:cheeses', 'write:orders'] },
      'May read cheeses, all orders and all profiles, change cheeses, images and stock, and place and cancel orders for customers, without an end.',
    ],
    [
      { ...secret, kind: 'publishable' },
      'May read the catalogue and log customers in, on any page, without an end.',
    ],
    [{ ...restricted, scopes: [] }, 'May do nothing yet.'],
    [restricted, `May order for any sum, until ${showDay(until)}.`],
    [
      { ...restricted, dollarsPerDay: 50, categories: ['Alpine'] },
      `May order for at most ${showMoney(50)} a day, only Alpine, until ${showDay(until)}.`,
    ],
    [
      { ...restricted, dollarsPerOrder: 20.5, dollarsPerDay: 1000, ordersPerDay: 3, cheeseIds: [7] },
      `May order for at most ${showMoney(20.5)} an order and ${showMoney(1000)} a day, at most 3 times a day, only the cheese 7, until ${showDay(until)}.`,
    ],
    [
      { ...restricted, categories: ['A', 'B', 'C', 'D', 'E', 'F'], addresses: ['203.0.113.0/24'] },
      `May order for any sum, only A, B, C, D, and 2 more, only from 203.0.113.0/24, until ${showDay(until)}.`,
    ],
  ];
  for (const [key, sentence] of sentences) {
    assert.equal(describeRights(key), sentence);
  }
});
