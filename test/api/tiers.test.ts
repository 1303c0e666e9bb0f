/** The tier of a customer rises with the total of delivered orders. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { bern, onBothEngines, openShop, type Scope, type Shop, type ShopOptions } from '../helper.ts';

interface Customer {
  readonly id: number;
  readonly session: Record<string, string>;
  tier(): Promise<string>;
  readonly username: string;
}

interface Counter {
  readonly shop: Shop;
  register(username: string): Promise<Customer>;
  /** A shipped order of a total, without a customer by default. */
  shipped(total: number, customer?: Customer): Promise<number>;
  deliver(id: number, where?: Shop): Promise<void>;
  /** Places, ships and delivers an order of a total. */
  buy(total: number, customer?: Customer): Promise<void>;
  /** Events about tiers, as [before, after]. */
  changes(customer: Customer): Promise<[string, string][]>;
}

async function openCounter(t: Scope, options: ShopOptions = {}): Promise<Counter> {
  const shop = await openShop(t, options);
  const cheeses = new Map<number, number>();

  async function cheeseAt(pricePerKg: number): Promise<number> {
    const body = { name: `At ${pricePerKg}`, pricePerKg };
    const known = cheeses.get(pricePerKg);
    const id = known ?? (await shop.request('POST', '/v2/cheeses', { as: shop.writer, body })).json.id;
    cheeses.set(pricePerKg, id);
    return id;
  }

  const counter: Counter = {
    shop,
    async register(username) {
      const body = { username, email: `${username}@example.com`, password: 'good enough' };
      const { id, customerStatus } = (await shop.request('POST', '/v2/customer', { body })).json;
      assert.equal(customerStatus, 'bronze');
      const { token } = (await shop.request('POST', '/v2/customer/login', { body })).json;
      const session = { authorization: `Bearer ${token}` };
      return {
        id,
        username,
        session,
        tier: async () =>
          (await shop.request('GET', `/v2/customer/${username}`, { headers: session })).json.customerStatus,
      };
    },
    async shipped(total, customer) {
      const order = await shop.request('POST', '/v2/store/order', {
        as: shop.admin,
        headers: customer?.session ?? {},
        body: { items: [{ cheeseId: await cheeseAt(total), quantity: 1 }], shippingAddress: bern },
      });
      assert.equal(order.json.total, total);
      for (const step of ['approve', 'ship']) {
        await shop.request('POST', `/v2/store/order/${order.json.id}/${step}`, { as: shop.admin });
      }
      return order.json.id;
    },
    async deliver(id, where = shop) {
      const response = await where.request('POST', `/v2/store/order/${id}/deliver`, { as: shop.admin });
      assert.equal(response.status, 200, response.text);
    },
    buy: async (total, customer) => counter.deliver(await counter.shipped(total, customer)),
    async changes({ id }) {
      const rows = await shop.app.database.all<{ data: string }>(sql`
        select data from event where type = 'customer.tier_changed' and subject = ${`customer:${id}`} order by id`);
      return rows.map(({ data }) => {
        const { before, customerStatus } = JSON.parse(data);
        return [before, customerStatus];
      });
    },
  };
  return counter;
}

onBothEngines('The tier of a customer', (engine) => {
  test('The tier of a customer rises at exactly 500, 2000 and 10000 delivered dollars', async (t) => {
    const { register, buy, changes } = await openCounter(t, { engine });
    const ada = await register('ada');
    const purchases = [
      [499.99, 'bronze'],
      [0.01, 'silver'],
      [1499.99, 'silver'],
      [0.01, 'gold'],
      [7999.99, 'gold'],
      [0.01, 'platinum'],
      [5000, 'platinum'],
    ] as const;
    for (const [total, tier] of purchases) {
      await buy(total, ada);
      assert.equal(await ada.tier(), tier, `after ${total} more`);
    }
    assert.deepEqual(await changes(ada), [
      ['bronze', 'silver'],
      ['silver', 'gold'],
      ['gold', 'platinum'],
    ]);
  });

  test('The tier of a customer skips tiers when one delivery is enough, with one event besides that of the delivery', async (t) => {
    const { shop, register, shipped, deliver, changes } = await openCounter(t, { engine });
    const ada = await register('ada');
    const eve = await register('eve');
    const id = await shipped(10_000, ada);
    assert.equal(await ada.tier(), 'bronze', 'what has shipped does not count yet');
    await deliver(id);
    assert.equal(await ada.tier(), 'platinum');
    assert.deepEqual(await changes(ada), [['bronze', 'platinum']]);
    assert.equal(await eve.tier(), 'bronze');
    const events = await shop.app.database.all<Record<string, string>>(sql`
      select type, actor, request_id, created_at from event
      where type in ('order.delivered', 'customer.tier_changed') order by id`);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['order.delivered', 'customer.tier_changed'],
    );
    assert.equal(events[0]?.request_id, events[1]?.request_id);
    assert.equal(events[0]?.actor, events[1]?.actor);
  });

  test('The tier of a customer counts a delivery once, also when the request is repeated', async (t) => {
    const { shop, register, shipped, deliver } = await openCounter(t, { engine });
    const ada = await register('ada');
    const id = await shipped(300, ada);
    const headers = { 'idempotency-key': 'once' };
    const url = `/v2/store/order/${id}/deliver`;
    assert.equal((await shop.request('POST', url, { as: shop.admin, headers })).status, 200);
    assert.equal((await shop.request('POST', url, { as: shop.admin, headers })).status, 200);
    assert.equal((await shop.request('POST', url, { as: shop.admin })).status, 409);
    assert.equal(await ada.tier(), 'bronze');
    await deliver(await shipped(200, ada));
    assert.equal(await ada.tier(), 'silver');
  });

  test('The tier of a customer adds up exactly when several orders are delivered concurrently', async (t) => {
    const { shop, register, shipped, deliver, changes } = await openCounter(t, { engine });
    const other = await shop.another();
    const ada = await register('ada');
    const ids: number[] = [];
    for (let index = 0; index < 10; index += 1) {
      ids.push(await shipped(50, ada));
    }
    await Promise.all(ids.slice(1).map((id, index) => deliver(id, index % 2 === 0 ? shop : other)));
    assert.equal(await ada.tier(), 'bronze');
    await deliver(ids[0] ?? 0);
    assert.equal(await ada.tier(), 'silver');
    assert.deepEqual(await changes(ada), [['bronze', 'silver']]);
    const row = await shop.app.database.get<{ delivered_cents: number }>(
      sql`select delivered_cents from customer where id = ${ada.id}`,
    );
    assert.equal(row?.delivered_cents, 50_000);
  });
});

suite('The tier', () => {
  test('The tier changes the ETag of the profile only when it changes', async (t) => {
    const { shop, register, buy } = await openCounter(t);
    const ada = await register('ada');
    const tag = async () =>
      (await shop.request('GET', '/v2/customer/ada', { headers: ada.session })).headers.etag ?? '';
    const first = await tag();
    await buy(100, ada);
    assert.equal(await tag(), first);
    await buy(400, ada);
    assert.notEqual(await tag(), first);
  });

  test('The tier follows CURD_TIERS', async (t) => {
    const settings = { CURD_TIERS: '{"silver":10,"gold":20.5,"platinum":20.5}' };
    const { register, buy, changes } = await openCounter(t, { settings });
    const ada = await register('ada');
    for (const [total, tier] of [
      [9.99, 'bronze'],
      [0.01, 'silver'],
      [10.49, 'silver'],
      [0.01, 'platinum'],
    ] as const) {
      await buy(total, ada);
      assert.equal(await ada.tier(), tier, `after ${total} more`);
    }
    assert.equal((await changes(ada)).length, 2);
  });

  test('The tier does not count orders without a customer', async (t) => {
    const { shop, register, buy } = await openCounter(t);
    const ada = await register('ada');
    await buy(20_000);
    assert.equal(await ada.tier(), 'bronze');
    const rows = await shop.app.database.all<{ delivered_cents: number }>(
      sql`select delivered_cents from customer`,
    );
    assert.deepEqual(
      rows.map(({ delivered_cents }) => delivered_cents),
      [0],
    );
  });
});
