/** Statements on the table `request`. Times are RFC 3339. */
import { queriesOn } from '../database/database.ts';
import { deleteInOrder, deleteUnlocked, joinAnd, type Statement, sql, valueList } from '../database/sql.ts';

export interface NewRequestRow {
  readonly request_id: string;
  readonly owner: string;
  readonly customer_id: number | null;
  readonly credential: string | null;
  readonly at: string;
  readonly method: string;
  readonly route: string | null;
  readonly status: number;
  readonly error: string | null;
  /** The JSON of raw-facts.ts. */
  readonly facts: string;
}

export interface RequestRow {
  readonly id: number;
  readonly facts: string;
}

export interface RequestFilters {
  readonly firstStatus?: number | undefined;
  readonly lastStatus?: number | undefined;
  readonly method?: string | undefined;
  readonly route?: string | undefined;
  readonly error?: string | undefined;
  readonly credential?: string | undefined;
  readonly from?: string | undefined;
  readonly before?: string | undefined;
}

const columns = [
  'request_id',
  'owner',
  'customer_id',
  'credential',
  'at',
  'method',
  'route',
  'status',
  'error',
  'facts',
] as const satisfies readonly (keyof NewRequestRow)[];

export const requestQueries = queriesOn((tx) => ({
  insert: (rows: readonly NewRequestRow[]) =>
    tx.insert(
      'request',
      columns,
      rows.map((row) => columns.map((column) => row[column])),
    ),

  /** The newest first. @param owner null: those of all @param after the time from which on they are kept */
  find: (requestId: string, owner: string | null, after: string, limit: number) =>
    tx.all<RequestRow>(sql`
      select id, facts from request
      where request_id = ${requestId} and at > ${after} and ${owner === null ? sql`true` : sql`owner = ${owner}`}
      order by id desc limit ${limit}`),

  /** The row after which a page of `examined` rows ends; undefined if fewer are left. */
  findLastExamined: (owner: string | null, before: number | null, examined: number) =>
    tx.get<{ id: number }>(sql`
      select id from request where ${rangeOf(owner, before)}
      order by id desc limit 1 offset ${examined - 1}`),

  /** The newest first. @param last the lowest id that is examined; null without a bound */
  list: (
    owner: string | null,
    before: number | null,
    last: number | null,
    after: string,
    filters: RequestFilters,
    limit: number,
  ) =>
    tx.all<RequestRow>(sql`
      select id, facts from request
      where ${rangeOf(owner, before)} and ${last === null ? sql`true` : sql`id >= ${last}`} and at > ${after}
        and ${joinAnd(conditionsOf(filters))}
      order by id desc limit ${limit}`),

  /** The newest id; 0 in an empty log. */
  findNewest: () => tx.get<{ id: number }>(sql`select coalesce(max(id), 0) as id from request`),

  /** Requests of all owners, the oldest first. */
  listSince: (id: number, limit: number) =>
    tx.all<RequestRow>(sql`select id, facts from request where id > ${id} order by id limit ${limit}`),

  deleteOfCustomers: (customers: readonly number[]) =>
    tx.run(deleteInOrder('request', 'id', sql`customer_id in (${valueList(customers)})`)),

  /**
   * Deletes those of the oldest `limit` rows that have expired, and those with a time that a clock gave which was wrong.
   * Returns how many.
   */
  deleteExpired: (until: string, ahead: string, limit: number) =>
    tx.run(
      deleteUnlocked(
        'request',
        'id',
        sql`id in (select id from (select id, at from request order by id limit ${limit}) as oldest
          where at <= ${until} or at > ${ahead})`,
      ),
    ),

  /** Deletes up to `limit` of the oldest rows of an owner beyond the newest `kept`. Returns how many. */
  deleteSurplus: (owner: string, kept: number, limit: number) =>
    tx.run(
      deleteUnlocked(
        'request',
        'id',
        sql`owner = ${owner} and id <= (
          select id from request where owner = ${owner} order by id desc limit 1 offset ${kept})
          order by id limit ${limit}`,
      ),
    ),
}));

function rangeOf(owner: string | null, before: number | null): Statement {
  return joinAnd([
    ...(owner === null ? [] : [sql`owner = ${owner}`]),
    ...(before === null ? [] : [sql`id < ${before}`]),
  ]);
}

function conditionsOf({
  firstStatus,
  lastStatus,
  method,
  route,
  error,
  credential,
  from,
  before,
}: RequestFilters): Statement[] {
  return [
    ...(firstStatus === undefined ? [] : [sql`status >= ${firstStatus}`]),
    ...(lastStatus === undefined ? [] : [sql`status <= ${lastStatus}`]),
    ...(method === undefined ? [] : [sql`method = ${method}`]),
    ...(route === undefined ? [] : [sql`route = ${route}`]),
    ...(error === undefined ? [] : [sql`error = ${error}`]),
    ...(credential === undefined ? [] : [sql`credential = ${credential}`]),
    ...(from === undefined ? [] : [sql`at >= ${from}`]),
    ...(before === undefined ? [] : [sql`at < ${before}`]),
  ];
}
