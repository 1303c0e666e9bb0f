/** Lists of orders and their totals, compared with a model after random changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Principal } from '../../src/access/principal.ts';
import { sql } from '../../src/database/sql.ts';
import { checkOrders } from '../../src/orders/consistency-check.ts';
import { recountOrders } from '../../src/orders/lists/order-counter.ts';
import type { OrderRequest } from '../../src/orders/lists/order-reader.ts';
import { type OrderStatus, orderStatuses } from '../../src/orders/transitions/order-status.ts';
import { newCustomer } from '../auth/holders.ts';
import { bern, onBothEngines, openShop, testClock } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { createRandom } from './navigation-model.ts';

/** Random steps. With more, the test takes longer and finds more: 5000 take about a minute on each engine. */
const steps = Number(process.env.CURD_TEST_ROUNDS ?? 150);
const hourMs = 60 * 60_000;

interface Known {
  readonly id: number;
  readonly placedBy: string;
  customerId: number | null;
  status: OrderStatus;
  readonly createdAt: string;
  readonly needsApproval: boolean;
  readonly country: string;
  readonly cheeseId: number;
}

function principal(id: string, customerId: number | null): Principal {
  return {
    kind: id.startsWith('key:') ? 'apiKey' : 'oauth',
    id,
    customerId,
    scopes: new Set(['read:orders', 'write:orders']),
    audience: 'any',
    accountId: 1,
    plan: 'free',
    expiresAt: null,
    sessionHash: null,
    tokenHash: null,
    confinedTo: null,
    limits: null,
  };
}

onBothEngines('Lists of orders', (engine) => {
  test('Lists of orders and their totals are those of a model after each of many random changes', async (t) => {
    const clock = testClock(Date.parse('2026-06-01T22:00:00.000Z'));
    const settings = { CURD_ORDERS_PER_HOUR: 'off' };
    const shop = await openShop(t, { engine, clock, settings });
    const {
      orders: { service: orders, reader: orderReader, counter: orderCounter },
      contextOf,
      database,
    } = shop.app;
    const context = contextOf('test');
    const random = createRandom(Number(process.env.CURD_TEST_SEED ?? 7));
    const priced = await newCheese(shop, { name: 'Priced', pricePerKg: 5 });
    const free = await newCheese(shop, { name: 'Free', pricePerKg: undefined });
    const known: Known[] = [];
    const names = new Map<number, string>();
    const register = async (): Promise<number> => {
      const name = `customer${names.size}`;
      const id = await newCustomer(shop, name, 'customer');
      names.set(id, name);
      return id;
    };
    const living = [await register(), await register()];

    const placers = (): Principal[] => [
      principal('key:1', null),
      principal('key:1', random.pick(living)),
      principal('key:12', null),
      principal('client:a', null),
      ...living.flatMap((id) => [principal(`customer:${id}`, id), principal(`client:a/customer:${id}`, id)]),
    ];

    async function place(): Promise<void> {
      const placer = random.pick(placers());
      const needsApproval = random.pick([true, false, false]);
      const items = [{ cheeseId: needsApproval ? free : priced, quantity: 1 }];
      const country = random.pick(['CH', 'CH', 'FR']);
      const shippingAddress = { ...bern, country };
      const { id, body } = await orders.place(context, placer, { items, shippingAddress });
      const { createdAt } = JSON.parse(body);
      const { id: placedBy, customerId } = placer;
      known.push({
        id,
        placedBy,
        customerId,
        status: 'placed',
        createdAt,
        needsApproval,
        country,
        cheeseId: needsApproval ? free : priced,
      });
    }

    const transitions = {
      approve: { from: ['placed'], to: 'approved' },
      ship: { from: ['approved'], to: 'shipped' },
      deliver: { from: ['shipped'], to: 'delivered' },
      cancel: { from: ['placed', 'approved', 'cancelled'], to: 'cancelled' },
    } as const;

    async function move(verb: keyof typeof transitions): Promise<void> {
      const { from, to } = transitions[verb];
      const allowed = known.filter(({ status }) => (from as readonly OrderStatus[]).includes(status));
      const order = allowed.length === 0 ? undefined : random.pick(allowed);
      if (order !== undefined) {
        await (verb === 'cancel' ? orders.cancel(context, order.id, null) : orders[verb](context, order.id));
        order.status = to;
      }
    }

    async function deleteCustomer(): Promise<void> {
      const [id = 0] = living.splice(random.pick([0, 1]), 1);
      const deleted = await shop.request('DELETE', `/v2/customer/${names.get(id)}`, { as: shop.admin });
      assert.equal(deleted.status, 204, deleted.text);
      for (const order of known.filter(({ customerId }) => customerId === id)) {
        order.customerId = null;
        order.status = ['placed', 'approved'].includes(order.status) ? 'cancelled' : order.status;
      }
      living.push(await register());
    }

    const someTime = (): string => {
      const at = known.length === 0 ? clock.now() : Date.parse(random.pick(known).createdAt);
      const midnight = Math.floor(at / (24 * hourMs)) * 24 * hourMs;
      return new Date(
        random.pick([at, at + 1, at - 1, midnight, midnight + 24 * hourMs, at + hourMs]),
      ).toISOString();
    };

    async function compare(): Promise<void> {
      const owner = random.pick([
        null,
        null,
        null,
        principal('client:a', null),
        principal('x', living[0] ?? 0),
      ]);
      const maybe = <T>(value: T): T | undefined => (random.pick([true, false, false]) ? value : undefined);
      const pickStatuses = () => orderStatuses.filter(() => random.pick([true, false, false]));
      const statuses = random.pick([true, false]) ? pickStatuses() : undefined;
      const customerIds = [...living, ...known.map(({ customerId }) => customerId ?? 4711)];
      const filters: Omit<OrderRequest, 'limit' | 'cursor'> = {
        statuses: statuses?.length === 0 ? undefined : statuses,
        createdFrom: maybe(someTime()),
        createdBefore: maybe(someTime()),
        customerId: owner === null ? maybe(random.pick(customerIds)) : undefined,
        placedBy:
          owner === null
            ? maybe(random.pick(['*', 'key:4711', ...placers().map(({ id }) => id)]))
            : undefined,
        country: owner === null ? maybe(random.pick(['CH', 'FR', 'DE'])) : undefined,
        cheeseId: owner === null && random.pick([1, 2, 3, 4]) === 1 ? random.pick([priced, free]) : undefined,
        needsApproval: random.pick([true, undefined, undefined, undefined, undefined]),
        sort: random.pick(['createdAt', '-createdAt', undefined]),
      };
      if (filters.placedBy !== undefined && filters.country !== undefined) {
        await assert.rejects(orderReader.list(owner, { ...filters, limit: 1 }), /cannot be combined/);
        return;
      }
      const expected = known
        .filter(
          (order) =>
            (owner === null ||
              (owner.customerId === null
                ? order.placedBy === owner.id
                : order.customerId === owner.customerId)) &&
            (filters.statuses?.includes(order.status) ?? true) &&
            (filters.createdFrom === undefined || order.createdAt >= filters.createdFrom) &&
            (filters.createdBefore === undefined || order.createdAt < filters.createdBefore) &&
            (filters.customerId === undefined || order.customerId === filters.customerId) &&
            (filters.placedBy === undefined || order.placedBy === filters.placedBy) &&
            (filters.country === undefined || order.country === filters.country) &&
            (filters.cheeseId === undefined ||
              (order.cheeseId === filters.cheeseId &&
                ['placed', 'approved', 'shipped'].includes(order.status))) &&
            (!filters.needsApproval || (order.needsApproval && order.status === 'placed')),
        )
        .toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id - b.id))
        .map(({ id }) => id);
      const limit = random.pick([1, 3, 20, 100]);
      const found: number[] = [];
      for (let cursor: string | undefined, pages = 0; pages < 3; pages += 1) {
        const page = await orderReader.list(owner, { ...filters, limit, cursor });
        found.push(...JSON.parse(`[${page.items}]`).map(({ id }: { id: number }) => id));
        assert.equal(page.total, expected.length, JSON.stringify({ owner: owner?.id, filters }));
        if (page.nextCursor === null) {
          break;
        }
        cursor = page.nextCursor;
      }
      const inOrder = filters.sort === 'createdAt' ? expected : expected.toReversed();
      assert.deepEqual(
        found,
        inOrder.slice(0, 3 * limit),
        JSON.stringify({ owner: owner?.id, filters, limit }),
      );
    }

    const actions: (() => unknown)[] = [
      place,
      place,
      place,
      () => move('approve'),
      () => move('ship'),
      () => move('deliver'),
      () => move('cancel'),
      () => clock.advance(random.pick([1, hourMs, 7 * hourMs, 30 * hourMs])),
      () => clock.advance(-random.pick([1, hourMs, 30 * hourMs])),
      () => orderCounter.run(),
    ];
    for (let step = 0; step < steps; step += 1) {
      await random.pick(actions)();
      if (step % 40 === 39) {
        await deleteCustomer();
      }
      await compare();
      if (step % 500 === 120) {
        assert.deepEqual(await database.snapshot(checkOrders), []);
      }
    }
    await orderCounter.run();
    assert.equal(await database.get(sql`select id from order_count_change`), undefined);
    const counts = () => database.all(sql`select * from order_count order by owner, day`);
    const counted = await counts();
    await database.exclusiveTransaction(recountOrders);
    assert.deepEqual(counted, await counts(), 'as if all orders were counted again');
    assert.deepEqual(await database.snapshot(checkOrders), []);
    assert.deepEqual(
      { ...(await orderReader.countByStatus()) },
      {
        ...Object.fromEntries(orderStatuses.map((one) => [one, 0])),
        ...Object.fromEntries(
          [...Map.groupBy(known, ({ status }) => status)].map(([status, of]) => [status, of.length]),
        ),
      },
    );
  });
});
