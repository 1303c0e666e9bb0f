/** Snapshots of a shop: what a restore brings back, what it keeps, and what it tells the clients of before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { eventsNumbered, newClient, newCustomer, newToken } from '../auth/holders.ts';
import { environmentOf, type FilledShop, openFilledShop, requestOk } from '../cli/filled-shop.ts';
import { curd } from '../cli/run.ts';
import { shown } from '../files/images.ts';
import { assertError, engines, onBothEngines, openShop, type Shop, testClock, until } from '../helper.ts';
import { deleteCheese, orderOf } from '../shop-verbs.ts';

const path = '/v2/sandbox/snapshots';

async function create(shop: Shop, name = 'before the tests') {
  return requestOk(shop, 'POST', path, { as: shop.admin, body: { name } });
}

const restore = (shop: Shop, id: number, headers = {}) =>
  shop.request('POST', `${path}/${id}/restore`, { as: shop.admin, headers });

/** What clients read of a shop, without ETags. */
async function contentsOf({ shop, orders, cheeses: [comte] }: FilledShop) {
  await eventsNumbered(shop);
  const lists = [
    '/v2/cheeses?limit=100&withTotal=true',
    '/v2/store/orders?limit=100',
    '/v2/customers?limit=100',
    '/v2/stock',
    '/v2/store/inventory',
    '/v2/webhook-endpoints',
    `/v2/cheeses/${comte}/images`,
    `/v2/store/order/${orders.delivered}`,
    `/v2/store/order/${orders.delivered}/timeline`,
    '/v2/customer/ada',
  ];
  return Promise.all(
    lists.map(async (url) => {
      const body = await requestOk(shop, 'GET', url, { as: shop.admin });
      // An endpoint continues with the log, which does not go back.
      delete body.items?.[0]?.position;
      return { url, body };
    }),
  );
}

/** Changes of all kinds. */
async function changeEverything({ shop, orderer, session, orders, cheeses: [comte, brie] }: FilledShop) {
  const as = shop.admin;
  for (let count = 0; count < 20; count += 1) {
    const cheese = await requestOk(shop, 'POST', '/v2/cheeses', {
      as,
      body: { name: `Later ${count}`, tags: [{ name: `tag ${count}` }], pricePerKg: 7 },
    });
    await requestOk(shop, 'PATCH', `/v2/cheeses/${cheese.id}`, { as, body: { pricePerKg: 8 } });
    await requestOk(shop, 'POST', '/v2/store/order', { as: orderer, body: orderOf([cheese.id, comte]) });
  }
  await requestOk(shop, 'PATCH', `/v2/cheeses/${comte}`, { as, body: { pricePerKg: 99 } });
  await requestOk(shop, 'POST', `/v2/store/order/${orders.approved}/ship`, { as });
  await requestOk(shop, 'DELETE', `/v2/store/order/${orders.placed}`, { as });
  await requestOk(shop, 'PUT', `/v2/cheeses/${brie}/stock`, { as, body: { onHand: 3 } });
  await requestOk(shop, 'DELETE', '/v2/customer/ada', { headers: session });
  await newCustomer(shop, 'eva', 'customer');
}

for (const engine of engines) {
  test(`A snapshot that is restored after changes of all kinds (${engine})`, async (t) => {
    const life = await openFilledShop(t, engine);
    const { shop, session, orderer, imageUrl, cheeses } = life;
    const [comte] = cheeses;
    const as = shop.admin;
    const endpoint = { url: 'http://127.0.0.1:9/', types: ['api_key.created'] };
    await requestOk(shop, 'POST', '/v2/webhook-endpoints', { as, body: endpoint });
    await requestOk(shop, 'PUT', `/v2/cheeses/${comte}/stock`, { as, body: { onHand: 500 } });
    await eventsNumbered(shop);
    const { app } = shop;
    if (!app.database.numbersEventsAtWrite) {
      // As if the snapshot was made before the pass that numbers the last event. No pass finds it below the floor.
      await app.database.run(sql`update event_log set floor_id = (select max(id) from event)`);
      await app.database.run(sql`update event set sequence = null where id = (select max(id) from event)`);
    }
    const snapshot = await create(shop);
    if (!app.database.numbersEventsAtWrite) {
      await app.database.run(
        sql`update event set sequence = (select last from event_log) where id = (select max(id) from event where sequence is null)`,
      );
    }
    assert.ok(snapshot.bytes > 10_000);
    const before = await contentsOf(life);
    const nextIds = async () => {
      const cheese = await requestOk(shop, 'POST', '/v2/cheeses', {
        as,
        body: { name: 'Next', category: { name: 'New' }, pricePerKg: 5 },
      });
      const order = await requestOk(shop, 'POST', '/v2/store/order', {
        as: orderer,
        body: orderOf(cheese.id),
      });
      const customer = await newCustomer(shop, 'next', 'customer');
      return { cheese: cheese.id, category: cheese.category.id, order: order.id, customer };
    };
    const ids = await nextIds();
    const etagOf = async (url: string) => String((await shop.request('GET', url, { as })).headers.etag);
    const urls = [`/v2/cheeses/${comte}`, `/v2/cheeses/${ids.cheese}`, `/v2/store/order/${ids.order}`];
    const tags = await Promise.all(urls.map(etagOf));
    const changes = (await shop.request('GET', '/v2/cheeses/changes?limit=100', { as })).json.next;
    await changeEverything(life);
    await eventsNumbered(shop);
    const position = (await shop.request('GET', '/v2/events?since=latest', { as })).json.next;
    const oldEvent = (await shop.request('GET', '/v2/events?since=earliest&limit=1', { as })).json.items[0]
      .id;
    const keyOfLater = await shop.createKey({ scopes: ['write:cheeses'] });
    const restored = await restore(shop, snapshot.id);
    assert.equal(restored.status, 200, restored.text);

    await t.test(
      'A snapshot that is restored after changes of all kinds is the shop as it was, with its images, sessions and the next ids',
      async () => {
        assert.deepEqual(await contentsOf(life), before);
        assert.equal((await shown(shop, imageUrl)).status, 200);
        assert.equal((await shop.request('GET', '/v2/whoami', { headers: session })).status, 200);
        assert.deepEqual(await nextIds(), ids);
      },
    );

    await t.test(
      'A snapshot that is restored after changes of all kinds has keys as they are now, and is consistent',
      async () => {
        assert.equal((await shop.request('GET', '/v2/whoami', { as: keyOfLater })).status, 200);
        const doctor = await curd(environmentOf(shop), 'doctor');
        assert.deepEqual([doctor.code, doctor.stderr], [0, ''], doctor.stdout);
      },
    );

    await t.test(
      'A snapshot that is restored after changes of all kinds matches no ETag of before, and no position',
      async () => {
        for (const [index, url] of urls.entries()) {
          const tag = tags[index] as string;
          const read = await shop.request('GET', url, { as, headers: { 'if-none-match': tag } });
          assert.equal(read.status, 200, url);
          const now = String(read.headers.etag);
          assert.notEqual(now, tag, url);
          const again = await shop.request('GET', url, { as, headers: { 'if-none-match': now } });
          assert.equal(again.status, 304, url);
        }
        const change = (tag: string) =>
          shop.request('PATCH', urls[1] as string, {
            as,
            headers: { 'if-match': tag },
            body: { origin: 'Ain' },
          });
        assertError(await change(tags[1] as string), 412, 'precondition_failed');
        assert.equal((await change(await etagOf(urls[1] as string))).status, 200);
        for (const url of [
          `/v2/cheeses/changes?since=${changes}`,
          `/v2/events?since=${position}`,
          `/v2/events?since=${oldEvent}`,
          `/v2/events/${oldEvent}`,
        ]) {
          assertError(await shop.request('GET', url, { as }), 410, 'log_rewound');
        }
      },
    );

    await t.test(
      'A snapshot that is restored after changes of all kinds has a log that begins with the first event afterwards',
      async () => {
        await eventsNumbered(shop);
        const log = await requestOk(shop, 'GET', '/v2/events?since=earliest&limit=1', { as });
        assert.ok(log.items[0].sequence > Number(position.split('_')[2]));
        assert.equal(log.items[0].subject, `cheese:${ids.cheese}`);
      },
    );

    await t.test(
      'A snapshot that is restored after changes of all kinds is restored again, and so are its deleted cheeses',
      async () => {
        const unsold = before[0]?.body.items.find(({ name }: { name: string }) => name === 'New name');
        assert.equal((await deleteCheese(shop, unsold.id)).status, 204);
        assert.equal((await restore(shop, snapshot.id)).status, 200);
        assert.deepEqual(await contentsOf(life), before);
        assert.deepEqual(await nextIds(), ids);
      },
    );

    if (engine === 'postgres') {
      await t.test(
        'A snapshot that is restored after changes of all kinds is seen by another instance with its next request',
        async (second) => {
          const other = await shop.another();
          assert.ok(second !== undefined);
          const list = '/v2/cheeses?q=next';
          assert.equal((await requestOk(other, 'GET', list, { as })).items.length, 1);
          const old = String((await other.request('GET', list, { as })).headers.etag);
          assert.equal((await restore(shop, snapshot.id)).status, 200);
          const read = await other.request('GET', list, { as, headers: { 'if-none-match': old } });
          assert.deepEqual([read.status, read.json?.items], [200, []]);
          await until(async () =>
            String((await other.request('GET', urls[0] as string, { as })).headers.etag).includes('r3.'),
          );
        },
      );
    }
  });
}

onBothEngines('Snapshots', (engine) => {
  test('Snapshots keep the files of images that the shop does not need any more', async (t) => {
    const clock = testClock();
    const life = await openFilledShop(t, engine, {}, clock);
    const { shop, imageUrl, cheeses } = life;
    const { id } = await create(shop);
    await requestOk(shop, 'POST', '/v2/sandbox/reset', { as: shop.admin, body: { confirm: true } });
    assert.equal((await shown(shop, imageUrl)).status, 404);
    clock.advance(20 * 60_000);
    await shop.app.maintenance.run();
    assert.equal((await restore(shop, id)).status, 200);
    assert.equal((await shown(shop, imageUrl)).status, 200);
    // Without the snapshot, the file goes with its cheese.
    await requestOk(shop, 'DELETE', `${path}/${id}`, { as: shop.admin });
    for (const cheese of cheeses) {
      await requestOk(shop, 'PUT', `/v2/cheeses/${cheese}/stock`, { as: shop.admin, body: { onHand: 1 } });
    }
    await requestOk(shop, 'POST', '/v2/sandbox/reset', { as: shop.admin, body: { confirm: true } });
    clock.advance(20 * 60_000);
    await shop.app.maintenance.run();
    const name = imageUrl.slice(imageUrl.lastIndexOf('/') + 1);
    assert.equal(await shop.app.images.service.readFile(name, null), null);
  });

  test('Snapshots are at most ten, are listed and deleted, and need the scope admin', async (t) => {
    const shop = await openShop(t, { engine });
    for (let count = 1; count <= 10; count += 1) {
      const created = await create(shop, `number ${count}`);
      assert.equal(created.name, `number ${count}`);
    }
    const eleventh = await shop.request('POST', path, { as: shop.admin, body: { name: 'eleven' } });
    assertError(eleventh, 409, 'conflict');
    assert.match(eleventh.json.message, /10 snapshots.*Delete one/);
    const { items } = await requestOk(shop, 'GET', path, { as: shop.admin });
    assert.equal(items.length, 10);
    await requestOk(shop, 'DELETE', `${path}/${items[0].id}`, { as: shop.admin });
    assertError(await restore(shop, items[0].id), 404, 'not_found');
    assertError(await shop.request('DELETE', `${path}/${items[0].id}`, { as: shop.admin }), 404, 'not_found');
    assertError(await shop.request('POST', path, { as: shop.admin, body: {} }), 422, 'validation_error');
    const requests: [string, string][] = [
      ['GET', path],
      ['POST', path],
      ['POST', `${path}/2/restore`],
      ['DELETE', `${path}/2`],
      ['POST', '/v2/sandbox/reset'],
    ];
    for (const [method, url] of requests) {
      const body = method === 'POST' ? { name: 'x', confirm: true } : undefined;
      assertError(await shop.request(method, url, { as: shop.writer, body }), 403, 'forbidden');
      assertError(await shop.request(method, url, { body }), 401, 'unauthorized');
    }
    const key = { 'idempotency-key': 'one-restore' };
    const first = await restore(shop, items[1].id, key);
    await requestOk(shop, 'POST', '/v2/cheeses', { as: shop.writer, body: { name: 'After' } });
    const again = await restore(shop, items[1].id, key);
    assert.deepEqual([again.headers['idempotency-replayed'], again.text], ['true', first.text]);
    assert.equal((await requestOk(shop, 'GET', '/v2/cheeses', { as: shop.reader })).items.length, 1);
  });

  test('Snapshots run one at a time, and leave the shop whole while others change it', async (t) => {
    const shop = await openShop(t, { engine });
    const { id } = await create(shop);
    let isOver = false;
    async function change(name: string) {
      let made = 0;
      for (; !isOver; made += 1) {
        const body = { name: `${name} ${made}` };
        const { status } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body });
        assert.ok([201, 503].includes(status), String(status));
      }
    }
    const changing = Promise.all(['a', 'b', 'c'].map(change));
    const statuses = await Promise.all([restore(shop, id), restore(shop, id)]);
    assert.deepEqual(statuses.map(({ status }) => status).sort(), [200, 409]);
    assert.match(String(statuses.find(({ status }) => status === 409)?.json.message), /Wait until/);
    isOver = true;
    await changing;
    assert.equal((await restore(shop, id)).status, 200);
    assert.equal((await requestOk(shop, 'GET', '/v2/cheeses', { as: shop.reader })).items.length, 0);
    const doctor = await curd(environmentOf(shop), 'doctor');
    assert.equal(doctor.code, 0, doctor.stdout);
  });

  test('Snapshots give a customer with the id of another none of the tokens of the other', async (t) => {
    const shop = await openShop(t, { engine });
    const client = await newClient(shop);
    const stays = await newCustomer(shop, 'stays', 'customer');
    const { id } = await create(shop);
    const leaves = await newCustomer(shop, 'leaves', 'customer');
    const tokenOf = (customer: number) => newToken(shop, { client, customer, scope: 'read:cheeses' });
    const [kept, lost] = [await tokenOf(stays), await tokenOf(leaves)];
    const statusOf = async (token: string) =>
      (await shop.request('GET', '/v2/whoami', { headers: { authorization: `Bearer ${token}` } })).status;
    assert.deepEqual([await statusOf(kept), await statusOf(lost)], [200, 200]);
    assert.equal((await restore(shop, id)).status, 200);
    assert.equal(await newCustomer(shop, 'another', 'customer'), leaves);
    assert.deepEqual([await statusOf(kept), await statusOf(lost)], [200, 401]);
  });

  test('Snapshots set the clock back to that of then, and a reset to that of the machine', async (t) => {
    const shop = await openShop(t, { engine });
    const as = shop.admin;
    const advance = (duration: string) =>
      requestOk(shop, 'POST', '/v2/sandbox/clock', { as, body: { advance: duration } });
    const ahead = async () => (await requestOk(shop, 'GET', '/v2/sandbox/clock', { as })).advancedBy;
    await advance('1h');
    const then = await ahead();
    const { id, createdAt } = await create(shop);
    await advance('3d');
    await requestOk(shop, 'POST', '/v2/cheeses', { as, body: { name: 'Three days later' } });
    const restored = await restore(shop, id);
    assert.equal(await ahead(), then);
    const passed = Date.parse(restored.json.now) - Date.parse(createdAt);
    assert.ok(passed >= 0 && passed < 3_600_000, `${passed}`);
    const cheese = await requestOk(shop, 'POST', '/v2/cheeses', { as, body: { name: 'Now' } });
    assert.ok(Date.parse(cheese.createdAt) - Date.parse(createdAt) < 3_600_000, cheese.createdAt);
    await requestOk(shop, 'POST', '/v2/sandbox/reset', { as, body: { confirm: true } });
    assert.equal(await ahead(), 'PT0S');
    await requestOk(shop, 'POST', '/v2/cheeses', { as, body: { name: 'After the reset' } });
    await eventsNumbered(shop);
    const times: string[] = [];
    for (const list of ['/v2/cheeses?limit=100', '/v2/events?since=earliest&limit=100']) {
      const { items } = await requestOk(shop, 'GET', list, { as });
      assert.ok(items.length > 0, list);
      times.push(...items.flatMap((item: Record<string, string>) => item.updatedAt ?? item.timestamp ?? ''));
    }
    assert.ok(Date.parse(times.sort().at(-1) ?? '') <= Date.now(), times.join(' '));
    assert.equal((await restore(shop, id)).status, 200);
    assert.equal(await ahead(), then);
    const after = await requestOk(shop, 'POST', '/v2/cheeses', { as, body: { name: 'After the restore' } });
    assert.ok(Date.parse(after.createdAt) - Date.parse(createdAt) < 3_600_000, after.createdAt);
    const doctor = await curd(environmentOf(shop), 'doctor');
    assert.equal(doctor.code, 0, doctor.stdout);
  });

  test('Snapshots are refused where the shop has live keys or the copy is missing', async (t) => {
    const shop = await openShop(t, { engine });
    const { id } = await create(shop);
    const copies = shop.app.sandbox.snapshots?.copies;
    for (const place of (await copies?.list()) ?? []) {
      await copies?.remove(place);
    }
    const missing = await restore(shop, id);
    assertError(missing, 409, 'conflict');
    assert.match(missing.json.message, /Delete the snapshot/);
    await copies?.write('curd_snapshot_forgotten');
    const other = await create(shop, 'other');
    assert.equal((await copies?.list())?.length, 1, 'a copy without a snapshot is deleted');
    await shop.createKey({ type: 'live' });
    for (const refused of [
      await restore(shop, other.id),
      await shop.request('POST', '/v2/sandbox/reset', { as: shop.admin, body: { confirm: true } }),
    ]) {
      assertError(refused, 409, 'conflict');
      assert.match(refused.json.message, /live keys.*revoke/);
    }
  });
});

onBothEngines('POST /v2/sandbox/reset', (engine) => {
  test('POST /v2/sandbox/reset makes the shop like new, and keeps the key and the snapshots', async (t) => {
    const { shop, session, orders } = await openFilledShop(t, engine);
    const as = shop.admin;
    const { id } = await create(shop);
    const unconfirmed = await shop.request('POST', '/v2/sandbox/reset', { as, body: { confirm: false } });
    assertError(unconfirmed, 422, 'validation_error');
    assert.equal((await shop.request('GET', '/v2/whoami', { headers: session })).status, 200);
    const [first, second] = await Promise.all([
      shop.request('POST', '/v2/sandbox/reset', { as, body: { confirm: true } }),
      shop.request('POST', '/v2/sandbox/reset', { as, body: { confirm: true } }),
    ]);
    assert.deepEqual([first.status, second.status].sort(), [200, 409]);
    assert.equal((await shop.request('GET', '/v2/whoami', { headers: session })).status, 401);
    const list = await requestOk(shop, 'GET', '/v2/cheeses?withTotal=true', { as });
    assert.ok(list.total > 50);
    await eventsNumbered(shop);
    const log = await requestOk(shop, 'GET', '/v2/events?since=earliest&limit=1', { as });
    assert.equal(log.items[0].type, 'shop.reset');
    assert.match(log.items[0].actor, /^key:/);
    const made = await requestOk(shop, 'GET', '/v2/events?since=earliest&types=cheese.*&limit=100', { as });
    assert.deepEqual(new Set(made.items.map(({ actor }: { actor: string }) => actor)), new Set(['system']));
    assert.equal((await requestOk(shop, 'GET', path, { as })).items.length, 1);
    assert.equal((await restore(shop, id)).status, 200);
    await requestOk(shop, 'GET', `/v2/store/order/${orders.shipped}`, { as });
  });
});

test('A production shop has no snapshots and no reset', async (t) => {
  const production = { CURD_ENVIRONMENT: 'production', CURD_PUBLIC_URL: 'https://shop.example.com' };
  const shop = await openShop(t, { settings: production });
  const as = await shop.createKey({ scopes: ['admin'], type: 'live' });
  for (const [method, url] of [
    ['POST', '/v2/sandbox/reset'],
    ['GET', path],
    ['POST', path],
    ['POST', `${path}/1/restore`],
    ['DELETE', `${path}/1`],
  ] as const) {
    assertError(await shop.request(method, url, { as }), 404, 'not_found');
    assertError(await shop.request(method, url), 404, 'not_found');
  }
});
