/** Checks the columns of cheeses against their JSON, and what a new index says against a plain scan. */

import { type Finding, Findings, readInPages, tryParseJson } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { searchableWords } from '../schema/folding.ts';
import { labelFields } from './fields.ts';
import type { Cheese } from './schemas.ts';
import { loadIndex } from './search-index/index-loader.ts';
import { countLabels } from './search-index/labels.ts';
import { atOnce } from './search-index/slices.ts';
import { sortColumns } from './search-index/slot-columns.ts';
import { toRow } from './writes.ts';

interface StoredCheese {
  readonly id: number;
  readonly name_key: string;
  readonly category_id: number;
  readonly status: string;
  readonly body: string;
}

const backup = 'restore a backup';

const cheesesAfter = (database: Sql) => (after: number, limit: number) =>
  database.all<StoredCheese>(sql`
    select id, name_key, category_id, status, body from cheese where id > ${after} order by id limit ${limit}`);

/** Checks the catalogue. Nothing here can be repaired, because nothing is derived: the index is loaded at each start. */
export async function checkCatalogue(database: Sql): Promise<Finding[]> {
  const columns = new Findings('cheeses whose columns differ from their JSON', backup);
  const names = new Findings('cheeses whose category or tags are not in the list of names', backup);
  const ids = new Findings('ids that could be assigned twice', backup);
  const size = new Findings('number of cheeses that differs from the cheeses', backup);
  const nameOf = await termNames(database);
  const scan = new Scan();
  let lastId = 0;
  let cheeses = 0;
  for await (const page of readInPages(cheesesAfter(database))) {
    for (const row of page) {
      lastId = row.id;
      cheeses += 1;
      const cheese = tryParseJson<Cheese>(row.body);
      if (cheese === undefined || !isStoredAs(cheese, row)) {
        columns.add(`cheese ${row.id}`);
        continue;
      }
      scan.add(cheese);
      if (termsOf(cheese).some(([kind, { id, name }]) => nameOf.get(`${kind} ${id}`) !== name)) {
        names.add(`cheese ${row.id}`);
      }
    }
  }
  const catalogue = await database.get<{ last: number; cheeses: number }>(
    sql`select last_cheese_id as last, cheeses from catalogue`,
  );
  if (catalogue === undefined || catalogue.last < lastId) {
    ids.add(`cheese ${lastId} is beyond the last id, ${catalogue?.last}`);
  }
  if (catalogue?.cheeses !== cheeses) {
    size.add(`${catalogue?.cheeses} instead of ${cheeses}`);
  }
  const index = columns.found().length > 0 ? [] : await checkIndex(database, scan);
  const changes = await checkChanges(database);
  return [columns, names, changes, ids, size].flatMap((findings) => findings.found()).concat(index);
}

async function termNames(database: Sql): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const terms = (after: number, limit: number) =>
    database.all<{ id: number; kind: string; name: string }>(
      sql`select id, kind, name from term where id > ${after} order by id limit ${limit}`,
    );
  for await (const page of readInPages(terms)) {
    for (const { id, kind, name } of page) {
      found.set(`${kind} ${id}`, name);
    }
  }
  return found;
}

async function checkChanges(database: Sql): Promise<Findings> {
  const changes = new Findings('cheeses that are wrong in the list of catalogue changes', backup);
  const misplaced = await database.all<{ id: number }>(sql`
    select id from cheese where changed_in > (select version from catalogue)
    union select cheese_id from cheese_tombstone join cheese on cheese.id = cheese_id
    union select cheese_id from cheese_tombstone where changed_in > (select version from catalogue)
    order by 1 limit 1000`);
  for (const { id } of misplaced) {
    changes.add(`cheese ${id}`);
  }
  return changes;
}

/** Counts values of cheeses without the index. */
class Scan {
  readonly #counts = new Map<string, number>();

  add(cheese: Cheese): void {
    const { name, pricePerKg, photoUrls } = cheese;
    const values = [
      'cheeses',
      ...labelFields.flatMap((field) =>
        [cheese[field] ?? []]
          .flat()
          .map((value) => `${field} ${typeof value === 'object' ? value.name : value}`),
      ),
      ...searchableWords(name).map((word) => `word ${word}`),
      ...(pricePerKg === undefined ? ['without price'] : []),
      ...(photoUrls.length === 0 ? ['without image'] : []),
    ];
    for (const value of values) {
      this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
    }
  }

  *[Symbol.iterator](): Generator<readonly [value: string, cheeses: number]> {
    yield* this.#counts;
  }

  count(value: string): number {
    return this.#counts.get(value) ?? 0;
  }
}

async function checkIndex(database: Sql, scan: Scan): Promise<Finding[]> {
  const wrong = new Findings(
    'values that the index of the catalogue counts wrongly',
    'report it as an error of Curd',
  );
  const { index } = await loadIndex(database, () => true);
  const compare = (value: string, cheeses: number) => {
    if (cheeses !== scan.count(value)) {
      wrong.add(`${value}: ${cheeses} instead of ${scan.count(value)}`);
    }
  };
  const live = index.live();
  compare('cheeses', index.size);
  compare('without price', index.withoutPrice.countIn(live));
  compare('without image', index.withoutImage.countIn(live));
  for (const [field, labels] of Object.entries(index.labels)) {
    const counts = atOnce(countLabels(labels.all(), live));
    for (const [place, { name }] of labels.all().entries()) {
      compare(`${field} ${name}`, counts[place] as number);
    }
  }
  for (const [value] of scan) {
    if (value.startsWith('word ')) {
      compare(value, index.words.named(value.slice('word '.length))?.countIn(live) ?? 0);
    }
  }
  for (const column of sortColumns) {
    const { order } = index.columns.orderings[column];
    for (let place = 1; place < order.length; place += 1) {
      if (order.compare(order.at(place - 1), order.at(place)) >= 0) {
        wrong.add(`order by ${column} at ${place}`);
      }
    }
  }
  return wrong.found();
}

function termsOf({ category, tags }: Pick<Cheese, 'category' | 'tags'>) {
  return [
    ...(category === undefined ? [] : [['category', category] as const]),
    ...tags.map((tag) => ['tag', tag] as const),
  ];
}

/** Whether the columns follow from the JSON of a cheese. */
function isStoredAs(cheese: Cheese, row: StoredCheese): boolean {
  const { id, nameKey, categoryId, status } = toRow(cheese, 1, 0);
  return id === row.id && nameKey === row.name_key && categoryId === row.category_id && status === row.status;
}
