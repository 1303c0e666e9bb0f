/** Customers, sessions and API keys that several instances create at the same time. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { suite, test } from 'node:test';
import { assertError, shared } from '../helper.ts';
import { deleteCheese, newCheese, password, registerAndLogIn } from '../shop-verbs.ts';
import { assertOneWon, type Instances, newName, newUsername, openInstances, tally } from './instances.ts';

const rounds = 5;

// Each test uses new names, so that most tests can share the instances.
const instances = shared((t) => openInstances(t, 3));

async function newAccount(shops: Instances): Promise<string> {
  const {
    auth: { keys },
    contextOf,
  } = shops.next().app;
  const name = `account-${randomBytes(6).toString('hex')}`;
  await keys.createAccount(contextOf('test'), name);
  return name;
}

const login = (username: string, secret = password) => ({ body: { username, password: secret } });

suite('A customer on several instances', () => {
  test('A customer on several instances has a unique username and e-mail address', async () => {
    const shops = instances();
    for (let round = 0; round < rounds; round += 1) {
      const name = newUsername();
      const registered = await shops.atOnce(4, (shop, index) =>
        shop.request('POST', '/v2/customer', {
          body: {
            // Compared case-insensitively.
            username: index % 2 === 0 ? name : index === 1 ? name.toUpperCase() : `${name}-other`,
            email: `${name}.${index}@example.com`,
            password,
          },
        }),
      );
      // The username and the e-mail address of the fourth are free.
      assert.equal(registered.splice(3, 1)[0]?.status, 201);
      assertOneWon(registered, 201, 409, 'conflict');
      const addressed = await shops.atOnce(3, (shop, index) =>
        shop.request('POST', '/v2/customer', {
          body: { username: `${name}-${index}`, email: `same-${name}@example.com`, password },
        }),
      );
      assertOneWon(addressed, 201, 409, 'conflict');
    }
  });

  test('A customer on several instances is changed only if the ETag still matches', async () => {
    const shops = instances();
    const username = newUsername();
    const url = `/v2/customer/${username}`;
    const { headers } = await registerAndLogIn(shops, { username });
    for (let round = 0; round < rounds; round += 1) {
      const before = await shops.request('GET', url, { headers });
      const changed = await shops.atOnce(3, (shop) =>
        shop.request('PUT', url, {
          headers: { ...headers, 'if-match': before.headers.etag ?? '' },
          body: { username, email: `${username}@example.com`, password, firstName: newName('Ada') },
        }),
      );
      const { json } = assertOneWon(changed, 200, 412, 'precondition_failed');
      const now = await shops.request('GET', url, { headers });
      assert.equal(now.json.firstName, json.firstName);
    }
  });

  test('A customer on several instances gets a username that two customers request at the same time, or the other one does', async () => {
    const shops = instances();
    const names = [newUsername(), newUsername('bob')] as [string, string];
    const emails = names.map((name) => `${name}@example.com`);
    const sessions = [
      (await registerAndLogIn(shops, { username: names[0] })).headers,
      (await registerAndLogIn(shops, { username: names[1] })).headers,
    ];
    for (let round = 0; round < rounds; round += 1) {
      const username = newUsername();
      const renamed = await shops.atOnce(2, (shop, index) =>
        shop.request('PUT', `/v2/customer/${names[index]}`, {
          headers: sessions[index] ?? {},
          body: { username, email: emails[index], password },
        }),
      );
      assertOneWon(renamed, 200, 422, 'validation_error');
      names[renamed.findIndex(({ status }) => status === 200)] = username;
    }
  });

  test('A customer on several instances has no favourite cheese that was deleted while it was chosen', async () => {
    const shops = instances();
    const ada = newUsername();
    const { headers } = await registerAndLogIn(shops, { username: ada });
    for (let round = 0; round < 2 * rounds; round += 1) {
      const id = await newCheese(shops);
      const bodyOf = (username: string) => ({
        username,
        email: `${username}@example.com`,
        password,
        favouriteCheese: { id },
      });
      const fresh = newUsername('bob');
      const changing = shops.request('PUT', `/v2/customer/${ada}`, { headers, body: bodyOf(ada) });
      const registering = shops.request('POST', '/v2/customer', { body: bodyOf(fresh) });
      // Hashing the password takes a while.
      await new Promise((resolve) => setTimeout(resolve, 8 * (round % 6)));
      const deleted = await deleteCheese(shops.next(), id);
      assert.equal(deleted.status, 204, deleted.text);
      for (const [response, username] of [
        [await changing, ada],
        [await registering, fresh],
      ] as const) {
        if (response.status >= 400) {
          assertError(response, 422, 'validation_error');
          continue;
        }
        const { json } = await shops.request('GET', `/v2/customer/${username}`, { as: shops.reader });
        assert.deepEqual(Object.keys(json.favouriteCheese ?? {}), ['name'], 'what is left of it');
      }
    }
  });

  test('A customer on several instances keeps the newest twenty sessions', async () => {
    const shops = instances();
    const username = newUsername();
    await registerAndLogIn(shops, { username });
    const opened = await shops.atOnce(30, (shop) =>
      shop.request('POST', '/v2/customer/login', login(username)),
    );
    assert.equal(tally(opened), '30 x 200');
    const whoami = await shops.atOnce(30, (shop, index) =>
      shop.request('GET', '/v2/whoami', {
        headers: { authorization: `Bearer ${opened[index]?.json.token}` },
      }),
    );
    assert.equal(tally(whoami), '20 x 200, 10 x 401');
  });

  test('A customer on several instances has one limit of failed logins for all instances together', async (t) => {
    const shops = await openInstances(t, 3, {
      settings: { CURD_LOGIN_LIMITS: '{"pair":10,"address":1000,"username":1000}' },
    });
    await registerAndLogIn(shops, { username: 'ada' });
    const guesses = await shops.atOnce(40, (shop, index) =>
      shop.request('POST', '/v2/customer/login', login('ada', `guess ${index}`)),
    );
    assert.equal(tally(guesses), '10 x 401, 30 x 429');
    for (const shop of shops.all) {
      const response = await shop.request('POST', '/v2/customer/login', login('ada'));
      assertError(response, 429, 'rate_limit_exceeded');
      assert.ok(Number(response.headers['retry-after']) > 600);
    }
    assert.equal((await shops.request('POST', '/v2/customer/login', login('bob'))).status, 401);
  });
});

suite('An account on several instances', () => {
  test('An account on several instances has at most three active keys, created on any instance', async () => {
    const shops = instances();
    for (let round = 0; round < 3 * rounds; round += 1) {
      const account = await newAccount(shops);
      const made = await shops.atOnce(7, (shop) =>
        shop.request('POST', '/v2/api-keys', { as: shops.admin, body: { account } }),
      );
      assert.equal(tally(made), '3 x 201, 4 x 409');
      const { json } = await shops.request('GET', `/v2/api-keys?account=${account}`, { as: shops.admin });
      assert.equal(json.items.length, 3);
    }
  });

  test('An account on several instances gets one new key when a key is rotated on several instances in parallel', async () => {
    const shops = instances();
    for (let round = 0; round < 3 * rounds; round += 1) {
      const account = await newAccount(shops);
      const made = await shops.request('POST', '/v2/api-keys', { as: shops.admin, body: { account } });
      const rotated = await shops.atOnce(3, (shop) =>
        shop.request('POST', `/v2/api-keys/${made.json.id}/rotate`, { as: shops.admin }),
      );
      const { json } = assertOneWon(rotated, 201, 409, 'conflict');
      for (const shop of shops.all) {
        assert.equal((await shop.request('GET', '/v2/whoami', { as: json.key })).status, 200);
      }
    }
  });
});
