/** The index of the catalogue, compared with plain filters and sorts of an array, after random changes. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { countBits } from '../../../src/cheeses/search-index/bits.ts';
import { CatalogueIndex, type IndexedCheese } from '../../../src/cheeses/search-index/catalogue-index.ts';
import { type Filters, keepMatches, liveInRanges } from '../../../src/cheeses/search-index/matches.ts';
import { findPage } from '../../../src/cheeses/search-index/pages.ts';
import { atOnce } from '../../../src/cheeses/search-index/slices.ts';
import { type SortColumn, sortColumns } from '../../../src/cheeses/search-index/slot-columns.ts';
import { foldText, splitWords } from '../../../src/schema/folding.ts';

const runs = Number(process.env.CURD_TEST_ROUNDS ?? 150);

const names = fc.oneof(
  fc
    .array(fc.constantFrom('Brie', 'BRIE', 'brié', 'Alp', 'Alpkäse', '𝔸lp', 'é', 'z', '~', '한국', '0'), {
      minLength: 1,
      maxLength: 3,
    })
    .map((words) => words.join(' ')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.constantFrom('a', 'b').map((letter) => letter.repeat(40)),
);
const labelNames = fc.constantFrom('Hard', 'HARD', 'härd', 'Soft', 'Blue');
const idsOf = ['Hard', 'HARD', 'härd', 'Soft', 'Blue', 'cow', 'goat', 'raw'];
const labelled = (name: string) => ({ id: idsOf.indexOf(name) + 1, name });

const cheeses = fc.record(
  {
    id: fc.integer({ min: 1, max: 60 }),
    name: names,
    category: labelNames.map(labelled),
    tags: fc.uniqueArray(fc.constantFrom('cow', 'goat', 'raw')).map((tags) => tags.map(labelled)),
    photoUrls: fc.constantFrom([], ['https://example.com/1.jpg']),
    status: fc.constantFrom('available', 'pending', 'sold'),
    origin: fc.constantFrom(null, 'France', 'FRANCE', 'Italy'),
    pricePerKg: fc.constantFrom(0, 5, 5.5, 1_000_000),
    ageMonths: fc.constantFrom(0, 3, 120),
    organic: fc.boolean(),
  },
  { requiredKeys: ['id', 'name', 'tags', 'photoUrls', 'status', 'origin', 'organic'] },
) as fc.Arbitrary<IndexedCheese>;

const changes = fc.record({
  changed: fc.uniqueArray(cheeses, { selector: ({ id }) => id, maxLength: 12 }),
  deleted: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }),
});

const queries = fc.record({
  filters: fc.record(
    {
      status: fc.uniqueArray(fc.constantFrom('available', 'pending', 'sold'), { minLength: 1 }),
      category: fc.constantFrom('hard', 'SOFT', 'none'),
      categoryId: fc.integer({ min: 1, max: 6 }),
      tags: fc.uniqueArray(fc.constantFrom('cow', 'goat', 'none'), { minLength: 1 }),
      tagsAll: fc.uniqueArray(fc.constantFrom('cow', 'raw'), { minLength: 1 }),
      origin: fc.constantFrom('france', 'italy'),
      organic: fc.boolean(),
      minPrice: fc.constantFrom(0, 5, 6),
      maxPrice: fc.constantFrom(5, 5.5, 1_000_000),
      minAge: fc.constantFrom(0, 3),
      maxAge: fc.constantFrom(3, 120),
      missing: fc.uniqueArray(fc.constantFrom('price', 'image'), { minLength: 1 }),
      q: fc.constantFrom('b', 'bri', 'alp', 'alp b', 'a'.repeat(35), `${'b'.repeat(40)}b`, '한'),
    },
    { requiredKeys: [] },
  ),
  column: fc.constantFrom(...sortColumns),
  isDescending: fc.boolean(),
  limit: fc.integer({ min: 1, max: 30 }),
});

const isOneOf = <T>(value: T, wanted: readonly T[] | undefined) =>
  wanted === undefined || wanted.includes(value);

function matches(cheese: IndexedCheese, filters: Filters): boolean {
  const { status, category, categoryId, tags, tagsAll = [], origin, organic, missing = [], q = '' } = filters;
  const { minPrice, maxPrice, minAge, maxAge } = filters;
  const tagNames = cheese.tags.map(({ name }) => name);
  const words = splitWords(cheese.name);
  const isIn = (value: number | undefined, min?: number, max?: number) =>
    (min === undefined && max === undefined) ||
    (value !== undefined && value >= (min ?? 0) && value <= (max ?? Number.POSITIVE_INFINITY));
  return (
    isOneOf(cheese.status, status) &&
    (category === undefined || foldText(cheese.category?.name ?? '') === foldText(category)) &&
    (categoryId === undefined || cheese.category?.id === categoryId) &&
    (tags === undefined || tags.some((tag) => tagNames.includes(tag))) &&
    tagsAll.every((tag) => tagNames.includes(tag)) &&
    (origin === undefined || (cheese.origin !== null && foldText(cheese.origin) === foldText(origin))) &&
    (organic === undefined || cheese.organic === organic) &&
    isIn(cheese.pricePerKg, minPrice, maxPrice) &&
    isIn(cheese.ageMonths, minAge, maxAge) &&
    (!missing.includes('price') || cheese.pricePerKg === undefined) &&
    (!missing.includes('image') || cheese.photoUrls.length === 0) &&
    splitWords(q).every((word) => words.some((own) => own.startsWith(word)))
  );
}

function sorted(all: readonly IndexedCheese[], column: SortColumn, isDescending: boolean): number[] {
  const keyOf = (cheese: IndexedCheese) =>
    column === 'name' ? Buffer.from(cheese.name) : column === 'id' ? 0 : cheese[column];
  const compare = (one: IndexedCheese, other: IndexedCheese) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    const byKey = Buffer.isBuffer(a) && Buffer.isBuffer(b) ? Buffer.compare(a, b) : Number(a) - Number(b);
    return (byKey || one.id - other.id) * (isDescending ? -1 : 1);
  };
  const [present, absent] = [
    all.filter((one) => keyOf(one) !== undefined),
    all.filter((one) => keyOf(one) === undefined),
  ];
  return [...present.sort(compare), ...absent.sort((one, other) => one.id - other.id)].map(({ id }) => id);
}

const stored = (cheese: IndexedCheese) => ({ cheese, size: 100 });

suite('The index of the catalogue', () => {
  test('The index of the catalogue returns the same pages and totals as filters and sorts of an array, after any changes', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(cheeses, { selector: ({ id }) => id, maxLength: 40 }),
        fc.array(changes, { maxLength: 4 }),
        fc.array(queries, { minLength: 1, maxLength: 8 }),
        (loaded, changed, asked) => {
          const index = new CatalogueIndex();
          index.append(loaded.map(stored));
          atOnce(index.sort());
          const model = new Map(loaded.map((one) => [one.id, one]));
          for (const { changed: put, deleted } of changed) {
            const gone = deleted.filter((id) => put.every((one) => one.id !== id));
            index.change(put.map(stored), gone);
            for (const one of put) {
              model.set(one.id, one);
            }
            for (const id of gone) {
              model.delete(id);
            }
          }
          assert.equal(index.size, model.size);
          for (const { filters, column, isDescending, limit } of asked) {
            const expected = sorted(
              [...model.values()].filter((one) => matches(one, filters)),
              column,
              isDescending,
            );
            const bits = liveInRanges(index, filters);
            atOnce(keepMatches(index, bits, filters, splitWords(filters.q ?? '')));
            assert.equal(countBits(bits), expected.length);
            const ordering = index.columns.orderings[column];
            // Both ways to find a page: as if there were few matches, and as if there were many.
            for (const size of [0, index.size * limit + 1]) {
              const found: number[] = [];
              for (let after = null; ; ) {
                const page = findPage(bits, size, { ordering, isDescending, after, limit });
                found.push(...page.map((slot) => index.columns.id(slot)));
                if (page.length < limit) {
                  break;
                }
                after = index.columns.orderings[column].positionOf(page.at(-1) as number) as never;
              }
              assert.deepEqual(found, expected);
            }
          }
        },
      ),
      { numRuns: runs },
    );
  });
});
