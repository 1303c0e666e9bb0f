import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCustomer, shownName } from '../../console/src/parts/text/customer-name.ts';

test('A customer is described by name and username, or by the username alone', () => {
  const ada = { firstName: 'Ada', lastName: 'Keller', username: 'ada' };
  assert.equal(describeCustomer(ada), 'Ada Keller (ada)');
  assert.equal(describeCustomer({ ...ada, firstName: '' }), 'Keller (ada)');
  const nameless = { ...ada, firstName: '', lastName: '' };
  assert.equal(describeCustomer(nameless), 'ada');
  assert.deepEqual([shownName(ada), shownName(nameless)], ['Ada Keller', 'ada']);
});
