/** The plans of lists of orders: each page reads one index in its order, and totals read counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../src/database/database.ts';
import { type Statement, sql, type Value } from '../../src/database/sql.ts';
import type { OrderFilters } from '../../src/orders/lists/list-queries.ts';
import { countOrders } from '../../src/orders/lists/list-totals.ts';
import { addChanges } from '../../src/orders/lists/order-counter.ts';
import { readPage } from '../../src/orders/lists/order-pages.ts';
import type { OrderStatus } from '../../src/orders/transitions/order-status.ts';
import { onBothEngines, openShop, type Shop } from '../helper.ts';

/** Orders over 100 days. With a million, the plans are those of a large shop. */
const orders = Number(process.env.CURD_TEST_ORDERS ?? 8000);
const columns = [
  ...[
    'status',
    'placed_by',
    'customer_id',
    'items',
    'address',
    'total_cents',
    'goods_cents',
    'ship_date',
    'created_at',
  ],
  ...['updated_at', 'needs_approval'],
];
const insertedAtOnce = 2000;
const now = '2026-06-01T00:00:00.000Z';

function statusOf(index: number): OrderStatus {
  if (index % 50 === 0) {
    return 'cancelled';
  }
  return index < orders * 0.97
    ? 'delivered'
    : ((['shipped', 'approved', 'placed'] as const)[(index % 3) | 0] ?? 'placed');
}

function orderRow(index: number): Value[] {
  const createdAt = new Date(
    Date.parse(now) - Math.round((1 - index / orders) * 100 * 86_400_000),
  ).toISOString();
  const status = statusOf(index);
  const customer = index % 3 === 0 ? null : index % 200;
  const placedBy = ['key:1', 'client:a', `customer:${customer}`][customer === null ? index % 2 : 2] ?? '';
  const shipDate = status === 'approved' ? createdAt : null;
  const address = JSON.stringify({ country: index % 40 === 0 ? 'LI' : 'CH' });
  const text = '[{"cheeseId":1,"cheeseName":"Comté","quantity":1,"pricePerKg":24.5}]';
  const needsApproval = status === 'placed' && index % 7 === 0 ? 1 : 0;
  return [
    status,
    placedBy,
    customer,
    text,
    address,
    2450,
    2450,
    shipDate,
    createdAt,
    createdAt,
    needsApproval,
  ];
}

/** A database that explains statements instead of running them: pages are read by `all`, totals by `get`. */
function explaining(database: Sql, plans: string[], method: 'all' | 'get'): Sql {
  const explain = async (statement: Statement) => {
    const rows = await database.all<Record<string, string>>(
      database.engine === 'sqlite' ? sql`explain query plan ${statement}` : sql`explain ${statement}`,
    );
    const plan = rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n');
    plans.push(plan);
    return method === 'all' ? [] : undefined;
  };
  return { ...database, [method]: explain };
}

async function fill({ app }: Shop): Promise<void> {
  const { database } = app;
  for (let first = 0; first < orders; first += insertedAtOnce) {
    const rows = Array.from({ length: Math.min(insertedAtOnce, orders - first) }, (_, index) =>
      orderRow(first + index),
    );
    await database.insert('orders', columns, rows);
  }
  await addChanges(database);
  if (database.engine === 'postgres') {
    await database.run(sql`analyze orders`);
  }
}

const middle = { createdFrom: '2026-04-01T10:00:00.000Z', createdBefore: '2026-05-01T00:00:00.000Z' };

/** Open orders of a cheese are found by their ids. */
const byId = 'pkey|orders USING INTEGER PRIMARY KEY \\(';

/** Filters, the index of their pages, and that of their totals where these are not counted. */
const lists: [filters: OrderFilters, page: string, total?: string][] = [
  [{}, 'created'],
  [{ createdBefore: middle.createdBefore }, 'created'],
  [middle, 'created'],
  [{ statuses: ['placed'] }, 'status'],
  [{ statuses: ['placed'], ...middle }, 'status'],
  [{ statuses: ['cancelled', 'shipped'] }, 'status'],
  [{ statuses: ['delivered'] }, 'created'],
  [{ statuses: ['delivered', 'cancelled'], ...middle }, 'created'],
  [{ statuses: ['cancelled'], createdFrom: middle.createdFrom }, 'status'],
  [{ customerId: 7 }, 'customer'],
  [{ customerId: 7, statuses: ['delivered'], ...middle }, 'customer'],
  // PostgreSQL sees that a customer has more orders than are placed.
  [{ customerId: 7, statuses: ['placed'] }, '(customer|status)'],
  [{ placedBy: 'key:1' }, 'placer'],
  [{ placedBy: 'client:a', ...middle }, 'placer'],
  [{ placedBy: 'client:a', statuses: ['delivered'] }, 'placer'],
  [{ placedBy: 'client:a', statuses: ['placed', 'approved'] }, 'status'],
  [{ placedBy: 'customer:7' }, 'placer', 'placer'],
  [{ customerId: 7, placedBy: 'customer:7' }, '(customer|placer)', '(customer|placer)'],
  [{ country: 'CH' }, 'country'],
  [{ country: 'CH', ...middle }, 'country'],
  [{ country: 'CH', statuses: ['delivered'] }, 'country'],
  // Fewer orders were sent to this country than are open.
  [{ country: 'CH', statuses: ['placed'] }, '(country|status)'],
  [{ country: 'LI', customerId: 40 }, 'customer', 'customer'],
  [{ cheeseId: 1 }, byId, byId],
  [{ cheeseId: 1, country: 'CH', statuses: ['placed'], ...middle }, byId, byId],
  [{ needsApproval: true }, 'needing_approval', 'needing_approval'],
  [{ needsApproval: true, placedBy: 'key:1', ...middle }, 'needing_approval', 'needing_approval'],
  [{ shipBefore: now }, 'to_ship', 'to_ship'],
  [{ shipBefore: now, customerId: 7, ...middle }, 'to_ship', 'to_ship'],
];

onBothEngines('Lists of orders', (engine) => {
  test('Lists of orders read one index in the order of the page, and count whole days from counts', async (t) => {
    const shop = await openShop(t, { engine });
    await fill(shop);
    const { database } = shop.app;
    for (const [filters, index, totalIndex] of lists) {
      const note = JSON.stringify(filters);
      const plans: string[] = [];
      const explained = explaining(database, plans, 'all');
      for (const last of [null, { createdAt: '2026-04-10T10:00:00.000Z', id: 4000 }]) {
        for (const isAscending of [false, true]) {
          await readPage(explained, { filters, last, isAscending, limit: 21 });
        }
      }
      for (const plan of plans) {
        assert.match(plan, new RegExp(`orders_(by_)?${index}\\b`), `${note}\n${plan}`);
        assert.doesNotMatch(plan, /SCAN orders$|Seq Scan on orders\b/m, `${note}\n${plan}`);
      }
      const counting: string[] = [];
      await countOrders(explaining(database, counting, 'get'), filters);
      for (const plan of counting) {
        assert.doesNotMatch(plan, /SCAN orders$|Seq Scan on orders\b/m, `${note}\n${plan}`);
        const expected = totalIndex === undefined ? 'order_count' : `orders_(by_)?${totalIndex}\\b`;
        assert.match(plan, new RegExp(expected), `${note}\n${plan}`);
      }
    }
  });
});
