/** Several instances change the same cheese at the same time: the changes are serialized. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { nameOf, shown, testImage, upload } from '../files/images.ts';
import { assertError, shared } from '../helper.ts';
import {
  assertOneWon,
  deleteCheese,
  eventsOf,
  newCheese,
  newName,
  openInstances,
  place,
  tally,
} from './instances.ts';

const rounds = 6;

// Each test uses new names, so that most tests can share the instances.
const instances = shared((t) => openInstances(t, 3, { settings: { CURD_APPROVAL_DELAY: '1h' } }));

suite('The catalogue on several instances', () => {
  test('has a name once in a category, written by any instance', async () => {
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
          body: { id: others[index]?.id, name: `New ${json.name}`, status: 'pending', category },
        }),
      );
      assertOneWon(renamed, 200, 409, 'conflict');
    }
    const { json } = await shops.call('GET', '/v2/cheeses?category=Soft', { as: shops.reader });
    assert.equal(json.total, 2 * rounds);
  });

  test('accepts one of several changes with the same ETag, and refuses the others', async () => {
    const shops = instances();
    const as = shops.writer;
    for (let round = 0; round < rounds; round += 1) {
      const { id, etag } = await newCheese(shops);
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
      const now = await shops.call('GET', `/v2/cheeses/${id}`, { as: shops.reader });
      assert.deepEqual([now.json, now.headers.etag], [json, headers.etag]);
    }
  });

  test('loses no change when different members are patched', async () => {
    const shops = instances();
    const as = shops.writer;
    for (let round = 0; round < rounds; round += 1) {
      const { id } = await newCheese(shops);
      const name = newName('Renamed');
      const responses = await shops.atOnce(2, (shop, index) =>
        shop.request('POST', `/v2/cheeses/${id}`, {
          as,
          body: index === 0 ? { name } : { status: 'pending' },
        }),
      );
      assert.equal(tally(responses), '2 x 200');
      const { json } = await shops.call('GET', `/v2/cheeses/${id}`, { as: shops.reader });
      assert.deepEqual([json.name, json.status], [name, 'pending']);
    }
  });

  test('has exact totals while all instances write to it', async (t) => {
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
    const gone = await shops.atOnce(20, (shop, index) => deleteCheese(shop, as, ids[index] ?? 0));
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

  test('has no open order with a deleted cheese', async (t) => {
    const shops = instances();
    const as = await shops.next().createKey({ scopes: ['write:cheeses', 'write:orders'] });
    let ordered = 0;
    for (let round = 0; round < 2 * rounds; round += 1) {
      const { id } = await newCheese(shops);
      const responses = await shops.atOnce(4, (shop, index) =>
        index === round % 4 ? deleteCheese(shop, as, id) : place(shop, as, id),
      );
      const [deleted] = responses.splice(round % 4, 1);
      assert.equal(deleted?.status, 204, deleted?.text ?? '');
      for (const response of responses) {
        if (response.status !== 201) {
          assertError(response, 422, 'validation_error');
          continue;
        }
        ordered += 1;
        const order = await shops.call('GET', `/v2/store/order/${response.json.id}`, { as });
        assert.equal(order.json.status, 'cancelled', `order ${response.json.id} waits for what is gone`);
      }
    }
    t.diagnostic(`${ordered} of ${6 * rounds} orders came first`);
  });

  test('either deletes a cheese or accepts an order of it, when both happen at the same time', async () => {
    const shops = instances();
    for (let round = 0; round < rounds; round += 1) {
      const { id } = await newCheese(shops);
      const order = (await place(shops.next(), shops.admin, id)).json.id;
      const approve = `/v2/store/order/${order}/approve`;
      const [approved, deleted] = await Promise.all([
        shops.call('POST', approve, { as: shops.admin }),
        deleteCheese(shops.next(), shops.writer, id),
      ]);
      if (approved.status === 200) {
        assertError(deleted, 409, 'conflict');
      } else {
        assertError(approved, 409, 'conflict');
        assert.equal(deleted.status, 204, deleted.text);
      }
      const { json } = await shops.call('GET', `/v2/store/order/${order}`, { as: shops.reader });
      assert.equal(json.status, approved.status === 200 ? 'approved' : 'cancelled');
    }
  });

  test('accepts no order of a cheese that is sold', async () => {
    const shops = instances();
    const as = shops.admin;
    for (let round = 0; round < 2 * rounds; round += 1) {
      const { id } = await newCheese(shops);
      const waiting = (await place(shops.next(), as, id)).json.id;
      const approve = `/v2/store/order/${waiting}/approve`;
      const [sold, first, second, approved] = await Promise.all([
        shops.call('POST', `/v2/cheeses/${id}`, { as: shops.writer, body: { status: 'sold' } }),
        place(shops.next(), as, id),
        place(shops.next(), as, id),
        shops.call('POST', approve, { as }),
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

suite('Images that are uploaded to several instances in parallel', () => {
  test('are stored once if they are equal, and in order if they differ', async () => {
    const shops = instances();
    const { id } = await newCheese(shops);
    const as = shops.writer;
    for (let round = 1; round <= 4; round += 1) {
      const [same, other] = [await testImage(round), await testImage(100 + round)];
      const responses = await Promise.all(
        [same, same, other, same].map((bytes) => upload(shops.next(), id, bytes, as)),
      );
      assert.equal(tally(responses), '4 x 200');
      assert.equal(new Set(responses.map(({ json }) => json.imageUrl)).size, 2);
      const { json } = await shops.call('GET', `/v2/cheeses/${id}`, { as: shops.reader });
      assert.equal(json.photoUrls.length, 2 * round);
      assert.equal(new Set(json.photoUrls).size, 2 * round);
      const images = await shops.call('GET', `/v2/cheeses/${id}/images`, { as: shops.reader });
      assert.equal(images.json.items.length, 2 * round);
      for (const url of json.photoUrls) {
        for (const shop of shops.all) {
          assert.equal((await shown(shop, url)).status, 200, nameOf(url));
        }
      }
    }
  });

  test('stay with one cheese while another cheese with the same image is deleted', async () => {
    const shops = instances();
    const [one, other] = shops.all;
    const as = shops.writer;
    for (let round = 1; round <= 6; round += 1) {
      const bytes = await testImage(200 + round);
      const [going, staying] = [await newCheese(shops), await newCheese(shops)];
      assert.equal((await upload(one, going.id, bytes, as)).status, 200);
      if (round > 3) {
        assert.equal((await upload(other, staying.id, bytes, as)).status, 200);
      }
      const [deleted, response] = await Promise.all([
        deleteCheese(round % 2 === 0 ? one : other, as, going.id),
        upload(round % 2 === 0 ? other : one, staying.id, bytes, as),
      ]);
      assert.deepEqual([deleted.status, response.status], [204, 200], response.text);
      if (round > 3) {
        const again = await newCheese(shops);
        await upload(one, again.id, bytes, as);
        assert.equal((await deleteCheese(other, as, again.id)).status, 204);
      }
      for (const shop of shops.all) {
        assert.equal((await shown(shop, response.json.imageUrl)).status, 200);
        assert.equal((await shown(shop, response.json.thumbnailUrl)).status, 200);
      }
    }
  });
});
