/** Which proxies may set the client IP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop, type Shop } from '../helper.ts';

/** A login with a wrong password, and this client IP in X-Forwarded-For. */
async function statusFor(shop: Shop, forwardedFor: string): Promise<number> {
  const response = await shop.request('POST', '/v2/customer/login', {
    body: { username: `nobody-${forwardedFor}`, password: 'x' },
    headers: { 'x-forwarded-for': forwardedFor },
  });
  return response.status;
}

const limits = { CURD_LOGIN_LIMITS: '{"address":1}' };

test('X-Forwarded-For sets the client IP if the proxy is trusted', async (t) => {
  const shop = await openShop(t, { settings: { ...limits, CURD_TRUSTED_PROXIES: '127.0.0.0/8' } });
  assert.equal(await statusFor(shop, '192.0.2.1'), 401);
  assert.equal(await statusFor(shop, '192.0.2.2'), 401);
  assert.equal(await statusFor(shop, '192.0.2.1'), 429);
  assert.equal(
    await statusFor(shop, '198.51.100.7, 192.0.2.2'),
    429,
    'only the last one is the proxy’s word',
  );
});

test('X-Forwarded-For is ignored if no proxy is trusted', async (t) => {
  const shop = await openShop(t, { settings: limits });
  assert.equal(await statusFor(shop, '192.0.2.1'), 401);
  assert.equal(await statusFor(shop, '192.0.2.2'), 429);
});
