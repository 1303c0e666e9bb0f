/**
 * Orders 1 to 10, for whoever tries a client out: two of each status, so that every answer can be had. They are of
 * cheeses that no catalogue holds, move only when somebody moves them, and are as they were after every start.
 */
import { type Context, recordEvents } from '../database/context.ts';
import { dollars, totalCents } from './money.ts';
import { type OrderStatus, orderStatuses } from './order-status.ts';
import { orderQueries } from './queries.ts';
import type { OrderItem, ShownAddress } from './schemas.ts';

const placedAt = '2026-01-01T12:00:00.000Z';
const shippedAt = '2026-01-03T12:00:00.000Z';
const address: ShownAddress = {
  street: 'Teststrasse 1',
  city: 'Bern',
  state: null,
  zipCode: '3000',
  country: 'CH',
};
/** Ids that the catalogue never comes to. */
const items: OrderItem[] = [
  { cheeseId: 9_000_000_000_000_001, cheeseName: 'Test Gruyère', quantity: 2, pricePerKg: 24.5 },
  { cheeseId: 9_000_000_000_000_002, cheeseName: 'Test Brie', quantity: 1, pricePerKg: 18 },
];

/** How an order came to its status. */
const ways: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  placed: ['placed'],
  approved: ['placed', 'approved'],
  shipped: ['placed', 'approved', 'shipped'],
  delivered: ['placed', 'approved', 'shipped', 'delivered'],
  cancelled: ['placed', 'cancelled'],
};

/** Puts the ten back as they belong, timelines and all. */
export async function restoreTestOrders({ transaction, origin }: Context): Promise<void> {
  const total_cents = totalCents(items);
  const orders = orderStatuses
    .flatMap((status) => [status, status])
    .map((status, index) => ({
      id: index + 1,
      status,
      ship_date: status === 'placed' || status === 'cancelled' ? null : shippedAt,
      items: JSON.stringify(items),
      address: JSON.stringify(address),
      total_cents,
      created_at: placedAt,
    }));
  const events = orders.flatMap(({ id, status }) =>
    ways[status].map((step) => ({
      type: `order.${step}`,
      subject: `order:${id}`,
      data: JSON.stringify({ id, status: step, total: dollars(total_cents), reason: null }),
    })),
  );
  await transaction(async (tx) => {
    const queries = orderQueries(tx);
    await queries.restore(orders);
    await queries.deleteHistory(orders.map(({ id }) => id));
    await recordEvents(tx, origin, placedAt, events);
  });
}
