/** Whether orders add up, and came to where they are by steps that are allowed. */
import type { Sql } from '../database/database.ts';
import { Faults, type Finding, inPages } from '../database/inspection.ts';
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
    for (const { id, status, items, total_cents } of page) {
      const lines = JSON.parse(items) as OrderItem[];
      if (totalCents(lines) !== total_cents) {
        totals.add(`order ${id}`);
      }
      const way = (events.get(`order:${id}`) ?? [])
        .map(({ type }) => type.replace('order.', ''))
        .filter((step): step is OrderStatus => orderStatuses.includes(step as OrderStatus));
      if (!isAllowed(way, status)) {
        paths.add(`order ${id}: ${way.join(', ')}; now ${status}`);
      }
      const should = id >= firstRealId && open.includes(status) ? lines.map(({ cheeseId }) => cheeseId) : [];
      const is = (cheeses.get(id) ?? []).map(({ cheese_id }) => cheese_id);
      if (new Set(should).symmetricDifference(new Set(is)).size > 0) {
        held.add(`order ${id}`);
      }
    }
  }
  const idle = new Faults('jobs whose orders wait for nothing', 'delete these rows of the table job');
  const jobs = await database.all<{ order_id: number }>(sql`
    select j.order_id from job j left join orders o on o.id = j.order_id
    where o.id is null or o.status <> 'placed' limit 1000`);
  for (const { order_id } of jobs) {
    idle.add(`order ${order_id}`);
  }
  return [...totals.found(), ...paths.found(), ...held.found(), ...idle.found()];
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
