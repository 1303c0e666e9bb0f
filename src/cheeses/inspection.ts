/** Whether the catalogue is filed as its cheeses are, and filing it anew. */
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { Faults, type Finding, inPages } from '../database/inspection.ts';
import { sql } from '../database/sql.ts';
import { file } from './filing.ts';
import { cheeseQueries } from './queries.ts';
import type { Cheese } from './schemas.ts';
import { createTerms } from './search.ts';

interface StoredCheese {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly body: string;
}

interface Counted {
  readonly kind: string;
  readonly name: string;
  readonly status: string;
  readonly cheeses: number;
}

const remedy = 'run "curd doctor --repair", which files the catalogue anew';

const cheesesAfter = (database: Sql) => (after: number, limit: number) =>
  database.all<StoredCheese>(
    sql`select id, name, status, body from cheese where id > ${after} order by id limit ${limit}`,
  );

/** Holds counters and postings against the cheeses themselves. */
export async function inspectCatalogue(database: Sql): Promise<Finding[]> {
  const columns = new Faults('cheeses whose columns differ from what they answer', 'restore a backup');
  const counters = new Faults('counters that differ from the cheeses they count', remedy);
  const postings = new Faults('cheeses that are filed elsewhere than they belong', remedy);
  const ids = new Faults('ids that could be given out twice', 'restore a backup');

  const expected = new Map<string, number>();
  function count(key: string): void {
    expected.set(key, (expected.get(key) ?? 0) + 1);
  }
  const termsOf = createTerms();
  let lastId = 0;
  for await (const page of inPages(cheesesAfter(database))) {
    for (const { id, name, status, body } of page) {
      const cheese = JSON.parse(body) as Cheese;
      if (cheese.id !== id || cheese.name !== name || cheese.status !== status) {
        columns.add(`cheese ${id}`);
      }
      count(`catalogue  ${cheese.status}`);
      for (const [kind, term] of termsOf(cheese)) {
        count(`${kind} ${term} ${cheese.status}`);
      }
      lastId = id;
    }
  }

  const counted = await database.all<Counted>(sql`
    select t.kind, t.name, c.status, c.cheeses from term_count c join term t on t.id = c.term_id`);
  compare(expected, counted, counters);
  const filed = await database.all<Counted>(sql`
    select t.kind, t.name, p.status, count(*) as cheeses from cheese_term p join term t on t.id = p.term_id
    group by t.kind, t.name, p.status`);
  const withPostings = [...expected].filter(([key]) => !/^(catalogue|prefix) /.test(key));
  compare(new Map(withPostings), filed, postings);
  const astray = await database.all<{ cheese_id: number }>(sql`
    select distinct p.cheese_id from cheese_term p left join cheese c on c.id = p.cheese_id
    where c.id is null or c.name <> p.name or c.status <> p.status limit 1000`);
  for (const { cheese_id } of astray) {
    postings.add(`cheese ${cheese_id}`);
  }
  const catalogue = await database.get<{ last: number }>(sql`select last_cheese_id as last from catalogue`);
  if (catalogue === undefined || catalogue.last < lastId) {
    ids.add(`cheese ${lastId} is beyond the last id, ${catalogue?.last}`);
  }
  return [...columns.found(), ...counters.found(), ...postings.found(), ...ids.found()];
}

function compare(expected: ReadonlyMap<string, number>, found: readonly Counted[], faults: Faults): void {
  const met = new Map<string, number>(
    found.map(({ kind, name, status, cheeses }) => [`${kind} ${name} ${status}`, cheeses]),
  );
  for (const key of new Set([...expected.keys(), ...met.keys()])) {
    const [should, is] = [expected.get(key) ?? 0, met.get(key) ?? 0];
    if (should !== is) {
      faults.add(`${key}: ${is} instead of ${should}`);
    }
  }
}

/** Files every cheese anew, in one transaction that holds off all other changes of the catalogue. */
export async function refileCatalogue({ transaction }: Context, now: string): Promise<void> {
  await transaction(async (tx) => {
    await cheeseQueries(tx).updateCatalogue(now, 0);
    await tx.run(sql`delete from cheese_term`);
    await tx.run(sql`delete from term_count`);
    for await (const page of inPages(cheesesAfter(tx))) {
      await file(
        tx,
        page.map(({ body }) => ({ before: null, after: JSON.parse(body) as Cheese })),
      );
    }
  });
}
