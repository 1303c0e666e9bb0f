/** Accounts, names of API keys, OAuth clients and approvals over HTTP, for operators. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertFields, onBothEngines, openShop, type Shop, shared } from '../helper.ts';
import { eventsNumbered, newClient, newCustomer, newToken } from './holders.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Types and data of the recorded events, the newest last. */
async function eventsOf(shop: Shop, types: string): Promise<unknown[]> {
  await eventsNumbered(shop);
  const { json } = await shop.request('GET', `/v2/events?types=${types}&limit=100`, {
    as: shop.admin,
  });
  return json.items.map(({ type, data }: { type: string; data: unknown }) => [type, data]);
}

onBothEngines('Operators', (engine) => {
  const shop = shared((t) => openShop(t, { engine }));
  const send = (method: string, path: string, body?: unknown) =>
    shop().request(method, `/v2${path}`, { as: shop().admin, ...(body === undefined ? {} : { body }) });

  test('Operators create accounts, list them with what remains of their quota, and change their plan', async () => {
    const created = await send('POST', '/accounts', { name: 'warehouse', plan: 'free' });
    assert.equal(created.status, 201);
    const { id, createdAt, ...account } = created.json;
    const hour = { limit: 100, remaining: 100, resetSeconds: 0 };
    const quota = { plan: 'free', hour, burst: { limit: 10, remaining: 10 } };
    assert.deepEqual(account, { name: 'warehouse', plan: 'free', activeKeys: 0, quota });
    assertError(await send('POST', '/accounts', { name: 'warehouse' }), 409, 'conflict');
    assertFields(await send('POST', '/accounts', { name: '-', plan: 'gold' }), ['name', 'plan']);

    const {
      auth: { keys },
      contextOf,
    } = shop().app;
    const { key } = await keys.create(contextOf('test'), id, {});
    for (let calls = 0; calls < 3; calls += 1) {
      assert.equal((await shop().request('GET', '/v2/cheeses', { as: key })).status, 200);
    }
    const listed = async () =>
      (await send('GET', '/accounts')).json.items.find((one: { id: number }) => one.id === id);
    const used = await listed();
    assert.equal(used.activeKeys, 1);
    assert.equal(used.quota.hour.remaining, 97);
    assert.ok(used.quota.hour.resetSeconds > 3500);
    assert.equal((await listed()).quota.hour.remaining, 97, 'a list counts nothing for the account');

    const moved = await send('POST', `/accounts/${id}/plan`, { plan: 'pro' });
    assert.deepEqual([moved.status, moved.json.plan, moved.json.quota.hour.remaining], [200, 'pro', 9997]);
    assert.equal((await send('POST', `/accounts/${id}/plan`, { plan: 'pro' })).status, 200);
    assertFields(await send('POST', `/accounts/${id}/plan`, { plan: 'gold' }), ['plan']);
    assertError(await send('POST', '/accounts/999/plan', { plan: 'pro' }), 404, 'not_found');
    const events = await eventsOf(shop(), 'account.*');
    assert.deepEqual(events.slice(-2), [
      ['account.created', { id, plan: 'free' }],
      ['account.plan_changed', { id, plan: 'pro' }],
    ]);
  });

  test('Operators name API keys; a renamed and rotated key keeps its name', async () => {
    const { id: accountId } = (await send('POST', '/accounts', { name: 'shelves' })).json;
    const created = await send('POST', '/api-keys', { account: 'shelves', name: 'Scanner 1' });
    assert.deepEqual([created.status, created.json.name], [201, 'Scanner 1']);
    const path = `/api-keys/${created.json.id}`;
    const renamed = await send('POST', path, { name: 'Scanner A' });
    const { key: _, ...shown } = { ...created.json, name: 'Scanner A' };
    assert.deepEqual([renamed.status, renamed.json], [200, shown]);
    const rotated = await send('POST', `${path}/rotate`, { overlap: '0s' });
    assert.deepEqual([rotated.status, rotated.json.name], [201, 'Scanner A']);
    const { items } = (await send('GET', '/api-keys?account=shelves')).json;
    assert.deepEqual(
      items.map(({ name }: { name: string }) => name),
      ['Scanner A'],
    );
    assertError(await send('POST', path, { name: 'too late' }), 409, 'conflict');
    assertError(await send('POST', '/api-keys/999', { name: 'none' }), 404, 'not_found');
    const next = `/api-keys/${rotated.json.id}`;
    assert.equal((await send('POST', next, { name: null })).json.name, null);
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(101) }, { name: 'a\nb' }]) {
      assertFields(await send('POST', next, body), ['name']);
    }
    assert.deepEqual((await eventsOf(shop(), 'api_key.renamed')).slice(-2), [
      ['api_key.renamed', { id: created.json.id, name: 'Scanner A' }],
      ['api_key.renamed', { id: rotated.json.id, name: null }],
    ]);
    assert.equal((await shop().app.auth.keys.findAccountById(accountId))?.name, 'shelves');
  });

  test('Operators register OAuth clients, whose secret is shown once, and delete them', async () => {
    await send('POST', '/accounts', { name: 'diary' });
    const input = {
      name: 'Cheese Diary',
      account: 'diary',
      scopes: ['read:cheeses'],
      redirectUris: ['https://diary.example/cb'],
    };
    const created = await send('POST', '/oauth-clients', input);
    assert.equal(created.status, 201);
    assert.equal(created.headers['cache-control'], 'no-store');
    const { clientSecret, ...client } = created.json;
    assert.match(clientSecret, /^[\w-]{43}$/);
    const find = async () =>
      (await send('GET', '/oauth-clients')).json.items.find(
        (one: { clientId: string }) => one.clientId === client.clientId,
      );
    assert.deepEqual(await find(), client);
    const isPublic = await send('POST', '/oauth-clients', { ...input, public: true, native: true });
    assert.deepEqual([isPublic.json.clientSecret, isPublic.json.native], [null, true]);

    assertFields(await send('POST', '/oauth-clients', { ...input, scopes: ['admin'] }), ['scopes[0]']);
    const uris = ['https://diary.example/cb', 'http://diary.example/cb'];
    assertFields(await send('POST', '/oauth-clients', { ...input, redirectUris: uris }), ['redirectUris[1]']);
    assertFields(await send('POST', '/oauth-clients', { ...input, name: '<b>' }), ['name']);
    assertError(await send('POST', '/oauth-clients', { ...input, account: 'none' }), 404, 'not_found');

    assert.equal((await send('DELETE', `/oauth-clients/${client.clientId}`)).status, 204);
    assert.equal(await find(), undefined);
    assertError(await send('DELETE', `/oauth-clients/${client.clientId}`), 404, 'not_found');
    assertError(await send('DELETE', '/oauth-clients/console'), 409, 'conflict');
    const events = (await eventsOf(shop(), 'oauth_client.*')) as [string, { id: string }][];
    assert.deepEqual(
      events.filter(([, data]) => data.id === client.clientId).map(([type]) => type),
      ['oauth_client.created', 'oauth_client.deleted'],
    );
    assert.ok(!JSON.stringify(events).includes(clientSecret));
  });

  test('Operators decide on requests for the scope admin, but not on those about themselves', async () => {
    const {
      oauth: { approvals },
      contextOf,
    } = shop().app;
    const [own, other] = [await newClient(shop()), await newClient(shop())];
    const bob = await newCustomer(shop(), 'bob', 'staff');
    const request = async (client: string, customer: number | null) =>
      (await approvals.request(client, customer)).id;
    const ofBob = await request(own, bob);
    const [ofBobElsewhere, ofClient] = [await request(other, bob), await request(other, null)];
    await request(own, bob);
    await approvals.approve(contextOf('test'), ofBob);
    const token = await newToken(shop(), { client: own, customer: bob, scope: 'admin' });
    const decide = (verb: string, id: number, headers = bearer(token)) =>
      shop().request('POST', `/v2/approvals/${id}/${verb}`, { headers });

    for (const verb of ['approve', 'deny', 'revoke']) {
      assertError(await decide(verb, ofBob), 409, 'conflict');
      assertError(await decide(verb, ofBobElsewhere), 409, 'conflict');
    }
    const approved = await decide('approve', ofClient);
    assert.equal(approved.status, 200);
    const { requestedAt, decidedAt, expiresAt, ...shown } = approved.json;
    assert.equal(Date.parse(expiresAt) - Date.parse(decidedAt), 90 * 24 * 60 * 60 * 1000);
    assert.ok(requestedAt <= decidedAt);
    assert.deepEqual(shown, {
      id: ofClient,
      status: 'approved',
      clientId: other,
      clientName: 'Cheese Diary',
      username: null,
      decidedBy: `client:${own}/customer:${bob}`,
    });
    const machine = bearer(await newToken(shop(), { client: other, customer: null, scope: 'admin' }));
    assertError(await decide('revoke', ofClient, machine), 409, 'conflict');
    assert.equal((await decide('deny', ofBobElsewhere, machine)).json.status, 'denied');
    assertError(await decide('deny', ofClient), 409, 'conflict');
    assert.equal((await decide('revoke', ofClient)).json.status, 'revoked');
    assertError(await decide('approve', 999), 404, 'not_found');
    assert.equal((await decide('revoke', ofBob, machine)).status, 401, 'its approval has ended');

    const { items } = (await send('GET', '/approvals?status=revoked')).json;
    assert.deepEqual(
      items.map(({ id }: { id: number }) => id),
      [ofClient],
    );
    assertError(await send('GET', '/approvals?status=none'), 400, 'bad_request');
    const events = (await eventsOf(shop(), 'approval.*')) as [string, { id: number; clientId: string }][];
    assert.deepEqual(
      events.filter(([, data]) => data.clientId === other && data.id === ofClient).map(([type]) => type),
      ['approval.requested', 'approval.approved', 'approval.revoked'],
    );
    assert.equal(
      events.filter(([type, { id }]) => type === 'approval.requested' && id === ofBob).length,
      1,
      'a repeated request records nothing',
    );
  });
});

test('Events of operators are listed for the scope admin only', async (t) => {
  const shop = await openShop(t);
  const { json: account } = await shop.request('POST', '/v2/accounts', {
    as: shop.admin,
    body: { name: 'warehouse' },
  });
  assert.equal(account.plan, 'enterprise');
  for (const [as, count] of [
    [shop.reader, 0],
    [shop.admin, 1],
  ] as const) {
    const { json } = await shop.request('GET', `/v2/events?subject=account:${account.id}`, { as });
    assert.equal(json.items.length, count);
  }
});
