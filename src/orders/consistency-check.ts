/** Checks the totals, transitions, reservations and jobs of orders, and the credits of customers. */
import type { Sql } from '../database/database.ts';
import { type Finding, Findings, readInPages, tryParseJson } from '../database/findings.ts';
import { sql, valueList } from '../database/sql.ts';
import { approvalKind } from './approval-job.ts';
import { orderCountQueries } from './count-queries.ts';
import { totalCents } from './money.ts';
import { cheesesOf } from './order.ts';
import { allowedFrom, type OrderStatus, orderStatuses } from './order-status.ts';
import { firstRealId } from './queries.ts';
import type { OrderItem } from './schemas.ts';

interface OfOrder {
  readonly order_id: number;
}

interface StoredOrder {
  readonly id: number;
  readonly status: OrderStatus;
  readonly items: string;
  readonly total_cents: number;
}

const open: readonly OrderStatus[] = ['placed', 'approved', 'shipped'];
const restore =
  'restore a backup, or correct them by hand: the correct value cannot be computed from other data';

/** @param database a snapshot, because the compared rows must not change meanwhile */
export async function checkOrders(database: Sql): Promise<Finding[]> {
  const totals = new Findings('orders whose total is not the sum of their lines', restore);
  const paths = new Findings('orders whose status was reached by transitions that are not allowed', restore);
  const reserved = new Findings(
    'open orders whose cheeses are not reserved, or closed orders whose cheeses are',
    restore,
  );
  const missingJobs = new Findings(
    'placed orders that have no approval job, so that no server approves them',
    'approve or cancel them: "curd orders approve <id>"',
  );
  const parked = new Findings(
    'orders whose approval failed too often and is not tried again',
    'remove the cause, then approve or cancel them: "curd orders approve <id>", "curd orders cancel <id>"',
  );
  const unneededJobs = new Findings(
    'approval jobs of orders that are not placed',
    'delete these rows of the table background_job',
  );

  const counts = new Findings(
    'counts of orders that differ from the orders, by owner and day',
    'run "curd doctor --repair", which counts again',
  );

  for await (const page of readInPages((after, limit) => ordersAfter(database, after, limit))) {
    const { statuses, cheeses, jobs } = await readRelated(database, page);
    for (const { id, status, items, total_cents } of page) {
      const lines = tryParseJson<OrderItem[]>(items);
      if (lines === undefined || totalCents(lines) !== total_cents) {
        totals.add(`order ${id}`);
      }
      if (lines === undefined) {
        continue;
      }
      const history = statuses.get(id) ?? [];
      if (!isAllowed(history, status)) {
        paths.add(`order ${id}: ${history.join(', ')}; now ${status}`);
      }
      const isReal = id >= firstRealId;
      const isPriced = lines.every(({ pricePerKg }) => pricePerKg > 0);
      if (isReal && status === 'placed' && isPriced && !jobs.has(id)) {
        missingJobs.add(`order ${id}`);
      }
      const should = new Set(isReal && open.includes(status) ? cheesesOf(lines) : []);
      if (should.symmetricDifference(new Set(cheeses.get(id))).size > 0) {
        reserved.add(`order ${id}`);
      }
    }
  }
  for (const { order_id } of await database.all<OfOrder>(sql`
    select distinct c.order_id from open_order_cheese c left join orders o on o.id = c.order_id
    where o.id is null limit 1000`)) {
    reserved.add(`order ${order_id}, which does not exist`);
  }
  for (const { key } of await database.all<{ key: string }>(sql`
    select j.key from background_job j left join orders o on o.id = case when j.kind = ${approvalKind} then cast(j.key as bigint) end
    where j.kind = ${approvalKind} and (o.id is null or o.status <> 'placed') limit 1000`)) {
    unneededJobs.add(`order ${key}`);
  }
  for (const { key, last_error } of await database.all<{ key: string; last_error: string }>(sql`
    select key, last_error from background_job
    where kind = ${approvalKind} and parked_at is not null limit 1000`)) {
    parked.add(`order ${key}: ${last_error}`);
  }
  for (const { owner, day } of await orderCountQueries(database).listDifferences(1000)) {
    counts.add(`${owner}, ${day}`);
  }
  return [totals, paths, reserved, missingJobs, parked, unneededJobs, counts].flatMap((findings) =>
    findings.found(),
  );
}

/** For some orders, by id: the statuses they have had, the cheeses they reserve, and which of them have a job. */
async function readRelated(database: Sql, orders: readonly StoredOrder[]) {
  const ids = orders.map(({ id }) => id);
  const events = await database.all<{ subject: string; type: string }>(sql`
    select subject, type from event where subject in (${valueList(ids.map((id) => `order:${id}`))}) order by id`);
  const reservations = await database.all<OfOrder & { cheese_id: number }>(
    sql`select order_id, cheese_id from open_order_cheese where order_id in (${valueList(ids)})`,
  );
  const jobs = await database.all<{ key: string }>(sql`
    select key from background_job where kind = ${approvalKind} and key in (${valueList(ids.map(String))})`);
  const statuses = new Map<number, OrderStatus[]>();
  for (const { subject, type } of events) {
    const [id, status] = [Number(subject.slice('order:'.length)), type.slice('order.'.length) as OrderStatus];
    if (orderStatuses.includes(status)) {
      statuses.set(id, [...(statuses.get(id) ?? []), status]);
    }
  }
  const cheeses = new Map<number, number[]>();
  for (const { order_id, cheese_id } of reservations) {
    cheeses.set(order_id, [...(cheeses.get(order_id) ?? []), cheese_id]);
  }
  return { statuses, cheeses, jobs: new Set(jobs.map(({ key }) => Number(key))) };
}

function ordersAfter(database: Sql, after: number, limit: number): Promise<StoredOrder[]> {
  return database.all<StoredOrder>(
    sql`select id, status, items, total_cents from orders where id > ${after} order by id limit ${limit}`,
  );
}

function isAllowed(history: readonly OrderStatus[], status: OrderStatus): boolean {
  return (
    history[0] === 'placed' &&
    history.at(-1) === status &&
    history.slice(1).every((to, index) => allowedFrom(to).includes(history[index] as OrderStatus))
  );
}

/** Compares the credited total of each customer with the customer's delivered orders. */
export async function checkCredits(database: Sql): Promise<Finding[]> {
  const credits = new Findings(
    'customers whose delivered total is not the sum of their delivered orders',
    'correct delivered_cents of these customers to the sum of their delivered orders',
  );
  const rows = await database.all<{ id: number }>(sql`
    select c.id from customer c
      left join (
        select customer_id, sum(total_cents) as cents from orders where status = 'delivered' group by customer_id
      ) o on o.customer_id = c.id
    where c.delivered_cents <> coalesce(o.cents, 0) order by c.id limit 1000`);
  for (const { id } of rows) {
    credits.add(`customer ${id}`);
  }
  return credits.found();
}
