/**
 * A shop of version 0.1 after an upgrade. `fixtures/shop-0.1.tar.gz` is a backup that 0.1 made;
 * `fixtures/shop-0.1.json` lists values that it returned: keys, tokens, cursors, ETags and stored responses.
 * The newer version must accept every one of them.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createRandom, randomCheeses, randomQuery, sorts } from '../api/navigation-model.ts';
import { assertFacets, assertListed, fill, pages } from '../api/navigation-requests.ts';
import { curd, curdJson } from '../cli/run.ts';
import { createDatabase, engines, secret, shared, temporaryFolder, testClock } from '../context.ts';
import { testImage } from '../files/images.ts';
import { openListeningShop } from '../helper.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const old = JSON.parse(fixture('shop-0.1.json').toString('utf8'));
/** Stored in parts, because scanners for secrets would report the whole values. */
const key = old.key.join('_');
const adminKey = old.adminKey.join('_');
const session = old.session.join('.');
const minuteMs = 60_000;

for (const engine of engines) {
  suite(`A shop of version 0.1 (${engine})`, () => {
    const opened = shared(async (t) => {
      const folder = await temporaryFolder(t);
      const backup = join(folder, 'shop-0.1.tar');
      await writeFile(backup, gunzipSync(fixture('shop-0.1.tar.gz')));
      const environment = { CURD_DATA_DIR: folder, CURD_SECRET: secret };
      await curdJson(environment, 'restore', backup);
      const settings: Record<string, string> = { CURD_DATA_DIR: folder };
      if (engine === 'postgres') {
        const url = await createDatabase(t);
        await curdJson(environment, 'copy', '--to', url);
        settings.CURD_DATABASE = url;
      }
      const clock = testClock(Date.parse(old.madeAt) + minuteMs);
      const shop = await openListeningShop(t, { clock, settings });
      return { shop, environment: { ...environment, ...settings } };
    });

    test('accepts its API keys and knows their scopes', async () => {
      const { shop } = opened();
      assert.equal((await shop.request('GET', '/v2/cheeses', { as: key })).status, 200);
      assert.equal((await shop.request('GET', '/v2/api-keys', { as: key })).status, 403);
      assert.equal((await shop.request('GET', '/v2/api-keys', { as: adminKey })).status, 200);
    });

    test('accepts its sessions, passwords and OAuth tokens', async () => {
      const { shop } = opened();
      const read = (token: string) =>
        shop.request('GET', `/v2/customer/${old.username}`, {
          headers: { authorization: `Bearer ${token}` },
        });
      assert.equal((await read(session)).json.username, old.username);
      assert.equal((await read(old.accessToken)).json.username, old.username);
      const login = await shop.request('POST', '/v2/customer/login', {
        body: { username: old.username, password: old.password },
      });
      assert.equal(login.status, 200);
    });

    test('returns its cheeses and orders with the same bodies and ETags', async () => {
      const { shop } = opened();
      const [, second] = old.cheeses;
      const cheese = await shop.request('GET', `/v2/cheeses/${second.id}`, { as: key });
      assert.deepEqual(cheese.json, second);
      assert.equal(cheese.headers.etag, old.etags.cheese);
      const order = await shop.request('GET', `/v2/store/order/${old.placed.response.id}`, { as: key });
      assert.deepEqual(order.json, old.placed.response);
      assert.equal(order.headers.etag, old.etags.order);
    });

    test('continues its cursors', async () => {
      const { shop } = opened();
      const namesAt = async (cursor: string) => {
        const page = await shop.request('GET', `/v2/cheeses?limit=2&cursor=${encodeURIComponent(cursor)}`, {
          as: key,
        });
        assert.equal(page.status, 200, page.text);
        return page.json.items.map(({ name }: { name: string }) => name);
      };
      assert.deepEqual(await namesAt(old.cursors.cheeses), ['Comté', 'Feta']);
      assert.equal((await namesAt(old.cursors.filtered)).length, 2);
      const cursor = encodeURIComponent(old.cursors.orders);
      const orders = await shop.request('GET', `/v2/store/orders?limit=1&cursor=${cursor}`, { as: key });
      assert.equal(orders.status, 200, orders.text);
      assert.equal(orders.json.items.length, 1);
    });

    test('filters, sorts and counts its cheeses, and new ones beside them', async () => {
      const { shop } = opened();
      const old = await pages(shop, { limit: '100' });
      const random = createRandom(29);
      await fill(shop, randomCheeses(random, 40));
      const cheeses = await pages(shop, { limit: '100' });
      assert.equal(cheeses.length, old.length + 40);
      const named = await pages(shop, { q: 'GRUYERE' });
      assert.ok(named.some(({ id }) => old.some((one) => one.id === id)));
      for (const sort of sorts) {
        await assertListed(shop, cheeses, {}, sort, '20');
        await assertListed(shop, cheeses, randomQuery(random, 6), sort, '7');
      }
      await assertFacets(shop, {});
      await assertFacets(shop, randomQuery(random, 6));
    });

    test('replays its stored responses, those of JSON requests and of uploads', async () => {
      const { shop } = opened();
      const placed = await shop.request('POST', '/v2/store/order', {
        as: key,
        headers: { 'idempotency-key': old.placed.key },
        body: old.placed.request,
      });
      assert.deepEqual([placed.status, placed.headers['idempotency-replayed']], [201, 'true']);
      assert.deepEqual(placed.json, old.placed.response);
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(await testImage(3))], { type: 'image/png' }), 'x.png');
      form.append('caption', 'a wheel');
      const [first] = old.cheeses;
      const upload = await fetch(`${shop.url}/v2/cheeses/${first.id}/uploadImage`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'idempotency-key': 'fixture-upload' },
        body: form,
      });
      assert.deepEqual([upload.status, upload.headers.get('idempotency-replayed')], [200, 'true']);
      assert.deepEqual(await upload.json(), old.image);
    });

    test('serves its images under their names', async () => {
      const { shop } = opened();
      for (const stored of [old.image.imageUrl, old.image.thumbnailUrl]) {
        const shown = await fetch(`${shop.url}${new URL(stored).pathname}`);
        assert.equal(shown.status, 200);
        await shown.arrayBuffer();
      }
    });

    test('approves the order that was due, and doctor reports no findings', async () => {
      const { shop, environment } = opened();
      await shop.app.worker.run();
      const order = await shop.request('GET', `/v2/store/order/${old.placed.response.id}`, { as: key });
      assert.equal(order.json.status, 'approved');
      const shipped = await shop.request('POST', `/v2/store/order/${old.shippedOrderId}/deliver`, {
        as: adminKey,
      });
      assert.equal(shipped.json.status, 'delivered');
      const doctor = await curd(environment, 'doctor');
      assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
    });
  });
}
