/** Several instances change the same cheese at the same time: the changes are serialized. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { App } from '../../src/app/build-app.ts';
import { checkCatalogue } from '../../src/cheeses/consistency-check.ts';
import { sql } from '../../src/database/sql.ts';
import { nameOf, shown, testImage, upload } from '../files/images.ts';
import { assertError, shared, type TestResponse, until } from '../helper.ts';
import { deleteCheese, newCheese, placeOrder } from '../shop-verbs.ts';
import { assertOneWon, eventsOf, newCheeseWithEtag, newName, openInstances, tally } from './instances.ts';

const rounds = 6;
const creations = Number(process.env.CURD_TEST_CREATIONS ?? 100);
const mixedSeconds = Number(process.env.CURD_TEST_SECONDS ?? 0);

// Each test uses new names, so that most tests can share the instances.
const instances = shared((t) => openInstances(t, 3, { settings: { CURD_APPROVAL_DELAY: '1h' } }));

suite('The catalogue on several instances', () => {
  test('The catalogue on several instances has a name once in a category, written by any instance', async () => {
    const shops = instances();
    const as = shops.writer;
    const category = { name: 'Soft' };
    for (let round = 0; round < rounds; round += 1) {
      const body = { name: newName('Brie'), category, tags: [{ name: newName('tag') }] };
      const made = await shops.atOnce(6, (shop) => shop.request('POST', '/v2/cheeses', { as, body }));
      const { json } = assertOneWon(made, 201, 409, 'conflict');
      const others = [await newCheese(shops), await newCheese(shops)];
      const renamed = await shops.atOnce(2, (shop, index) =>
        shop.request('PUT', '/v2/cheeses', {
          as,
          body: { id: others[index], name: `New ${json.name}`, status: 'pending', category },
        }),
      );
      assertOneWon(renamed, 200, 409, 'conflict');
    }
    const { json } = await shops.request('GET', '/v2/cheeses?category=Soft', { as: shops.reader });
    assert.equal(json.total, 2 * rounds);
  });

  test('The catalogue on several instances accepts one of several changes with the same ETag, and refuses the others', async () => {
    const shops = instances();
    const as = shops.writer;
    for (let round = 0; round < rounds; round += 1) {
      const { id, etag } = await newCheeseWithEtag(shops);
      const changes = await shops.atOnce(6, (shop, index) =>
        index % 2 === 0
          ? shop.request('POST', `/v2/cheeses/${id}`, {
              as,
              headers: { 'if-match': etag },
              body: { name: newName() },
            })
          : shop.request('PUT', '/v2/cheeses', {
              as,
              headers: { 'if-match': etag },
              body: { id, name: newName(), status: 'sold' },
            }),
      );
      const { json, headers } = assertOneWon(changes, 200, 412, 'precondition_failed');
      const now = await shops.request('GET', `/v2/cheeses/${id}`, { as: shops.reader });
      assert.deepEqual([now.json, now.headers.etag], [json, headers.etag]);
    }
  });

  test('The catalogue on several instances loses no change when different members are patched', async () => {
    const shops = instances();
    const as = shops.writer;
    for (let round = 0; round < rounds; round += 1) {
      const id = await newCheese(shops);
      const name = newName('Renamed');
      const responses = await shops.atOnce(2, (shop, index) =>
        shop.request('POST', `/v2/cheeses/${id}`, {
          as,
          body: index === 0 ? { name } : { status: 'pending' },
        }),
      );
      assert.equal(tally(responses), '2 x 200');
      const { json } = await shops.request('GET', `/v2/cheeses/${id}`, { as: shops.reader });
      assert.deepEqual([json.name, json.status], [name, 'pending']);
    }
  });

  test('The catalogue on several instances has exact totals while all instances write to it', async (t) => {
    const shops = await openInstances(t, 3);
    const as = shops.writer;
    const made = await shops.atOnce(60, (shop, index) =>
      shop.request('POST', '/v2/cheeses', {
        as,
        body: { name: newName('Fresh'), category: { name: `Category ${index % 2}` } },
      }),
    );
    assert.equal(tally(made), '60 x 201');
    const ids = made.map(({ json }) => Number(json.id));
    assert.equal(new Set(ids).size, 60);
    const gone = await shops.atOnce(20, (shop, index) => deleteCheese(shop, ids[index] ?? 0, as));
    assert.equal(tally(gone), '20 x 204');
    for (const shop of shops.all) {
      const list = (query: string) => shop.request('GET', `/v2/cheeses?${query}`, { as });
      assert.equal((await list('')).json.total, 40);
      assert.equal((await list('category=Category+0')).json.total, 20);
      assert.equal((await list('q=fresh')).json.total, 40);
      const { json } = await shop.request('GET', '/v2/store/inventory', { as });
      assert.deepEqual(json, { available: 40, pending: 0, sold: 0 });
    }
  });

  test('The catalogue on several instances has no open order with a deleted cheese', async (t) => {
    const shops = instances();
    const as = await shops.next().createKey({ scopes: ['write:cheeses', 'write:orders'] });
    let ordered = 0;
    for (let round = 0; round < 2 * rounds; round += 1) {
      const id = await newCheese(shops);
      const responses = await shops.atOnce(4, (shop, index) =>
        index === round % 4 ? deleteCheese(shop, id, as) : placeOrder(shop, id, { as }),
      );
      const [deleted] = responses.splice(round % 4, 1);
      assert.equal(deleted?.status, 204, deleted?.text ?? '');
      for (const response of responses) {
        if (response.status !== 201) {
          assertError(response, 422, 'validation_error');
          continue;
        }
        ordered += 1;
        const order = await shops.request('GET', `/v2/store/order/${response.json.id}`, { as });
        assert.equal(order.json.status, 'cancelled', `order ${response.json.id} waits for what is gone`);
      }
    }
    t.diagnostic(`${ordered} of ${6 * rounds} orders came first`);
  });

  test('The catalogue on several instances either deletes a cheese or accepts an order of it, when both happen at the same time', async () => {
    const shops = instances();
    for (let round = 0; round < rounds; round += 1) {
      const id = await newCheese(shops);
      const order = (await placeOrder(shops.next(), id)).json.id;
      const approve = `/v2/store/order/${order}/approve`;
      const [approved, deleted] = await Promise.all([
        shops.request('POST', approve, { as: shops.admin }),
        deleteCheese(shops.next(), id),
      ]);
      if (approved.status === 200) {
        assertError(deleted, 409, 'conflict');
      } else {
        assertError(approved, 409, 'conflict');
        assert.equal(deleted.status, 204, deleted.text);
      }
      const { json } = await shops.request('GET', `/v2/store/order/${order}`, { as: shops.reader });
      assert.equal(json.status, approved.status === 200 ? 'approved' : 'cancelled');
    }
  });

  test('The catalogue on several instances accepts no order of a cheese that is sold', async () => {
    const shops = instances();
    const as = shops.admin;
    for (let round = 0; round < 2 * rounds; round += 1) {
      const id = await newCheese(shops);
      const waiting = (await placeOrder(shops.next(), id, { as })).json.id;
      const approve = `/v2/store/order/${waiting}/approve`;
      const [sold, first, second, approved] = await Promise.all([
        shops.request('POST', `/v2/cheeses/${id}`, { as: shops.writer, body: { status: 'sold' } }),
        placeOrder(shops.next(), id, { as }),
        placeOrder(shops.next(), id, { as }),
        shops.request('POST', approve, { as }),
      ]);
      assert.equal(sold.status, 200, sold.text);
      const marked = (await eventsOf(shops, `cheese:${id}`)).find(({ type }) => type === 'cheese.updated');
      const isBefore = async (order: number, type: string) => {
        const event = (await eventsOf(shops, `order:${order}`)).find((one) => one.type === type);
        assert.ok(event !== undefined && marked !== undefined && event.id < marked.id, `${type} ${order}`);
      };
      for (const response of [first, second]) {
        if (response.status === 201) {
          await isBefore(response.json.id, 'order.placed');
        } else {
          assertError(response, 422, 'validation_error');
        }
      }
      if (approved.status === 200) {
        await isBefore(waiting, 'order.approved');
      } else {
        assertError(approved, 409, 'conflict');
      }
    }
  });
});

suite('Catalogue changes that share a transaction', () => {
  /** Runs `work`, and counts the transactions of the first instance meanwhile. */
  async function counting<T>(work: () => Promise<T>): Promise<{ transactions: number; result: T }> {
    let transactions = 0;
    const stop = instances().all[0].app.database.onCommit(() => {
      transactions += 1;
    });
    const result = await work();
    stop();
    return { transactions, result };
  }

  test('Catalogue changes that share a transaction create each name once, with ids in the order of createdAt, and exact counters', async () => {
    const shops = instances();
    const as = shops.writer;
    const tag = newName('parallel');
    const names = Array.from({ length: creations / 2 }, () => newName('Pair'));
    const made = await shops.atOnce(creations, (shop, index) =>
      shop.request('POST', '/v2/cheeses', {
        as,
        body: { name: names[index % names.length] ?? '', tags: [{ name: tag }], pricePerKg: index },
      }),
    );
    assert.equal(tally(made), `${names.length} x 201, ${names.length} x 409`);
    const created = made.filter(({ status }) => status === 201).map(({ json }) => json);
    assert.equal(new Set(created.map(({ name }) => name)).size, names.length);
    const byId = created.toSorted((a, b) => a.id - b.id).map(({ createdAt }) => createdAt);
    assert.deepEqual(byId, byId.toSorted());
    const { json } = await shops.request('GET', `/v2/cheeses?tags=${encodeURIComponent(tag)}&limit=1`, {
      as,
    });
    assert.equal(json.total, names.length);
    assert.deepEqual(await checkCatalogue(shops.all[0].app.database), []);
  });

  test('Catalogue changes that share a transaction succeed and fail each on its own', async () => {
    const shops = instances();
    const [shop] = shops.all;
    const as = shops.writer;
    const taken = newName('Taken');
    await newCheese(shops, { name: taken });
    const [stale, renamed, changed] = [
      await newCheeseWithEtag(shops),
      await newCheeseWithEtag(shops),
      await newCheeseWithEtag(shops),
    ];
    await shops.request('POST', `/v2/cheeses/${stale.id}`, { as, body: { status: 'pending' } });
    const post = (path: string, body: object, headers = {}) =>
      shop.request('POST', `/v2/cheeses${path}`, { as, body, headers });
    const key = { 'idempotency-key': newName('group').replace(' ', '-') };
    const keyed = { name: newName('Keyed') };
    const send = () =>
      Promise.all([
        post('', { name: taken }),
        post(`/${stale.id}`, { status: 'sold' }, { 'if-match': stale.etag }),
        post('/999999999', { status: 'sold' }),
        post(`/${renamed.id}`, { name: taken }),
        post(`/${changed.id}`, { status: 'sold' }, { 'if-match': changed.etag }),
        post('', keyed, key),
        ...Array.from({ length: 10 }, () => post('', { name: newName('Beside') })),
      ]);
    const { transactions, result } = await counting(send);
    const statuses = result.map(({ status }) => status);
    assert.deepEqual(statuses, [409, 412, 404, 409, 200, ...Array(11).fill(201)]);
    assert.ok(transactions < statuses.length, `${transactions} transactions of ${statuses.length} changes`);
    const replayed = await post('', keyed, key);
    assert.deepEqual([replayed.status, replayed.json], [201, result[5]?.json]);
    const { json } = await shops.request('GET', `/v2/cheeses/${changed.id}`, { as });
    assert.equal(json.status, 'sold');
    assert.deepEqual(
      (await eventsOf(shops, `cheese:${renamed.id}`)).map(({ type }) => type),
      ['cheese.created'],
    );
    assert.deepEqual(await checkCatalogue(shop.app.database), []);
  });

  test('Catalogue changes that share a transaction are all refused and undone where their connection is lost', async () => {
    const shops = instances();
    const [shop, other] = shops.all;
    const { database } = other.app;
    const names = Array.from({ length: 12 }, () => newName('Cut'));
    let sent: Promise<TestResponse[]> | undefined;
    await database.transaction(async (tx) => {
      await tx.get(sql`select version from catalogue for update`);
      sent = Promise.all(
        names.map((name) => shop.request('POST', '/v2/cheeses', { as: shops.writer, body: { name } })),
      );
      await until(async () => {
        const killed = await database.all(sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`);
        return killed.length > 0;
      });
    });
    const responses = (await sent) ?? [];
    const refused = responses.filter(({ status }) => status !== 201);
    assert.ok(refused.length > 0);
    for (const response of refused) {
      assertError(response, 503, 'unavailable');
    }
    for (const [index, name] of names.entries()) {
      const { json } = await shops.request('GET', `/v2/cheeses?q=${encodeURIComponent(name)}`, {
        as: shops.reader,
      });
      assert.equal(json.total, responses[index]?.status === 201 ? 1 : 0, name);
    }
  });

  test('Catalogue changes that share a transaction end in one order where a name is deleted and created', async () => {
    const shops = instances();
    const as = shops.writer;
    for (let round = 0; round < rounds; round += 1) {
      const name = newName('Twin');
      const id = await newCheese(shops, { name });
      const [deleted, created] = await Promise.all([
        deleteCheese(shops.next(), id, as),
        shops.request('POST', '/v2/cheeses', { as, body: { name } }),
      ]);
      assert.equal(deleted.status, 204, deleted.text);
      const { json } = await shops.request('GET', `/v2/cheeses?q=${encodeURIComponent(name)}`, { as });
      if (created.status === 201) {
        assert.deepEqual(json.items, [created.json]);
      } else {
        assertError(created, 409, 'conflict');
        assert.deepEqual(json.items, []);
      }
    }
  });

  test('Catalogue changes that share a transaction on three instances at once are never 503', async () => {
    const shops = instances();
    const as = shops.writer;
    const end = performance.now() + mixedSeconds * 1000;
    do {
      const ids = [await newCheese(shops), await newCheese(shops), await newCheese(shops)];
      const changes = await shops.atOnce(30, (shop, index) => {
        const id = ids[index % 3] ?? 0;
        const name = newName('Mixed');
        switch (index % 5) {
          case 0:
            return shop.request('PUT', '/v2/cheeses', { as, body: { id, name, status: 'available' } });
          case 1:
            return shop.request('POST', `/v2/cheeses/${id}`, { as, body: { status: 'pending' } });
          case 2:
            return index === 27 ? deleteCheese(shop, ids[0] ?? 0, as) : placeOrder(shop, id);
          default:
            return shop.request('POST', '/v2/cheeses', { as, body: { name } });
        }
      });
      const unexpected = changes.filter(({ status }) => ![200, 201, 204, 404, 422].includes(status));
      assert.deepEqual(
        unexpected.map(({ text }) => text),
        [],
      );
    } while (performance.now() < end);
    assert.deepEqual(await checkCatalogue(shops.all[0].app.database), []);
  });
});

suite('A tag that several instances use first at the same time', () => {
  test('A tag that several instances create at the same time has one id, and none where all changes are refused', async () => {
    const shops = instances();
    const as = shops.writer;
    const [{ database }] = shops.all.map((shop) => shop.app) as [App];
    const idsOf = async (name: string) =>
      (await database.all<{ id: number }>(sql`select id from term where name = ${name}`)).map(({ id }) => id);
    const [used, refused, taken] = [newName('used'), newName('refused'), newName('Taken')];
    const made = await shops.atOnce(6, (shop) =>
      shop.request('POST', '/v2/cheeses', { as, body: { name: newName(), tags: [{ name: used }] } }),
    );
    const ids = made.map(({ json }) => json.tags[0].id);
    assert.deepEqual(await idsOf(used), [...new Set(ids)]);
    await newCheese(shops, { name: taken });
    const body = { name: taken, tags: [{ name: refused }] };
    const conflicts = await shops.atOnce(6, (shop) => shop.request('POST', '/v2/cheeses', { as, body }));
    assert.equal(tally(conflicts), '6 x 409');
    assert.deepEqual(await idsOf(refused), []);
  });
});

suite('Images that are uploaded to several instances in parallel', () => {
  test('Images from parallel uploads to several instances are stored once if they are equal, and in order if they differ', async () => {
    const shops = instances();
    const id = await newCheese(shops);
    const as = shops.writer;
    for (let round = 1; round <= 4; round += 1) {
      const [same, other] = [await testImage(round), await testImage(100 + round)];
      const responses = await Promise.all(
        [same, same, other, same].map((bytes) => upload(shops.next(), id, bytes, as)),
      );
      assert.equal(tally(responses), '4 x 200');
      assert.equal(new Set(responses.map(({ json }) => json.imageUrl)).size, 2);
      const { json } = await shops.request('GET', `/v2/cheeses/${id}`, { as: shops.reader });
      assert.equal(json.photoUrls.length, 2 * round);
      assert.equal(new Set(json.photoUrls).size, 2 * round);
      const images = await shops.request('GET', `/v2/cheeses/${id}/images`, { as: shops.reader });
      assert.equal(images.json.items.length, 2 * round);
      for (const url of json.photoUrls) {
        for (const shop of shops.all) {
          assert.equal((await shown(shop, url)).status, 200, nameOf(url));
        }
      }
    }
  });

  test('Images from parallel uploads stay with one cheese while another cheese with the same image is deleted', async () => {
    const shops = instances();
    const [one, other] = shops.all;
    const as = shops.writer;
    for (let round = 1; round <= 6; round += 1) {
      const bytes = await testImage(200 + round);
      const [going, staying] = [await newCheese(shops), await newCheese(shops)];
      assert.equal((await upload(one, going, bytes, as)).status, 200);
      if (round > 3) {
        assert.equal((await upload(other, staying, bytes, as)).status, 200);
      }
      const [deleted, response] = await Promise.all([
        deleteCheese(round % 2 === 0 ? one : other, going, as),
        upload(round % 2 === 0 ? other : one, staying, bytes, as),
      ]);
      assert.deepEqual([deleted.status, response.status], [204, 200], response.text);
      if (round > 3) {
        const again = await newCheese(shops);
        await upload(one, again, bytes, as);
        assert.equal((await deleteCheese(other, again, as)).status, 204);
      }
      for (const shop of shops.all) {
        assert.equal((await shown(shop, response.json.imageUrl)).status, 200);
        assert.equal((await shown(shop, response.json.thumbnailUrl)).status, 200);
      }
    }
  });
});
