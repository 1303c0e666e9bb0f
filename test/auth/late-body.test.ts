/** Credentials that are revoked while the body of a request is on its way: the request is refused and changes nothing. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { bodyOf, boundary, filePart, imageIn } from '../api/image-forms.ts';
import { engines, type ListeningShop, openListeningShop, type Shop, shared } from '../helper.ts';
import { type LateRequest, sendHeaders } from '../late-body.ts';
import { newApplication, post } from '../oauth/flow.ts';
import { password, registerAndLogIn } from '../shop-verbs.ts';

const json = { 'content-type': 'application/json' };

const canLogIn = async (shop: Shop, username: string, secret: string) =>
  (await shop.request('POST', '/v2/customer/login', { body: { username, password: secret } })).status === 200;

/** Revokes an API key at another instance. */
async function revoke(shop: Shop, other: Shop, key: string) {
  const { id } = (await other.app.database.get<{ id: number }>(
    sql`select id from api_key where last4 = ${key.slice(-4)} order by id desc`,
  )) as { id: number };
  assert.equal((await other.request('DELETE', `/v2/api-keys/${id}`, { as: shop.admin })).status, 204);
}

async function assertRefused(late: LateRequest): Promise<void> {
  const { status, json: body, headers } = await late.finish();
  assert.equal(status, 401, JSON.stringify(body));
  assert.equal(body.type, 'unauthorized');
  assert.match(String(headers['www-authenticate']), /error="invalid_token"/);
}

for (const engine of engines) {
  suite(`A credential that is revoked before the body arrives (${engine})`, () => {
    const opened = shared(async (t): Promise<{ shop: ListeningShop; other: Shop }> => {
      const shop = await openListeningShop(t, { engine });
      return { shop, other: await shop.another() };
    });

    test('A credential that is revoked before the body arrives creates no API key', async () => {
      const { shop, other } = opened();
      const {
        auth: { keys },
        contextOf,
      } = shop.app;
      const owner = await keys.createAccount(contextOf('test'), 'late admin');
      const { key } = await keys.create(contextOf('test'), owner.id, { scopes: ['admin'] });
      const headers = { ...json, 'x-api-key': key };
      const late = await sendHeaders('POST', `${shop.url}/v2/api-keys`, headers, '{"scopes":["admin"]}');
      await revoke(shop, other, key);
      await assertRefused(late);
      assert.deepEqual(await keys.list(owner.id), []);
    });

    test('A credential that is revoked before the body arrives is refused before the body is validated', async () => {
      const { shop, other } = opened();
      const key = await shop.createKey({ scopes: ['write:cheeses'] });
      const late = await sendHeaders(
        'POST',
        `${shop.url}/v2/cheeses`,
        { ...json, 'x-api-key': key },
        '{"name":',
      );
      await revoke(shop, other, key);
      await assertRefused(late);
    });

    test('A credential that is revoked before the body arrives changes no cheese with a form', async () => {
      const { shop, other } = opened();
      const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
        as: shop.writer,
        body: { name: 'Late form' },
      });
      const key = await shop.createKey({ scopes: ['write:cheeses'] });
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-api-key': key };
      const late = await sendHeaders('POST', `${shop.url}/v2/cheeses/${cheese.id}`, headers, 'status=sold');
      await revoke(shop, other, key);
      await assertRefused(late);
      const { json: now } = await shop.request('GET', `/v2/cheeses/${cheese.id}`, { as: shop.reader });
      assert.deepEqual(now, cheese);
    });

    test('A credential that is revoked before the body arrives uploads no image', async () => {
      const { shop, other } = opened();
      const { json: cheese } = await shop.request('POST', '/v2/cheeses', {
        as: shop.writer,
        body: { name: 'Late image' },
      });
      const key = await shop.createKey({ scopes: ['write:cheeses'] });
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'x-api-key': key };
      const form = bodyOf([filePart(await imageIn('png'))]);
      const url = `${shop.url}/v2/cheeses/${cheese.id}/uploadImage`;
      const late = await sendHeaders('POST', url, headers, form);
      await revoke(shop, other, key);
      await assertRefused(late);
      const { json: now } = await shop.request('GET', `/v2/cheeses/${cheese.id}`, { as: shop.reader });
      assert.deepEqual(now.photoUrls, []);
    });

    test('A credential that is revoked before the body arrives changes no password with a session that was logged out', async () => {
      const { shop, other } = opened();
      const { headers, ...profile } = await registerAndLogIn(shop, { username: 'lateada' });
      const body = JSON.stringify({ ...profile, password: 'another password' });
      const late = await sendHeaders('PUT', `${shop.url}/v2/customer/lateada`, { ...json, ...headers }, body);
      assert.equal((await other.request('POST', '/v2/customer/logout', { headers })).status, 204);
      await assertRefused(late);
      assert.ok(await canLogIn(shop, 'lateada', password));
    });

    test('A credential that is revoked before the body arrives places no order for the customer of a session that ended', async () => {
      const { shop, other } = opened();
      const { headers } = await registerAndLogIn(shop, { username: 'latebob' });
      const key = await shop.createKey({ scopes: ['write:orders'] });
      const credentials = { ...json, ...headers, 'x-api-key': key };
      const late = await sendHeaders('POST', `${shop.url}/v2/store/order`, credentials, '{}');
      await other.request('POST', '/v2/customer/logout', { headers });
      await assertRefused(late);
    });

    test('A credential that is revoked before the body arrives gets no token when it is the secret of a client', async () => {
      const { shop, other } = opened();
      const request = { grants: ['client_credentials'], scopes: ['read:cheeses'] } as const;
      const { clientId, clientSecret } = await newApplication(shop, request);
      const application = { clientId, clientSecret, redirectUri: '' };
      const grant = { grant_type: 'client_credentials', scope: 'read:cheeses' };
      assert.equal((await post(`${shop.url}/oauth/token`, grant, application)).status, 200);
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const form = new URLSearchParams({
        ...grant,
        client_id: clientId,
        client_secret: clientSecret ?? '',
      }).toString();
      const late = await sendHeaders('POST', `${shop.url}/oauth/token`, headers, form);
      const {
        oauth: { clients },
        contextOf,
      } = other.app;
      await clients.delete(contextOf('test'), clientId);
      const { status, json: body } = await late.finish();
      assert.deepEqual([status, body.error], [401, 'invalid_client']);
    });

    test('A credential that is revoked does not affect a late body with another: it is accepted and counted once', async () => {
      const { shop } = opened();
      const key = await shop.createKey({ scopes: ['write:cheeses'] });
      const remaining = async () => {
        const { headers } = await shop.request('GET', '/v2/whoami', { as: key });
        return Number(headers['x-ratelimit-remaining']);
      };
      const before = await remaining();
      const headers = { ...json, 'x-api-key': key };
      const late = await sendHeaders('POST', `${shop.url}/v2/cheeses`, headers, '{"name":"Late"}');
      const { status, json: body } = await late.finish();
      assert.equal(status, 201, JSON.stringify(body));
      assert.ok(before - (await remaining()) <= 2);
    });
  });

  suite(`A session that ends while a change to the profile waits for its row (${engine})`, () => {
    const opened = shared((t) => openListeningShop(t, { engine }));

    for (const [what, method] of [
      ['keeps the profile', 'PUT'],
      ['keeps the account', 'DELETE'],
    ] as const) {
      test(`A session that ends while a change to the profile waits ${what}`, async () => {
        const shop = opened();
        const username = `waiting${method.toLowerCase()}`;
        const { headers, ...profile } = await registerAndLogIn(shop, { username });
        const path = `/v2/customer/${username}`;
        const body = { ...profile, password: 'another password' };
        let change: ReturnType<Shop['request']> | undefined;
        await shop.app.database.transaction(async (tx) => {
          // Locked on PostgreSQL; SQLite has one writer.
          await tx.run(sql`update customer set version = version where username = ${username}`);
          change ??= shop.request(method, path, { headers, ...(method === 'PUT' ? { body } : {}) });
          await sleep(500);
          await tx.run(
            sql`delete from session where customer_id = (select id from customer where username = ${username})`,
          );
        });
        assert.equal((await change)?.status, 401);
        assert.ok(await canLogIn(shop, username, password));
      });
    }
  });
}
