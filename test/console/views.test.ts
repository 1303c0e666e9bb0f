/** Named views of lists: the URL of a list under a name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchOfView, withView } from '../../console/src/parts/tables/views.ts';

test('A view has filters, sort and columns of a URL, in any order, and not the place in the list', () => {
  const one = searchOfView(new URLSearchParams('view=list&status=placed&at=abc'), ['Placed', 'To']);
  const other = searchOfView(new URLSearchParams('hide=Total&status=placed&view=list'), ['Placed', 'To']);
  assert.equal(one, 'hide=Placed%2CTo&status=placed&view=list');
  assert.equal(other, one);
  // Without hidden columns, the view says so: the last choice of the browser does not count.
  assert.equal(searchOfView(new URLSearchParams(''), []), 'hide=');
});

test('A view replaces the one of the same name in its place', () => {
  const views = [
    { name: 'a', search: '1' },
    { name: 'b', search: '2' },
  ];
  assert.deepEqual(withView(views, { name: 'a', search: '3' }), [{ name: 'a', search: '3' }, views[1]]);
  assert.deepEqual(withView(views, { name: 'c', search: '3' }), [...views, { name: 'c', search: '3' }]);
});
