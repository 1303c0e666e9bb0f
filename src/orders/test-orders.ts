/**
 * Orders 1 to 10, for tests of clients: two of each status, so that a client can get every response. Their cheeses do
 * not exist, they have no approval jobs, and every start restores them.
 */
import type { Context } from '../database/context.ts';
import type { Sql } from '../database/database.ts';
import { dollars } from '../decimal.ts';
import type { NewEvent } from '../event-log/define.ts';
import { listEvents, removeFromTimeline } from '../event-log/history.ts';
import { recordOutsideLog } from '../event-log/record.ts';
import { orderEvents } from './event-types.ts';
import { totalCents } from './pricing/lines.ts';
import { orderQueries, type TestOrderRow } from './queries.ts';
import type { OrderItem, ShippingAddress } from './schemas.ts';
import { shipmentQueries } from './shipment-queries.ts';
import { type OrderStatus, orderStatuses } from './transitions/order-status.ts';

const placedAt = '2026-01-01T12:00:00.000Z';
const shippedAt = '2026-01-03T12:00:00.000Z';
const address: ShippingAddress = {
  street: 'Teststrasse 1',
  city: 'Bern',
  state: null,
  zipCode: '3000',
  country: 'CH',
};
/** Ids that the catalogue never reaches. */
const items: OrderItem[] = [
  { cheeseId: 9_000_000_000_000_001, cheeseName: 'Test Gruyère', quantity: 2, pricePerKg: 24.5 },
  { cheeseId: 9_000_000_000_000_002, cheeseName: 'Test Brie', quantity: 1, pricePerKg: 18 },
];

/** The statuses that an order has had, up to its current one. */
const histories: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  placed: ['placed'],
  approved: ['placed', 'approved'],
  shipped: ['placed', 'approved', 'shipped'],
  delivered: ['placed', 'approved', 'shipped', 'delivered'],
  cancelled: ['placed', 'cancelled'],
};

interface TestOrder {
  readonly row: TestOrderRow;
  /** The first events of its timeline. */
  readonly events: readonly NewEvent[];
}

const total_cents = totalCents(items);
const testOrders: readonly TestOrder[] = orderStatuses
  .flatMap((status) => [status, status])
  .map((status, index) => {
    const id = index + 1;
    const row = {
      id,
      status,
      ship_date: status === 'placed' || status === 'cancelled' ? null : shippedAt,
      items: JSON.stringify(items),
      address: JSON.stringify(address),
      notes: null,
      total_cents,
      goods_cents: total_cents,
      created_at: placedAt,
    };
    const total = dollars(total_cents);
    const events = histories[status].map((reached) =>
      orderEvents[reached].of(`order:${id}`, { id, status: reached, total, reason: null }),
    );
    return { row, events };
  });

const testIds = testOrders.map(({ row }) => row.id);
const testSubjects = testOrders.map(({ row }) => `order:${row.id}`);

/**
 * Restores the test orders that are missing or were changed, with their timelines. Writes nothing for the others. The
 * orders are locked before their events are read: a request that changes one meanwhile has both rows restored, or none.
 */
export async function restoreTestOrders({ transaction, origin }: Context): Promise<void> {
  await transaction(async (tx) => {
    const queries = orderQueries(tx);
    await queries.lockTestOrders();
    const stored = new Map((await queries.lockAllTestOrders()).map((row) => [row.id, row]));
    const storedEvents = Map.groupBy(await listEvents(tx, testSubjects), ({ subject }) => subject);
    const wrong = testOrders.filter(({ row }) => !isSame(row, stored.get(row.id)));
    if (wrong.length > 0) {
      await queries.restore(wrong.map(({ row }) => row));
    }
    await shipmentQueries(tx).deleteAll(testIds);
    for (const { row, events } of testOrders) {
      const found = storedEvents.get(`order:${row.id}`) ?? [];
      const isIntact = events.every(({ type }, index) => found[index]?.type === type);
      const extra = found.slice(isIntact ? events.length : 0);
      await removeFromTimeline(
        tx,
        extra.map(({ id }) => id),
      );
      if (!isIntact) {
        await recordOutsideLog(tx, origin, placedAt, events);
      }
    }
  });
}

function isSame(expected: TestOrderRow, stored: TestOrderRow | undefined): boolean {
  const names = Object.keys(expected) as (keyof TestOrderRow)[];
  return stored !== undefined && names.every((name) => stored[name] === expected[name]);
}

/** Deletes the test orders with their timelines and returns how many there were. */
export async function removeTestOrders(tx: Sql): Promise<number> {
  await orderQueries(tx).lockAllTestOrders();
  const history = await listEvents(tx, testSubjects);
  await removeFromTimeline(
    tx,
    history.map(({ id }) => id),
  );
  await shipmentQueries(tx).deleteAll(testIds);
  return orderQueries(tx).deleteTestOrders();
}
