import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  asFlag,
  asId,
  asNumber,
  asOneOf,
  asSomeOf,
  asText,
  asTexts,
  readFilters,
  withFilters,
} from '../../console/src/parts/url-filters.ts';

const statuses = ['placed', 'approved', 'shipped'] as const;
const readers = {
  q: asText(10),
  customer: asId,
  price: asNumber,
  organic: asFlag,
  sort: asOneOf(['name', '-name']),
  status: asSomeOf(statuses),
  tags: asTexts,
};

test('Filters of a URL are those that the API accepts, and others are left out', () => {
  const read = (query: string) => readFilters(readers, new URLSearchParams(query));
  assert.deepEqual(read('q=+a+long+text+of+words&customer=31&price=1.5&organic=false&sort=-name'), {
    q: 'a long tex',
    customer: 31,
    price: 1.5,
    organic: false,
    sort: '-name',
  });
  assert.deepEqual(read('q=+&customer=x&price=&organic=1&sort=price&status=lost&tags='), {});
  assert.deepEqual(read('customer=0&price=abc&status='), {});
  assert.deepEqual(read('status=shipped,placed&tags=raw,+milk&tags=b'), {
    status: ['placed', 'shipped'],
    tags: ['raw, milk', 'b'],
  });
  assert.deepEqual(read('status=shipped&status=lost'), { status: ['shipped'] });
});

test('Filters that are written into a URL are read from it, and other parameters stay', () => {
  const filters = fc.record(
    {
      q: fc.string({ minLength: 1, maxLength: 10 }).filter((text) => text.trim() === text && text !== ''),
      customer: fc.integer({ min: 1, max: 10 ** 15 - 1 }),
      price: fc.integer({ min: 0, max: 1e6 }),
      organic: fc.boolean(),
      sort: fc.constantFrom('name', '-name'),
      status: fc.subarray([...statuses], { minLength: 1 }),
      tags: fc.array(fc.string({ minLength: 1 }), { minLength: 1 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(filters, (written) => {
      const search = withFilters<typeof readers>(new URLSearchParams('hide=Total&q=old'), written);
      assert.deepEqual(readFilters(readers, search), { q: 'old', ...written });
      assert.equal(search.get('hide'), 'Total');
      const none = Object.fromEntries(Object.keys(readers).map((name) => [name, null]));
      assert.equal(withFilters<typeof readers>(search, none).toString(), 'hide=Total');
    }),
  );
});
