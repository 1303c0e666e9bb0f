/** Checks the totals, transitions, reservations and jobs of orders, and the credits of customers. */
import { forEachBlock } from '../blocks.ts';
import { commandName } from '../command-name.ts';
import { type Finding, Findings, readInPages, tryParseJson } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { rowsFromJson, sql, valueList } from '../database/sql.ts';
import { wholeCents } from '../decimal.ts';
import { orderCountQueries } from './count-queries.ts';
import { listCheeseIds } from './order.ts';
import { totalCents } from './pricing/lines.ts';
import type { Breakdown } from './pricing/schemas.ts';
import { firstRealId } from './queries.ts';
import type { OrderItem } from './schemas.ts';
import { orderDeliveryKind, orderShippingKind } from './transitions/automatic-steps.ts';
import { allowedFrom, type OrderStatus, orderStatuses } from './transitions/order-status.ts';
import { orderApprovalKind } from './transitions/transitions.ts';

interface StoredOrder {
  readonly id: number;
  readonly status: OrderStatus;
  readonly items: string;
  readonly total_cents: number;
  readonly goods_cents: number;
  readonly breakdown: string | null;
  readonly needs_approval: number;
  /** Types of its events, the oldest first, separated by spaces; null when it has none. */
  readonly history: string | null;
}

/** The cheeses of an open order. */
type Pair = readonly [cheeseId: number, orderId: number];

interface StoredReservation {
  readonly cheese_id: number;
  readonly order_id: number;
  readonly status: OrderStatus | null;
  readonly items: string | null;
}

const pageSize = 2000;
const open: readonly OrderStatus[] = ['placed', 'approved', 'shipped'];
const restore =
  'restore a backup, or correct them by hand: the correct value cannot be computed from other data';

/**
 * @param database a snapshot, because the compared rows must not change meanwhile
 * @param onProgress receives the id of the order that was checked last, and the last id
 */
export function checkOrders(
  database: Sql,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Finding[]> {
  return new OrderCheck(database).run(onProgress);
}

class OrderCheck {
  readonly #database: Sql;
  readonly #totals = new Findings(
    'orders whose total is not the sum of their lines and of their breakdown',
    restore,
  );
  readonly #paths = new Findings(
    'orders whose status was reached by transitions that are not allowed',
    restore,
  );
  readonly #reserved = new Findings(
    'open orders whose cheeses are not reserved, or closed orders whose cheeses are',
    restore,
  );
  readonly #missingJobs = new Findings(
    'placed orders that have no approval job, so that no server approves them',
    `approve or cancel them: "${commandName} orders approve <id>"`,
  );
  readonly #parked = new Findings(
    'orders whose approval, shipping or delivery by itself failed too often and is not tried again',
    `remove the cause, then approve, ship, deliver or cancel them: "${commandName} orders approve <id>" ...`,
  );
  readonly #unneededJobs = new Findings(
    'approval jobs of orders that are not placed',
    'delete these rows of the table background_job',
  );
  readonly #counts = new Findings(
    'counts of orders that differ from the orders, by owner and day',
    `run "${commandName} doctor --repair", which counts again`,
  );
  /** There are few different histories. */
  readonly #allowed = new Map<string, boolean>();

  constructor(database: Sql) {
    this.#database = database;
  }

  async run(onProgress: (done: number, total: number) => void): Promise<Finding[]> {
    const database = this.#database;
    const lastId =
      (await database.get<{ id: number | null }>(sql`select max(id) as id from orders`))?.id ?? 0;
    for await (const page of readInPages((after, limit) => ordersAfter(database, after, limit), pageSize)) {
      await this.#checkPage(page);
      onProgress(page.at(-1)?.id ?? lastId, lastId);
    }
    for await (const page of reservations(database)) {
      this.#checkReservations(page);
    }
    await this.#checkJobs();
    for (const { owner, day } of await orderCountQueries(database).listDifferences(1000)) {
      this.#counts.add(`${owner}, ${day}`);
    }
    return [
      ...[this.#totals, this.#paths, this.#reserved, this.#missingJobs],
      ...[this.#parked, this.#unneededJobs, this.#counts],
    ].flatMap((findings) => findings.found());
  }

  async #checkPage(page: readonly StoredOrder[]): Promise<void> {
    const openOrders: Pair[] = [];
    const waiting: number[] = [];
    for (const order of page) {
      const { id, status, items, needs_approval } = order;
      const lines = tryParseJson<OrderItem[]>(items);
      if (lines === undefined || !addsUp(order, lines)) {
        this.#totals.add(`order ${id}`);
      }
      if (lines === undefined) {
        continue;
      }
      this.#checkHistory(order);
      if (id < firstRealId || !open.includes(status)) {
        continue;
      }
      openOrders.push(...listCheeseIds(lines).map((cheeseId): Pair => [cheeseId, id]));
      if (status === 'placed' && needs_approval === 0 && lines.every(({ pricePerKg }) => pricePerKg > 0)) {
        waiting.push(id);
      }
    }
    for (const id of await withoutReservation(this.#database, openOrders)) {
      this.#reserved.add(`order ${id}`);
    }
    for (const id of await withoutJob(this.#database, waiting)) {
      this.#missingJobs.add(`order ${id}`);
    }
  }

  #checkHistory({ id, status, history }: StoredOrder): void {
    const path = `${history ?? ''} ${status}`;
    if (this.#allowed.get(path) === undefined) {
      this.#allowed.set(path, isAllowed(path));
    }
    if (this.#allowed.get(path) === false) {
      this.#paths.add(`order ${id}: ${statusesOf(history ?? '').join(', ')}; now ${status}`);
    }
  }

  #checkReservations(page: readonly StoredReservation[]): void {
    for (const { cheese_id, order_id, status, items } of page) {
      if (status === null) {
        this.#reserved.add(`order ${order_id}, which does not exist`);
      } else if (order_id < firstRealId || !open.includes(status) || !hasCheese(items, cheese_id)) {
        this.#reserved.add(`order ${order_id}, cheese ${cheese_id}`);
      }
    }
  }

  async #checkJobs(): Promise<void> {
    for (const { key } of await this.#database.all<{ key: string }>(sql`
      select j.key from background_job j left join orders o on o.id = case when j.kind = ${orderApprovalKind} then cast(j.key as bigint) end
      where j.kind = ${orderApprovalKind} and (o.id is null or o.status <> 'placed') limit 1000`)) {
      this.#unneededJobs.add(`order ${key}`);
    }
    for (const { key, last_error } of await this.#database.all<{ key: string; last_error: string }>(sql`
      select key, last_error from background_job
      where kind in (${orderApprovalKind}, ${orderShippingKind}, ${orderDeliveryKind}) and parked_at is not null
      limit 1000`)) {
      this.#parked.add(`order ${key}: ${last_error}`);
    }
  }
}

/** Lines of several tax rates are rounded once for each rate, so that their sum can differ by a cent for each. */
function addsUp(order: StoredOrder, lines: readonly OrderItem[]): boolean {
  const { total_cents, goods_cents } = order;
  if (order.breakdown === null) {
    return totalCents(lines) === total_cents && goods_cents === total_cents;
  }
  const breakdown = tryParseJson<Breakdown>(order.breakdown);
  if (breakdown === undefined) {
    return false;
  }
  const { subtotal, discount, delivery, tax } = breakdown;
  const [goods, off, charge, taxes] = [subtotal, discount?.amount, delivery?.amount, tax?.amount].map(
    (amount) => wholeCents(amount ?? 0),
  ) as [number, number, number, number];
  const rounded = tax === undefined ? 0 : lines.length;
  return (
    Math.abs(totalCents(lines) - goods) <= rounded &&
    goods - off === goods_cents &&
    goods_cents + charge + (tax?.included === false ? taxes : 0) === total_cents
  );
}

function ordersAfter(database: Sql, after: number, limit: number): Promise<StoredOrder[]> {
  return database.all<StoredOrder>(sql`
    select id, status, items, total_cents, goods_cents, breakdown, needs_approval,
      (select string_agg(type, ' ' order by event.id) from event where subject = 'order:' || orders.id) as history
    from orders where id > ${after} order by id limit ${limit}`);
}

/** The ids of the orders, one for each pair that has no reservation. */
async function withoutReservation(database: Sql, pairs: readonly Pair[]): Promise<number[]> {
  const missing: number[] = [];
  await forEachBlock(pairs, pageSize, async (some) => {
    const found = await database.all<{ cheese_id: number; order_id: number }>(sql`
      select cheese_id, order_id from open_order_cheese where (cheese_id, order_id) in (
        select cast(value->>'cheese' as bigint), cast(value->>'order' as bigint)
        from ${rowsFromJson(some.map(([cheese, order]) => ({ cheese, order })))})`);
    const known = new Set(found.map(({ cheese_id, order_id }) => `${cheese_id} ${order_id}`));
    missing.push(...some.filter((pair) => !known.has(pair.join(' '))).map(([, id]) => id));
  });
  return missing;
}

async function withoutJob(database: Sql, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) {
    return [];
  }
  const jobs = await database.all<{ key: string }>(sql`
    select key from background_job where kind = ${orderApprovalKind} and key in (${valueList(ids.map(String))})`);
  const known = new Set(jobs.map(({ key }) => Number(key)));
  return ids.filter((id) => !known.has(id));
}

/** All reservations with their orders, in pages. */
async function* reservations(database: Sql): AsyncGenerator<StoredReservation[]> {
  let [cheese, order] = [0, 0];
  for (;;) {
    const page = await database.all<StoredReservation>(sql`
      select c.cheese_id, c.order_id, o.status, o.items from open_order_cheese c left join orders o on o.id = c.order_id
      where (c.cheese_id, c.order_id) > (${cheese}, ${order}) order by c.cheese_id, c.order_id limit ${pageSize}`);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) {
      return;
    }
    [cheese, order] = [last.cheese_id, last.order_id];
  }
}

function hasCheese(items: string | null, cheeseId: number): boolean {
  // Lines that are not JSON are reported with the total.
  const lines = tryParseJson<OrderItem[]>(items ?? '');
  return lines === undefined || lines.some((line) => line.cheeseId === cheeseId);
}

/** The statuses in a list of types of events. */
function statusesOf(history: string): OrderStatus[] {
  return history
    .split(' ')
    .map((type) => type.replace(/^order\./, '') as OrderStatus)
    .filter((status) => orderStatuses.includes(status));
}

/** @param text types of the events of an order, and its status */
function isAllowed(text: string): boolean {
  const history = statusesOf(text);
  const status = history.pop();
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
        select customer_id, sum(goods_cents) as cents from orders where status = 'delivered' group by customer_id
      ) o on o.customer_id = c.id
    where c.delivered_cents <> coalesce(o.cents, 0) order by c.id limit 1000`);
  for (const { id } of rows) {
    credits.add(`customer ${id}`);
  }
  return credits.found();
}
