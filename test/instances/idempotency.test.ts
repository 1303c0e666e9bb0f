/** The same request with one Idempotency-Key to several instances: it runs once, and all responses are equal. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { assertError, bern, shared, type TestResponse } from '../helper.ts';
import { newCheese, password } from '../shop-verbs.ts';
import { type Instances, newName, openInstances, tally } from './instances.ts';

const rounds = 12;

// Each test uses new keys and names, so that all tests can share the instances.
const instances = shared((t) => openInstances(t, 3));

/** One request ran; the others got its response, or 409 while it ran. @returns the responses that are not 409 */
function requireOnce(responses: readonly TestResponse[], status: number): TestResponse[] {
  const known = responses.filter((response) => response.status === status);
  const fresh = known.filter(({ headers }) => headers['idempotency-replayed'] === undefined);
  assert.equal(fresh.length, 1, tally(responses));
  for (const { text } of known) {
    assert.equal(text, fresh[0]?.text);
  }
  for (const answer of responses.filter((one) => !known.includes(one))) {
    assertError(answer, 409, 'conflict');
    assert.equal(answer.headers['retry-after'], '1', answer.text);
  }
  return known;
}

async function count(shops: Instances, table: 'cheese' | 'orders' | 'customer'): Promise<number> {
  const { database } = shops.all[0].app;
  const rows = await database.all(
    {
      cheese: sql`select id from cheese`,
      orders: sql`select id from orders`,
      customer: sql`select id from customer`,
    }[table],
  );
  return rows.length;
}

suite('An Idempotency-Key that is sent to several instances', () => {
  test('An Idempotency-Key on several instances places one order, and returns the same response from any instance', async (t) => {
    const shops = instances();
    const id = await newCheese(shops);
    const before = await count(shops, 'orders');
    let replays = 0;
    for (let round = 0; round < rounds; round += 1) {
      const request = {
        as: shops.admin,
        headers: { 'idempotency-key': `order-${round}` },
        body: { items: [{ cheeseId: id, quantity: 1 }], shippingAddress: bern },
      };
      const send = (shop: Instances['all'][0]) => shop.request('POST', '/v2/store/order', request);
      replays += requireOnce(await shops.atOnce(6, send), 201).length - 1;
      const later = await shops.atOnce(3, send);
      assert.equal(tally(later), '3 x 201');
      for (const { headers, json } of later) {
        assert.equal(headers['idempotency-replayed'], 'true');
        assert.equal(json.id, later[0]?.json.id);
      }
    }
    assert.equal(await count(shops, 'orders'), before + rounds);
    t.diagnostic(`${replays} of ${5 * rounds} got the first response`);
  });

  test('An Idempotency-Key on several instances runs once for parallel requests, none of which gets 409 for its own name', async () => {
    const shops = instances();
    const before = { cheeses: await count(shops, 'cheese'), customers: await count(shops, 'customer') };
    for (let round = 0; round < rounds; round += 1) {
      const request = {
        as: shops.writer,
        headers: { 'idempotency-key': `cheese-${round}` },
        body: { name: newName(), category: { name: newName('category') } },
      };
      const made = await shops.atOnce(3, (shop) => shop.request('POST', '/v2/cheeses', request));
      assert.equal(requireOnce(made, 201).length, 3, 'one for each instance');
    }
    assert.equal(await count(shops, 'cheese'), before.cheeses + rounds);
    const body = { username: 'ada', email: 'ada@example.com', password };
    const headers = { 'idempotency-key': 'registration' };
    const registered = await shops.atOnce(3, (shop) =>
      shop.request('POST', '/v2/customer', { headers, body }),
    );
    assert.equal(requireOnce(registered, 201).length, 3);
    assert.equal(await count(shops, 'customer'), before.customers + 1);
  });

  test('An Idempotency-Key on several instances with another request is 422, and changes nothing', async () => {
    const shops = instances();
    const before = await count(shops, 'cheese');
    for (let round = 0; round < rounds; round += 1) {
      const headers = { 'idempotency-key': `mixed-${round}` };
      const names = [newName(), newName(), newName()];
      const responses = await shops.atOnce(3, (shop, index) =>
        shop.request('POST', '/v2/cheeses', { as: shops.writer, headers, body: { name: names[index] } }),
      );
      assert.equal(tally(responses), '1 x 201, 2 x 422');
      for (const response of responses.filter(({ status }) => status === 422)) {
        assertError(response, 422, 'validation_error');
        assert.match(response.text, /used for another request/);
      }
    }
    assert.equal(await count(shops, 'cheese'), before + rounds);
  });

  test('An Idempotency-Key on several instances returns a new API key again, from any instance', async () => {
    const shops = instances();
    const {
      auth: { keys },
      contextOf,
    } = shops.all[0].app;
    await keys.createAccount(contextOf('test'), 'partner');
    const request = {
      as: shops.admin,
      headers: { 'idempotency-key': 'key' },
      body: { account: 'partner' },
    };
    const made = await shops.atOnce(3, (shop) => shop.request('POST', '/v2/api-keys', request));
    assert.equal(requireOnce(made, 201).length, 3);
    assert.equal((await keys.list(made[0]?.json.id && (await keys.findAccount('partner')).id)).length, 1);
    for (const shop of shops.all) {
      assert.equal((await shop.request('GET', '/v2/whoami', { as: made[1]?.json.key })).status, 200);
    }
  });
});
