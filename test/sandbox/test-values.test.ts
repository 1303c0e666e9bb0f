/** Notes of orders that choose what becomes of them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { bern, onBothEngines, openShop, type Shop, shared, until } from '../helper.ts';
import { newCheese, placeOrder } from '../shop-verbs.ts';

/** Places an order with notes, which do nothing before the next approval run. */
async function placeWithNotes(shop: Shop, notes: string, cheeseId: number): Promise<number> {
  const placed = await placeOrder(shop, cheeseId, { more: { notes } });
  assert.equal(placed.status, 201, placed.text);
  assert.equal(placed.json.status, 'placed');
  return placed.json.id;
}

async function timelineOf(shop: Shop, id: number): Promise<readonly string[]> {
  const { json } = await shop.request('GET', `/v2/store/order/${id}/timeline`, { as: shop.admin });
  return json.items.map(({ status }: { status: string }) => status);
}

async function approveDue(shop: Shop): Promise<void> {
  const body = { advance: '1m' };
  const { status } = await shop.request('POST', '/v2/sandbox/clock', { as: shop.admin, body });
  assert.equal(status, 200);
}

const fates = [
  ['test:never-approve', ['placed']],
  ['test:ship', ['placed', 'approved', 'shipped']],
  ['test:deliver', ['placed', 'approved', 'shipped', 'delivered']],
  ['test:cancel', ['placed', 'cancelled']],
  ['test:unknown', ['placed', 'approved']],
  ['a test:ship', ['placed', 'approved']],
] as const;

onBothEngines('Notes of an order', (engine) => {
  const opened = shared((t) => openShop(t, { engine, settings: { CURD_APPROVAL_DELAY: '30s' } }));

  test('Notes of an order decide its transitions at the next approval run, also of an order without prices', async () => {
    const shop = opened();
    const [priced, unpriced] = [
      await newCheese(shop, { pricePerKg: 20 }),
      await newCheese(shop, { pricePerKg: undefined }),
    ];
    const orders: { readonly id: number; readonly expected: readonly string[] }[] = [];
    for (const [notes, expected] of fates) {
      orders.push({ id: await placeWithNotes(shop, notes, priced), expected });
      const isNote = expected !== fates[4][1] && expected !== fates[5][1];
      orders.push({
        id: await placeWithNotes(shop, notes, unpriced),
        expected: isNote ? expected : ['placed'],
      });
    }
    await approveDue(shop);
    for (const { id, expected } of orders) {
      assert.deepEqual(await timelineOf(shop, id), expected);
    }
    const [never] = orders;
    const approved = await shop.request('POST', `/v2/store/order/${never?.id}/approve`, { as: shop.admin });
    assert.equal(approved.json.status, 'approved', 'an operator can approve it');
  });

  test('Notes of an order with test:deliver raise the tier of the customer, and with test:ship take stock', async () => {
    const shop = opened();
    const username = `ada-${engine}`;
    const password = 'a cellar full of wheels';
    const customer = { username, password, email: `${username}@example.com` };
    await shop.request('POST', '/v2/customer', { as: shop.admin, body: customer });
    const login = await shop.request('POST', '/v2/customer/login', { body: { username, password } });
    const cheeseId = await newCheese(shop, { pricePerKg: 600 });
    const stock = `/v2/cheeses/${cheeseId}/stock`;
    await shop.request('PUT', stock, { as: shop.admin, body: { onHand: 10 } });
    const body = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern, notes: 'test:deliver' };
    const headers = { authorization: `Bearer ${login.json.token}` };
    const placed = await shop.request('POST', '/v2/store/order', { as: shop.admin, headers, body });
    assert.equal(placed.status, 201, placed.text);
    await approveDue(shop);
    const { json } = await shop.request('GET', `/v2/customer/${username}`, { headers });
    assert.equal(json.customerStatus, 'silver');
    const left = await shop.request('GET', stock, { as: shop.admin });
    assert.deepEqual([left.json.onHand, left.json.reserved], [9, 0]);
  });

  test('Notes of an order leave a shop in which doctor finds nothing', async () => {
    const shop = opened();
    await shop.app.events.numbering.run();
    const findings = await shop.app.database.snapshot(async (snapshot) => {
      const all = shop.app.areas.flatMap(({ checks = [] }) => checks);
      return (await Promise.all(all.map(({ run }) => run(snapshot, () => {}, shop.clock.now())))).flat();
    });
    assert.deepEqual(findings, []);
  });
});

suite('Notes of an order in production', () => {
  test('Notes of an order in production are for people', async (t) => {
    const shop = await openShop(t, {
      settings: {
        CURD_ENVIRONMENT: 'production',
        CURD_PUBLIC_URL: 'https://shop.example',
        CURD_APPROVAL_DELAY: '1ms',
        CURD_ACCOUNT_PLAN: 'enterprise',
      },
    });
    const cheeseId = await newCheese(shop, { pricePerKg: 20 });
    for (const [notes] of fates) {
      const id = await placeWithNotes(shop, notes, cheeseId);
      await until(async () => {
        await shop.app.worker.run();
        return (await timelineOf(shop, id)).length > 1;
      });
      assert.deepEqual(await timelineOf(shop, id), ['placed', 'approved']);
    }
  });
});
