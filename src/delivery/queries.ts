/** Statements on delivery methods. */
import { queriesOn } from '../database/database.ts';
import { newId } from '../database/dry-run.ts';
import { advisoryLock, forUpdate, sql } from '../database/sql.ts';

export interface MethodRow {
  readonly id: number;
  readonly version: number;
  /** JSON of the method without its id. */
  readonly body: string;
}

const columns = sql`id, version, body`;

export const methodQueries = queriesOn((tx) => ({
  list: () => tx.all<MethodRow>(sql`select ${columns} from delivery_method order by id`),

  find: (id: number) => tx.get<MethodRow>(sql`select ${columns} from delivery_method where id = ${id}`),

  /** Locks the creation of methods until the transaction ends, so that their number is exact. */
  lockNumber: () => tx.get(advisoryLock('number of', 'delivery methods')),

  count: async () =>
    (await tx.get<{ total: number }>(sql`select count(*) as total from delivery_method`))?.total ?? 0,

  lock: (id: number) =>
    tx.get<MethodRow>(sql`select ${columns} from delivery_method where id = ${id}${forUpdate}`),

  insert: (body: string) =>
    tx.get<{ id: number }>(sql`
      insert into delivery_method (id, body) values (${newId(tx)}, ${body}) returning id`),

  update: ({ id, version, body }: MethodRow) =>
    tx.run(sql`update delivery_method set version = ${version}, body = ${body} where id = ${id}`),

  delete: (id: number) => tx.run(sql`delete from delivery_method where id = ${id}`),
}));
