/** Whether orders add up, and came to where they are by steps that are allowed. */
import type { Sql } from '../database/database.ts';
import { Faults, type Finding, inPages, parsed } from '../database/inspection.ts';
import { list, sql } from '../database/sql.ts';
import { totalCents } from './money.ts';
import { type OrderStatus, orderStatuses, sourcesOf } from './order-status.ts';
import { firstRealId } from './queries.ts';
import type { OrderItem } from './schemas.ts';

interface StoredOrder {
  readonly id: number;
  readonly status: OrderStatus;
  readonly items: string;
  readonly total_cents: number;
}

const open: readonly OrderStatus[] = ['placed', 'approved', 'shipped'];
const restore = 'restore a backup, or correct them by hand: nothing can be told from the rest';

export async function inspectOrders(database: Sql): Promise<Finding[]> {
  const totals = new Faults('orders whose total is not the sum of their lines', restore);
  const paths = new Faults('orders that came to their status by steps that are not allowed', restore);
  const forgotten = new Faults(
    'placed orders that no server will approve',
    'approve or cancel them: "curd orders approve <id>"',
  );
  const held = new Faults('orders whose cheeses are held, or free, against their status', restore);

  for await (const page of inPages((after, limit) => ordersAfter(database, after, limit))) {
    const subjects = page.map(({ id }) => `order:${id}`);
    const events = Map.groupBy(
      await database.all<{ subject: string; type: string }>(
        sql`select subject, type from event where subject in (${list(subjects)}) order by id`,
      ),
      ({ subject }) => subject,
    );
    const cheeses = Map.groupBy(
      await database.all<{ order_id: number; cheese_id: number }>(
        sql`select order_id, cheese_id from open_order_cheese where order_id in (${list(page.map(({ id }) => id))})`,
      ),
      ({ order_id }) => order_id,
    );
    const jobs = new Set(
      (
        await database.all<{ order_id: number }>(
          sql`select order_id from job where order_id in (${list(page.map(({ id }) => id))})`,
        )
      ).map(({ order_id }) => order_id),
    );
    for (const { id, status, items, total_cents } of page) {
      const lines = parsed<OrderItem[]>(items);
      if (lines === undefined) {
        totals.add(`order ${id}`);
        continue;
      }
      if (totalCents(lines) !== total_cents) {
        totals.add(`order ${id}`);
      }
      const way = (events.get(`order:${id}`) ?? [])
        .map(({ type }) => type.replace('order.', ''))
        .filter((step): step is OrderStatus => orderStatuses.includes(step as OrderStatus));
      if (!isAllowed(way, status)) {
        paths.add(`order ${id}: ${way.join(', ')}; now ${status}`);
      }
      if (
        id >= firstRealId &&
        status === 'placed' &&
        !jobs.has(id) &&
        lines.every(({ pricePerKg }) => pricePerKg > 0)
      ) {
        forgotten.add(`order ${id}`);
      }
      const should = id >= firstRealId && open.includes(status) ? lines.map(({ cheeseId }) => cheeseId) : [];
      const is = (cheeses.get(id) ?? []).map(({ cheese_id }) => cheese_id);
      if (new Set(should).symmetricDifference(new Set(is)).size > 0) {
        held.add(`order ${id}`);
      }
    }
  }
  const idle = new Faults('jobs whose orders wait for nothing', 'delete these rows of the table job');
  const ofNone = await database.all<{ order_id: number }>(sql`
    select distinct c.order_id from open_order_cheese c left join orders o on o.id = c.order_id
    where o.id is null limit 1000`);
  for (const { order_id } of ofNone) {
    held.add(`order ${order_id}, which is not there`);
  }
  const idleJobs = await database.all<{ order_id: number }>(sql`
    select j.order_id from job j left join orders o on o.id = j.order_id
    where o.id is null or o.status <> 'placed' limit 1000`);
  for (const { order_id } of idleJobs) {
    idle.add(`order ${order_id}`);
  }
  return [...totals.found(), ...paths.found(), ...held.found(), ...forgotten.found(), ...idle.found()];
}

function ordersAfter(database: Sql, after: number, limit: number): Promise<StoredOrder[]> {
  return database.all<StoredOrder>(
    sql`select id, status, items, total_cents from orders where id > ${after} order by id limit ${limit}`,
  );
}

function isAllowed(way: readonly OrderStatus[], status: OrderStatus): boolean {
  return (
    way[0] === 'placed' &&
    way.at(-1) === status &&
    way.slice(1).every((step, place) => sourcesOf(step).includes(way[place] as OrderStatus))
  );
}
