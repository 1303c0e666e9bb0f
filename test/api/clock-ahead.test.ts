/** A clock that was ahead and was corrected: requests counted in between exhaust no limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { bern, onBothEngines, openShop, type TestResponse, testClock } from '../helper.ts';

const dayMs = 24 * 60 * 60_000;

onBothEngines('After a clock was ahead by a day', (engine) => {
  const settings = {
    CURD_PLANS: '{"enterprise":{"perHour":5,"burst":3}}',
    CURD_ADDRESS_LIMITS: '{"perMinute":4,"accountsPerMinute":4}',
    CURD_LOGIN_LIMITS: '{"pair":2,"address":2,"username":2}',
  };

  test('After a clock was ahead by a day, limits of plans, client IPs and logins are not exhausted', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings });
    const call = () => shop.request('GET', '/v2/cheeses', { as: shop.reader });
    const login = (username: string) =>
      shop.request('POST', '/v2/customer/login', { body: { username, password: 'wrong' } });
    const times = async (count: number, work: () => Promise<TestResponse>) => {
      const statuses: number[] = [];
      for (let index = 0; index < count; index += 1) {
        statuses.push((await work()).status);
      }
      return statuses.join(' ');
    };
    const use = async (username: string) => {
      const first = await times(4, call);
      clock.advance(1000);
      return [first, await times(3, call), await times(3, () => login(username)), await times(2, call)];
    };

    const used = ['200 200 200 429', '200 200 429', '401 401 429', '429 429'];
    clock.advance(dayMs);
    assert.deepEqual(await use('ada'), used);
    clock.advance(-dayMs);
    assert.deepEqual(await use('ada'), used);
    // Expired rows are deleted, also those written while the clock was ahead.
    clock.advance(-dayMs);
    const {
      database,
      customers: { loginThrottle },
    } = shop.app;
    await loginThrottle.purge();
    assert.equal((await database.all<object>(sql`select id from login_failure`)).length, 0);
  });

  test('After a clock was ahead by a day, the limit of a client IP is not exhausted', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings });
    const anonymous = async () => (await shop.request('GET', '/v2/cheeses')).status;
    for (let round = 0; round < 2; round += 1) {
      const statuses: number[] = [];
      for (let index = 0; index < 5; index += 1) {
        statuses.push(await anonymous());
      }
      assert.deepEqual(statuses, [401, 401, 401, 401, 429]);
      clock.advance(-dayMs);
    }
  });

  test('After a clock was ahead by a day, the limit of orders an hour is not exhausted', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: { CURD_ORDERS_PER_HOUR: '2' } });
    const cheese = await shop.request('POST', '/v2/cheeses', {
      as: shop.writer,
      body: { name: 'Brie', pricePerKg: 20 },
    });
    const body = { items: [{ cheeseId: cheese.json.id, quantity: 1 }], shippingAddress: bern };
    for (let round = 0; round < 2; round += 1) {
      const statuses: number[] = [];
      for (let index = 0; index < 3; index += 1) {
        statuses.push((await shop.request('POST', '/v2/store/order', { as: shop.admin, body })).status);
      }
      assert.deepEqual(statuses, [201, 201, 429]);
      clock.advance(-dayMs);
    }
  });
});
