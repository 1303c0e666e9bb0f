/**
 * Statements on the counts of orders. Triggers record each change of an order in a table to which rows are only added,
 * so that no transaction waits for a counter. The counter (order-counter.ts) adds these changes to the counts.
 */
import { queriesOn } from '../database/database.ts';
import { join, rawSql, rowsFromJson, type Statement, skippingLocked, sql } from '../database/sql.ts';
import { firstRealId } from './queries.ts';
import { type OrderStatus, orderStatuses } from './transitions/order-status.ts';

/** A change of an order. */
export interface CountChange {
  /** Day of the creation, in UTC. */
  readonly day: string;
  readonly placed_by: string;
  readonly customer_id: number | null;
  /** null if the address has none. */
  readonly country: string | null;
  /** null for an order that is new for this day and these owners. */
  readonly old_status: OrderStatus | null;
  /** null for an order that is deleted, or has another owner now. */
  readonly new_status: OrderStatus | null;
}

/** The differences of a count by status. */
export type OrderCountRow = { readonly owner: string; readonly day: string } & Readonly<
  Record<OrderStatus, number>
>;

/** The day of the row that counts all days. */
export const allDays = '';

/** The owner of all orders. */
export const everyOwner = '*';

const columns = sql`placed, approved, shipped, delivered, cancelled`;
const sums = sql`sum(placed), sum(approved), sum(shipped), sum(delivered), sum(cancelled)`;
const negative = sql`-placed, -approved, -shipped, -delivered, -cancelled`;
const isDifferent = sql`
  sum(placed) <> 0 or sum(approved) <> 0 or sum(shipped) <> 0 or sum(delivered) <> 0 or sum(cancelled) <> 0`;

/** Orders by what their counts depend on. Grouped once, because each belongs to up to four owners. */
const countedOrders = sql`
  select placed_by, customer_id, country, substr(created_at, 1, 10) as day,
    sum(case when status = 'placed' then 1 else 0 end) as placed,
    sum(case when status = 'approved' then 1 else 0 end) as approved,
    sum(case when status = 'shipped' then 1 else 0 end) as shipped,
    sum(case when status = 'delivered' then 1 else 0 end) as delivered,
    sum(case when status = 'cancelled' then 1 else 0 end) as cancelled
  from orders where id >= ${firstRealId} group by placed_by, customer_id, country, substr(created_at, 1, 10)`;

const changes = sql`
  case when new_status = 'placed' then 1 else 0 end - case when old_status = 'placed' then 1 else 0 end as placed,
  case when new_status = 'approved' then 1 else 0 end - case when old_status = 'approved' then 1 else 0 end as approved,
  case when new_status = 'shipped' then 1 else 0 end - case when old_status = 'shipped' then 1 else 0 end as shipped,
  case when new_status = 'delivered' then 1 else 0 end - case when old_status = 'delivered' then 1 else 0 end as delivered,
  case when new_status = 'cancelled' then 1 else 0 end - case when old_status = 'cancelled' then 1 else 0 end as cancelled`;

/** A row for each owner, as `listOwners` does it. */
function byOwner(source: Statement, values: Statement): Statement {
  return sql`
    select ${everyOwner} as owner, day, ${values} from ${source}
    union all select 'customer:' || customer_id, day, ${values} from ${source} where customer_id is not null
    union all select 'country:' || country, day, ${values} from ${source} where country is not null
    union all select placed_by, day, ${values} from ${source} where placed_by not like '%customer:%'`;
}

const ownedCounts = byOwner(sql`counted`, columns);
const changesByOwner = byOwner(sql`order_count_change`, changes);

/** The owners under which an order is counted. */
export function listOwners({
  placed_by,
  customer_id,
  country,
}: Pick<CountChange, 'placed_by' | 'customer_id' | 'country'>): string[] {
  return [
    everyOwner,
    ...(customer_id === null ? [] : [`customer:${customer_id}`]),
    ...(country === null ? [] : [ownerOfCountry(country)]),
    ...(isCountedPlacer(placed_by) ? [placed_by] : []),
  ];
}

/** The owner of all orders that are sent to a country. */
export const ownerOfCountry = (country: string): string => `country:${country}`;

/** Whether orders are counted by who placed them. Those of customers are counted by the customer. */
export function isCountedPlacer(placedBy: string): boolean {
  return (
    !placedBy.includes('customer:') && !placedBy.startsWith(ownerOfCountry('')) && placedBy !== everyOwner
  );
}

export const orderCountQueries = queriesOn((tx) => ({
  hasChanges: async () => (await tx.get(sql`select id from order_count_change limit 1`)) !== undefined,

  /** Deletes the oldest changes and returns them, except those that another instance adds now. */
  takeChanges: (limit: number) =>
    tx.all<CountChange>(sql`
      delete from order_count_change where id in (
        select id from order_count_change order by id limit ${limit}${skippingLocked})
      returning day, placed_by, customer_id, country, old_status, new_status`),

  add: (rows: readonly OrderCountRow[]) =>
    tx.run(sql`
      insert into order_count (owner, day, ${columns})
      select value->>'owner', value->>'day', cast(value->>'placed' as bigint), cast(value->>'approved' as bigint),
        cast(value->>'shipped' as bigint), cast(value->>'delivered' as bigint), cast(value->>'cancelled' as bigint)
      from ${rowsFromJson(rows)} where true
      on conflict (owner, day) do update set placed = order_count.placed + excluded.placed,
        approved = order_count.approved + excluded.approved, shipped = order_count.shipped + excluded.shipped,
        delivered = order_count.delivered + excluded.delivered, cancelled = order_count.cancelled + excluded.cancelled`),

  deleteEmpty: (rows: readonly OrderCountRow[]) =>
    tx.run(sql`
      delete from order_count where (owner, day) in (
        select value->>'owner', value->>'day'
        from ${rowsFromJson(rows.map(({ owner, day }) => ({ owner, day })))})
        and placed = 0 and approved = 0 and shipped = 0 and delivered = 0 and cancelled = 0`),

  /** Deletes all counts and makes them again. The caller has locked the orders. */
  async rebuild() {
    await tx.run(sql`delete from order_count_change`);
    await tx.run(sql`delete from order_count`);
    await tx.run(sql`
      with counted as materialized (${countedOrders}), owned as (${ownedCounts})
      insert into order_count (owner, day, ${columns}) select owner, day, ${sums} from owned group by owner, day`);
    await tx.run(sql`
      insert into order_count (owner, day, ${columns})
      select owner, ${allDays}, ${sums} from order_count group by owner`);
  },

  /** How many orders an owner has in some statuses. */
  sum: async (owner: string, statuses: readonly OrderStatus[]) => {
    const row = await tx.get<{ total: number }>(
      sql`select cast(${sumOf(owner, statuses, sql`day = ${allDays}`, sql`true`)} as bigint) as total`,
    );
    return row?.total ?? 0;
  },

  /** Works like `sum`, for some days, from the first to the one before `end`. @param rest a count of orders that is added */
  sumOfDays: async (
    owner: string,
    statuses: readonly OrderStatus[],
    first: string,
    end: string,
    rest: Statement,
  ) => {
    const days = sql`day >= ${first} and day < ${end}`;
    const row = await tx.get<{ total: number }>(
      sql`select cast(${sumOf(owner, statuses, days, days)} + ${rest} as bigint) as total`,
    );
    return row?.total ?? 0;
  },

  countByStatus: async () => {
    const all = orderStatuses.map((status) => {
      const sum = sumOf(everyOwner, [status], sql`day = ${allDays}`, sql`true`);
      return sql`cast(${sum} as bigint) as ${rawSql(status)}`;
    });
    return (await tx.get<Record<OrderStatus, number>>(sql`select ${join(all, ', ')}`)) as Record<
      OrderStatus,
      number
    >;
  },

  /**
   * The oldest and the newest day of a period on which an owner may have orders in some statuses; null if there is
   * none.
   */
  findDays: async (owner: string, statuses: readonly OrderStatus[], first: string, last: string) => {
    const isInPeriod = sql`day >= ${first} and day <= ${last}`;
    const counted = sql`
      select day from order_count
      where owner = ${owner} and day <> ${allDays} and ${isInPeriod} and ${rawSql(statuses.join(' + '))} > 0`;
    const changed = sql`from order_count_change
      where ${isOwnedBy(owner)} and new_status in (${literals(statuses)}) and ${isInPeriod}`;
    const row = await tx.get<{ oldest: string | null; newest: string | null }>(sql`
      select min(oldest) as oldest, max(newest) as newest from (
        select (${counted} order by day limit 1) as oldest, (${counted} order by day desc limit 1) as newest
        union all select min(day), max(day) ${changed}
      ) as days`);
    return row?.oldest != null && row.newest !== null ? { oldest: row.oldest, newest: row.newest } : null;
  },

  /** Counts that differ from the orders, of days, and then of all days. */
  listDifferences: async (limit: number) => [
    ...(await tx.all<{ owner: string; day: string }>(sql`
      with counted as materialized (${countedOrders}), owned as (${ownedCounts})
      select owner, day from (
        select owner, day, ${columns} from order_count where day <> ${allDays}
        union all select owner, day, ${columns} from (${changesByOwner}) as changed
        union all select owner, day, ${negative} from owned
      ) as both_counts group by owner, day having ${isDifferent} limit ${limit}`)),
    ...(await tx.all<{ owner: string; day: string }>(sql`
      select owner, 'all days' as day from (
        select owner, ${columns} from order_count where day = ${allDays}
        union all select owner, ${negative} from order_count where day <> ${allDays}
      ) as both_counts group by owner having ${isDifferent} limit ${limit}`)),
  ],
}));

/** The orders of an owner, with the changes that are not yet counted. */
function sumOf(
  owner: string,
  statuses: readonly OrderStatus[],
  counted: Statement,
  changed: Statement,
): Statement {
  const list = literals(statuses);
  return sql`
    coalesce((select sum(${rawSql(statuses.join(' + '))}) from order_count where owner = ${owner} and ${counted}), 0)
    + coalesce((
      select sum(case when new_status in (${list}) then 1 else 0 end - case when old_status in (${list}) then 1 else 0 end)
      from order_count_change where ${isOwnedBy(owner)} and ${changed}), 0)`;
}

function literals(statuses: readonly OrderStatus[]): Statement {
  return rawSql(statuses.map((status) => `'${status}'`).join(', '));
}

function isOwnedBy(owner: string): Statement {
  if (owner === everyOwner) {
    return sql`true`;
  }
  const [, customerId] = /^customer:(\d+)$/.exec(owner) ?? [];
  if (owner.startsWith(ownerOfCountry(''))) {
    return sql`country = ${owner.slice(ownerOfCountry('').length)}`;
  }
  return customerId === undefined ? sql`placed_by = ${owner}` : sql`customer_id = ${Number(customerId)}`;
}
