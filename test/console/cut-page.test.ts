/** Pages of a list in the console that are read again while rows come, go and move. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutPage } from '../../console/src/parts/tables/cut-page.ts';

const pageSize = 10;
const rereadMax = 20;
const idOf = (id: number) => id;

test('A page of a list that is read again and the next one have every row between them', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(999), { minLength: 2 * pageSize, maxLength: 40 }),
      fc.array(fc.nat(999), { maxLength: 8 }),
      fc.array(fc.nat(39), { maxLength: 8 }),
      (ids, added, removed) => {
        const old = ids.toSorted((one, other) => one - other);
        const [page, next] = [old.slice(0, pageSize), old.slice(pageSize, 2 * pageSize)];
        const gone = new Set(removed.map((index) => old[index]));
        const rows = [...new Set([...old, ...added])]
          .filter((id) => !gone.has(id))
          .sort((one, other) => one - other);
        const fresh = cutPage(rows.slice(0, rereadMax), page, next, idOf, pageSize);
        // The next page is read after the old end of this one.
        const end = page.at(-1) ?? 0;
        const later = rows.filter((id) => id > end);
        const reached = Math.max(...fresh, end);
        const shown = new Set([...fresh, ...later]);
        assert.deepEqual(
          rows.filter((id) => id <= reached && !shown.has(id)),
          [],
        );
        assert.deepEqual(fresh, rows.slice(0, fresh.length));
      },
    ),
  );
});
