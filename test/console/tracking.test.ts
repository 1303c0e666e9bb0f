/** Tracking numbers from a scanner or a column that is pasted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillFrom, numbersIn, shipmentOf } from '../../console/src/screens/orders/shipping/tracking.ts';

test('A pasted column fills the fields from one on, and no more than there are', () => {
  assert.deepEqual(numbersIn('99.1\tBern\r\n\n 99.2 \r99.3\n'), ['99.1', '99.2', '99.3']);
  const filled = fillFrom(new Map([[31, 'kept']]), [31, 32, 33], 1, ['a', 'b', 'c']);
  assert.deepEqual(
    [...filled],
    [
      [31, 'kept'],
      [32, 'a'],
      [33, 'b'],
    ],
  );
});

test('A tracking page gets the number, and an empty field is null', () => {
  const fields = { carrier: ' Swiss Post ', urlTemplate: 'https://carrier.example/{number}?n={number}' };
  assert.deepEqual(shipmentOf(fields, ' a/1 '), {
    carrier: 'Swiss Post',
    trackingNumber: 'a/1',
    trackingUrl: 'https://carrier.example/a%2F1?n=a%2F1',
  });
  assert.deepEqual(shipmentOf({ carrier: '', urlTemplate: '' }, ''), {
    carrier: null,
    trackingNumber: null,
    trackingUrl: null,
  });
  assert.equal(shipmentOf(fields, '').trackingUrl, null);
});
