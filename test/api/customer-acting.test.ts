/** Profiles in requests with an API key and a customer's session or token: they reach that customer and no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approve, newClient, newCustomer, newSession, newToken } from '../auth/holders.ts';
import { assertError, onBothEngines, openShop, type RequestOptions, shared } from '../helper.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const methods = ['GET', 'PUT', 'DELETE'] as const;

/** A shop with two customers, and credentials of the first in front of keys that reach every profile alone. */
async function openWithCredentials(t: Parameters<typeof openShop>[0], engine: 'sqlite' | 'postgres') {
  const shop = await openShop(t, { engine });
  const [ada, bob] = [await newCustomer(shop, 'ada', 'customer'), await newCustomer(shop, 'bob', 'staff')];
  const client = await newClient(shop);
  const profiles = await shop.createKey({ scopes: ['read:profile', 'write:profile'] });
  const session = bearer(await newSession(shop, ada));
  const token = async (scope: string) => bearer(await newToken(shop, { client, customer: ada, scope }));
  const send = (method: string, username: string, options: RequestOptions, phone = '1') => {
    const body = { username, email: `${username}@example.com`, password: 'right', phone };
    return shop.request(method, `/v2/customer/${username}`, {
      ...options,
      ...(method === 'PUT' ? { body } : {}),
    });
  };
  return { shop, bob, client, profiles, session, token, send };
}

onBothEngines("A request with an API key and a customer's credential", (engine) => {
  const opened = shared((t) => openWithCredentials(t, engine));

  test("A key with a customer's credential is 403 on the profile of another customer, and 404 for an unknown one", async () => {
    const { shop, profiles, session, token, send } = opened();
    const before = await send('GET', 'bob', { as: shop.reader });
    const combinations: RequestOptions[] = [
      { as: shop.reader, headers: session },
      { as: profiles, headers: session },
      { as: shop.admin, headers: session },
      { as: shop.admin, headers: await token('read:profile write:profile') },
      // The token permits none of this by itself, and confines the key all the same.
      { as: shop.admin, headers: await token('read:cheeses') },
    ];
    for (const options of combinations) {
      for (const method of methods) {
        assertError(await send(method, 'bob', options), 403, 'forbidden');
        assertError(await send(method, 'nobody-has-this', options), 404, 'not_found');
      }
    }
    const after = await send('GET', 'bob', { as: shop.reader });
    assert.deepEqual([after.json, after.headers.etag], [before.json, before.headers.etag]);
  });

  test("A key with a customer's credential reads and replaces the profile of its own customer", async () => {
    const { shop, profiles, session, token, send } = opened();
    const combinations: RequestOptions[] = [
      { as: shop.reader, headers: session },
      { as: profiles, headers: session },
      { as: shop.admin, headers: session },
      { as: shop.admin, headers: await token('read:cheeses') },
      { as: shop.reader, headers: await token('read:profile write:profile') },
    ];
    for (const [index, options] of combinations.entries()) {
      const replaced = await send('PUT', 'ada', options, String(index));
      assert.deepEqual([replaced.status, replaced.json.phone], [200, String(index)], replaced.text);
      assert.deepEqual((await send('GET', 'ada', options)).json, replaced.json);
    }
  });

  test('A key with the token of an admin or of a client reaches every profile', async () => {
    const { shop, bob, client, send } = opened();
    await approve(shop, client, bob);
    for (const token of [
      await newToken(shop, { client, customer: bob, scope: 'admin' }),
      await newToken(shop, { client, customer: null, scope: 'read:profile' }),
    ]) {
      const options = { as: shop.admin, headers: bearer(token) };
      assert.equal((await send('GET', 'ada', options)).status, 200);
      assert.equal((await send('PUT', 'ada', options)).status, 200);
      assertError(await send('GET', 'nobody-has-this', options), 404, 'not_found');
    }
  });

  test("A key with a customer's credential differs from the key alone, which reads every profile", async () => {
    const { shop, profiles, send } = opened();
    for (const as of [shop.reader, profiles, shop.admin]) {
      for (const username of ['ada', 'bob']) {
        assert.equal((await send('GET', username, { as })).status, 200);
      }
      assertError(await send('GET', 'nobody-has-this', { as }), 404, 'not_found');
    }
    for (const method of ['PUT', 'DELETE']) {
      assertError(await send(method, 'ada', { as: profiles }), 403, 'forbidden');
    }
  });
});
