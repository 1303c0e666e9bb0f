/** Checks the search index against the cheeses. */
import type { Sql } from '../database/database.ts';
import { type Finding, Findings, readInPages, tryParseJson } from '../database/findings.ts';
import { sql } from '../database/sql.ts';
import type { NewCheeseRow } from './queries.ts';
import type { Cheese } from './schemas.ts';
import { toRow } from './search-index.ts';
import { createTerms, foldedName, hasPostings, type Term } from './search-terms.ts';

interface StoredCheese {
  readonly id: number;
  readonly name: string;
  readonly name_key: string;
  readonly category_id: number;
  readonly status: string;
  readonly search: string;
  readonly price: number;
  readonly age: number;
  readonly terms: string;
  readonly body: string;
}

/** Cheeses with a term and a status: their number, and the sum of their ids, which shows whether they are the same. */
interface TermTotal {
  readonly kind: string;
  readonly name: string;
  readonly status: string;
  readonly cheeses: number;
  readonly ids: number;
}

const remedy = 'run "curd doctor --repair", which rebuilds the search index';

const cheesesAfter = (database: Sql) => (after: number, limit: number) =>
  database.all<StoredCheese>(sql`
    select id, name, name_key, category_id, status, search, price, age, terms, body from cheese
    where id > ${after} order by id limit ${limit}`);

/** Compares counters and postings with the cheeses. */
export async function checkCatalogue(database: Sql): Promise<Finding[]> {
  const columns = new Findings('cheeses whose columns differ from their JSON', 'restore a backup');
  const indexed = new Findings('cheeses whose columns for filters differ from their JSON', remedy);
  const folded = new Findings('terms whose folded name differs from their name', remedy);
  const counters = new Findings('counters that differ from the number of cheeses', remedy);
  const postings = new Findings('postings that differ from the cheeses', remedy);
  const changes = new Findings('cheeses that are wrong in the list of catalogue changes', 'restore a backup');
  const ids = new Findings('ids that could be assigned twice', 'restore a backup');

  const expected = new Map<string, TermTotal>();
  const termsOf = createTerms();
  const idOf = await termIds(database, folded);
  let lastId = 0;
  for await (const page of readInPages(cheesesAfter(database))) {
    for (const row of page) {
      lastId = row.id;
      const cheese = tryParseJson<Cheese>(row.body);
      const wanted = cheese && toRow(cheese, 1, 0, idOf);
      if (cheese === undefined || wanted === undefined || !isStoredAs(wanted, row)) {
        columns.add(`cheese ${row.id}`);
        continue;
      }
      if (wanted.price !== row.price || wanted.age !== row.age || wanted.terms !== row.terms) {
        indexed.add(`cheese ${row.id}`);
      }
      for (const [kind, name] of [['catalogue', ''], ...termsOf(cheese)] as const) {
        const key = `${kind} ${name} ${cheese.status}`;
        const { cheeses, ids } = expected.get(key) ?? { cheeses: 0, ids: 0 };
        expected.set(key, { kind, name, status: cheese.status, cheeses: cheeses + 1, ids: ids + cheese.id });
      }
    }
  }

  const counted = await database.all<TermTotal>(sql`
    select t.kind, t.name, c.status, c.cheeses, 0 as ids from term_count c join term t on t.id = c.term_id`);
  const expectedCounts = [...expected.values()].map((one) => ({ ...one, ids: 0 }));
  compareTotals(expectedCounts, counted, counters);
  const posted = await database.all<TermTotal>(sql`
    select t.kind, t.name, p.status, count(*) as cheeses, cast(sum(p.cheese_id) as bigint) as ids
    from cheese_term p join term t on t.id = p.term_id group by t.kind, t.name, p.status`);
  const withPostings = [...expected.values()].filter(
    ({ kind, name }) => kind !== 'catalogue' && hasPostings([kind, name] as Term),
  );
  compareTotals(withPostings, posted, postings);
  const stale = await database.all<{ cheese_id: number }>(sql`
    select distinct p.cheese_id from cheese_term p left join cheese c on c.id = p.cheese_id
      left join term t on t.id = p.term_id
    where c.id is null or c.name <> p.name or c.status <> p.status or p.price <> c.price or p.age <> c.age
      or (t.kind = 'word') <> (p.price is null) or (t.kind = 'word') <> (p.age is null) limit 1000`);
  for (const { cheese_id } of stale) {
    postings.add(`cheese ${cheese_id}`);
  }
  const catalogue = await database.get<{ last: number }>(sql`select last_cheese_id as last from catalogue`);
  const misplaced = await database.all<{ id: number }>(sql`
    select id from cheese where changed_in > (select version from catalogue)
    union select cheese_id from cheese_tombstone join cheese on cheese.id = cheese_id
    union select cheese_id from cheese_tombstone where changed_in > (select version from catalogue)
    order by 1 limit 1000`);
  for (const { id } of misplaced) {
    changes.add(`cheese ${id}`);
  }
  if (catalogue === undefined || catalogue.last < lastId) {
    ids.add(`cheese ${lastId} is beyond the last id, ${catalogue?.last}`);
  }
  return [
    ...columns.found(),
    ...indexed.found(),
    ...folded.found(),
    ...counters.found(),
    ...postings.found(),
    ...changes.found(),
    ...ids.found(),
  ];
}

/** Returns a function from an origin or organic term to its id, and adds terms whose folded name is wrong. */
async function termIds(database: Sql, folded: Findings): Promise<(term: Term) => number> {
  const ids = new Map<string, number>();
  const terms = (after: number, limit: number) =>
    database.all<{ id: number; kind: Term[0]; name: string; folded: string | null }>(sql`
      select id, kind, name, folded from term
      where id > ${after} and kind in ('category', 'tag', 'origin', 'organic') order by id limit ${limit}`);
  for await (const page of readInPages(terms)) {
    for (const { id, kind, name, folded: stored } of page) {
      ids.set(`${kind} ${name}`, id);
      if (stored !== foldedName([kind, name])) {
        folded.add(`${kind} ${name}`);
      }
    }
  }
  return ([kind, name]) => ids.get(`${kind} ${name}`) ?? Number.NaN;
}

/** Whether the columns that only a backup restores follow from the JSON of a cheese. */
function isStoredAs(
  { id, name, nameKey, categoryId, status, search }: NewCheeseRow,
  row: StoredCheese,
): boolean {
  return (
    id === row.id &&
    name === row.name &&
    nameKey === row.name_key &&
    categoryId === row.category_id &&
    status === row.status &&
    search === row.search
  );
}

function compareTotals(
  expected: readonly TermTotal[],
  found: readonly TermTotal[],
  findings: Findings,
): void {
  const byTerm = (all: readonly TermTotal[]) =>
    new Map(all.map((one) => [`${one.kind} ${one.name} ${one.status}`, one] as [string, TermTotal]));
  const [expectedByTerm, foundByTerm] = [byTerm(expected), byTerm(found)];
  for (const key of new Set([...expectedByTerm.keys(), ...foundByTerm.keys()])) {
    const [wanted, present] = [expectedByTerm.get(key), foundByTerm.get(key)];
    if ((wanted?.cheeses ?? 0) !== (present?.cheeses ?? 0)) {
      findings.add(`${key}: ${present?.cheeses ?? 0} instead of ${wanted?.cheeses ?? 0}`);
    } else if ((wanted?.ids ?? 0) !== (present?.ids ?? 0)) {
      findings.add(`${key}: not the cheeses that have this term`);
    }
  }
}
