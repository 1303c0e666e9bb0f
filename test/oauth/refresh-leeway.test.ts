/** Refresh tokens that are used twice within 30 seconds: by two workers, or because a response was lost. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { onBothEngines, testClock } from '../helper.ts';
import { registerCustomer } from '../shop-verbs.ts';
import {
  type Application,
  assertRefused,
  newApplication,
  openBrowser,
  openListeningShop,
  post,
  type TokenResponse,
  tokensOf,
  withToken,
} from './flow.ts';

const secondMs = 1000;

onBothEngines('A refresh token that is used twice', (engine) => {
  async function open(t: TestContext, isPublic = true) {
    // The library uses the clock of the machine.
    const clock = testClock(Date.now());
    const shop = await openListeningShop(t, { engine, clock });
    await registerCustomer(shop, { username: 'ada' });
    const app = await newApplication(shop, { isPublic });
    const scope = 'read:cheeses read:profile';
    const first = await tokensOf(shop, app, openBrowser(shop.url, 'ada'), { scope });
    const refresh = (refresh_token: string, more: object = {}, url = shop.url, by: Application = app) =>
      post(`${url}/oauth/token`, { grant_type: 'refresh_token', refresh_token, ...more }, by);
    const statusOf = async (token: string) => (await withToken(shop, token, 'GET', '/v2/cheeses')).status;
    const rowsOf = (model: string) =>
      shop.app.database
        .all<{ payload: string }>(sql`select payload from oauth_object where model = ${model}`)
        .then((rows) => rows.map(({ payload }) => payload));
    return { shop, clock, app, first, refresh, statusOf, rowsOf };
  }

  /** The successors of the responses that are 200. */
  const successorsOf = (responses: readonly TokenResponse[]) =>
    responses.filter(({ status }) => status === 200).map(({ json }) => json.refresh_token as string);

  test('A refresh token that is used twice returns the same successor once within 30 seconds, and the family lives on', async (t) => {
    for (const isPublic of [true, false]) {
      const { clock, first, refresh, statusOf } = await open(t, isPublic);
      const second = await refresh(first.refresh_token);
      clock.advance(29 * secondMs);
      const again = await refresh(first.refresh_token);
      assert.deepEqual([second.status, again.status], [200, 200], JSON.stringify(again.json));
      assert.equal(again.json.refresh_token, second.json.refresh_token);
      assert.notEqual(again.json.access_token, second.json.access_token);
      assert.deepEqual(Object.keys(again.json), Object.keys(second.json));
      const third = await refresh(again.json.refresh_token);
      assert.equal(third.status, 200);
      for (const { access_token } of [first, second.json, again.json, third.json]) {
        assert.equal(await statusOf(access_token), 200);
      }
    }
  });

  test('A refresh token that is used twice ends the family at the third use, and after 30 seconds at the second', async (t) => {
    for (const isLate of [false, true]) {
      const { clock, first, refresh, statusOf, rowsOf } = await open(t);
      const second = await refresh(first.refresh_token);
      if (isLate) {
        clock.advance(30 * secondMs);
      } else {
        assert.equal((await refresh(first.refresh_token)).status, 200);
        assert.deepEqual(await rowsOf('RefreshTokenSuccessor'), []);
      }
      assertRefused(await refresh(first.refresh_token), 400, 'invalid_grant');
      assertRefused(await refresh(second.json.refresh_token), 400, 'invalid_grant');
      assert.equal(await statusOf(second.json.access_token), 401);
    }
  });

  test('A refresh token that is used twice returns the successor to its own application alone, with no more than its scope', async (t) => {
    const { shop, first, refresh } = await open(t);
    const other = await newApplication(shop, { isPublic: true });
    const second = await refresh(first.refresh_token);
    assertRefused(await refresh(first.refresh_token, {}, shop.url, other), 400, 'invalid_grant');
    assertRefused(await refresh(first.refresh_token, { scope: 'read:orders' }), 400, 'invalid_scope');
    const again = await refresh(first.refresh_token, { scope: 'read:cheeses' });
    assert.deepEqual(
      [again.status, again.json.scope, again.json.refresh_token],
      [200, 'read:cheeses', second.json.refresh_token],
    );
    const whole = await refresh(again.json.refresh_token);
    assert.equal(whole.json.scope, 'read:cheeses read:profile');
  });

  test('A refresh token that is used twice can be revoked within the leeway, with all tokens of its grant', async (t) => {
    const { shop, app, first, refresh, statusOf, rowsOf } = await open(t);
    const second = await refresh(first.refresh_token);
    await post(`${shop.url}/oauth/revoke`, { token: first.refresh_token }, app);
    assertRefused(await refresh(first.refresh_token), 400, 'invalid_grant');
    assertRefused(await refresh(second.json.refresh_token), 400, 'invalid_grant');
    assert.equal(await statusOf(second.json.access_token), 401);
    assert.deepEqual(await rowsOf('RefreshTokenSuccessor'), []);
  });

  test('A refresh token that is used twice stores its successor encrypted, for 30 seconds', async (t) => {
    const { shop, clock, first, refresh, rowsOf } = await open(t);
    const { json } = await refresh(first.refresh_token);
    const rows = await rowsOf('RefreshTokenSuccessor');
    assert.equal(rows.length, 1);
    const stored = JSON.stringify([rows, await rowsOf('RefreshToken')]);
    for (const token of [first.refresh_token, json.refresh_token]) {
      assert.ok(!stored.includes(token) && !stored.includes(Buffer.from(token).toString('base64')));
    }
    clock.advance(31 * secondMs);
    await shop.app.auth.grants.purge();
    assert.deepEqual(await rowsOf('RefreshTokenSuccessor'), []);
  });

  test('A refresh token that is used twice by two workers at once gets one successor, on one instance and on two', async (t) => {
    const { shop, first, refresh, statusOf } = await open(t);
    const urls = [shop.url, shop.url];
    if (engine === 'postgres') {
      const { server } = (await shop.another()).app;
      urls[1] = await server.listen({ host: '127.0.0.1', port: 0 });
    }
    let token = first.refresh_token;
    for (let round = 0; round < 15; round += 1) {
      const responses = await Promise.all(urls.map((url) => refresh(token, {}, url)));
      const successors = successorsOf(responses);
      assert.equal(successors.length, 2, JSON.stringify(responses.map(({ json }) => json)));
      assert.equal(new Set(successors).size, 1);
      for (const { json } of responses) {
        assert.equal(await statusOf(json.access_token), 200);
      }
      token = successors[0] ?? '';
    }
  });

  test('A refresh token that is used twice by a thief and five others at once never gives two families, and ends them all later', async (t) => {
    const { first, refresh } = await open(t);
    const responses = await Promise.all(Array.from({ length: 6 }, () => refresh(first.refresh_token)));
    const successors = successorsOf(responses);
    assert.ok(successors.length <= 2, String(successors.length));
    assert.ok(new Set(successors).size <= 1);
    for (const response of responses.filter(({ status }) => status !== 200)) {
      assertRefused(response, 400, 'invalid_grant');
    }
    assertRefused(await refresh(first.refresh_token), 400, 'invalid_grant');
    for (const successor of successors) {
      assertRefused(await refresh(successor), 400, 'invalid_grant');
    }
  });
});
