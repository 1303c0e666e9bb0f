/** Statements on tax rates. */
import { queriesOn } from '../database/database.ts';
import { newId } from '../database/dry-run.ts';
import { advisoryLock, forUpdate, rowsFromJson, sql, valueList } from '../database/sql.ts';

/** The place at which a rate applies. An empty text: everywhere. */
export interface RateKey {
  readonly country: string;
  readonly state_key: string;
  readonly zip_prefix: string;
  readonly category_key: string;
}

export interface RateRow extends RateKey {
  readonly id: number;
  readonly version: number;
  /** The text as it was written; null without. */
  readonly state: string | null;
  readonly category: string | null;
  readonly milli_percent: number;
  readonly name: string;
}

export type NewRate = Omit<RateRow, 'id' | 'version'>;

const columns = sql`id, version, country, state, state_key, zip_prefix, category, category_key, milli_percent, name`;

export const rateQueries = queriesOn((tx) => ({
  /** Rates after an id. @param country an empty text: all */
  list: (country: string, after: number, limit: number) =>
    tx.all<RateRow>(sql`
      select ${columns} from tax_rate
      where id > ${after} and ${country === '' ? sql`true` : sql`country = ${country}`} order by id limit ${limit}`),

  /** Rates that can apply. Each list contains the empty text. */
  listFor: (keys: Readonly<Record<keyof RateKey, readonly string[]>>) =>
    tx.all<RateRow>(sql`
      select ${columns} from tax_rate
      where country in (${valueList(keys.country)}) and zip_prefix in (${valueList(keys.zip_prefix)})
        and state_key in (${valueList(keys.state_key)}) and category_key in (${valueList(keys.category_key)})`),

  /** Locks the creation of rates until the transaction ends, so that their number is exact. */
  lockNumber: () => tx.get(advisoryLock('number of', 'tax rates')),

  count: async () =>
    (await tx.get<{ count: number }>(sql`select count(*) as count from tax_rate`))?.count ?? 0,

  find: (id: number) => tx.get<RateRow>(sql`select ${columns} from tax_rate where id = ${id}`),

  lock: (id: number) => tx.get<RateRow>(sql`select ${columns} from tax_rate where id = ${id}${forUpdate}`),

  /** Returns undefined if an equal one exists. */
  insert: (row: NewRate) =>
    tx.get<{ id: number }>(sql`
      insert into tax_rate (id, country, state, state_key, zip_prefix, category, category_key, milli_percent, name)
      values (${newId(tx)}, ${row.country}, ${row.state}, ${row.state_key}, ${row.zip_prefix}, ${row.category},
        ${row.category_key}, ${row.milli_percent}, ${row.name})
      on conflict do nothing returning id`),

  /** Locks the rates that have one of these keys, by their ids. */
  lockEqual: (keys: readonly RateKey[]) =>
    tx.all<RateRow>(sql`
      select ${columns} from tax_rate
      where (country, zip_prefix, state_key, category_key) in (
        select value->>'country', value->>'zip_prefix', value->>'state_key', value->>'category_key'
        from ${rowsFromJson(keys.map(({ country, zip_prefix, state_key, category_key }) => ({ country, zip_prefix, state_key, category_key })))})
      order by id${forUpdate}`),

  update: ({ id, version, milli_percent, name }: RateRow) =>
    tx.run(sql`
      update tax_rate set version = ${version}, milli_percent = ${milli_percent}, name = ${name} where id = ${id}`),

  delete: (id: number) => tx.run(sql`delete from tax_rate where id = ${id}`),
}));
