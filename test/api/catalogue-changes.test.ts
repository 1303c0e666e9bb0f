/** The list of catalogue changes: a mirror that follows it equals the catalogue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { beginForeignEpoch } from '../../src/event-log/numbering.ts';
import { onBothEngines, shared, testClock } from '../context.ts';
import { assertError, openShop, type Shop } from '../helper.ts';

const dayMs = 24 * 60 * 60_000;

interface Changed {
  readonly id: number;
  readonly deleted: boolean;
  readonly changedAt: string;
  readonly cheese?: { readonly id: number; readonly name: string };
}

interface Page {
  readonly items: readonly Changed[];
  readonly next: string;
  readonly hasMore: boolean;
}

const confirm = { 'x-confirm-delete': 'true' };

async function create(shop: Shop, name: string): Promise<number> {
  const response = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name } });
  assert.equal(response.status, 201, response.text);
  return response.json.id;
}

async function remove(shop: Shop, id: number): Promise<void> {
  const response = await shop.request('DELETE', `/v2/cheeses/${id}`, { as: shop.writer, headers: confirm });
  assert.equal(response.status, 204, response.text);
}

async function readPage(shop: Shop, since: string | null, limit = 100): Promise<Page> {
  const from = since === null ? '' : `&since=${since}`;
  const response = await shop.request('GET', `/v2/cheeses/changes?limit=${limit}${from}`, {
    as: shop.reader,
  });
  assert.equal(response.status, 200, response.text);
  return response.json;
}

/** Applies the pages after a token to a copy of the catalogue, and returns the new token. */
async function follow(shop: Shop, mirror: Map<number, unknown>, since: string | null, pages = 1000) {
  let token = since;
  for (let page = 0; page < pages; page += 1) {
    const { items, next, hasMore } = await readPage(shop, token, 7);
    for (const { id, deleted, cheese } of items) {
      if (deleted) {
        mirror.delete(id);
      } else {
        mirror.set(id, cheese);
      }
    }
    token = next;
    if (!hasMore) {
      break;
    }
  }
  return token;
}

/** The catalogue by id, from the list of cheeses. */
async function catalogueOf(shop: Shop): Promise<Map<number, unknown>> {
  const catalogue = new Map<number, unknown>();
  for (let cursor = ''; ; ) {
    const { json } = await shop.request('GET', `/v2/cheeses?limit=100${cursor}`, { as: shop.reader });
    for (const cheese of json.items) {
      catalogue.set(cheese.id, cheese);
    }
    if (!json.hasMore) {
      return catalogue;
    }
    cursor = `&cursor=${json.nextCursor}`;
  }
}

const sorted = (map: Map<number, unknown>) => [...map].toSorted(([a], [b]) => a - b);

onBothEngines('GET /v2/cheeses/changes', (engine) => {
  const opened = shared((t) => openShop(t, { engine }));

  test('GET /v2/cheeses/changes lists each cheese once by its last change, and a tombstone after a deletion', async () => {
    const shop = opened();
    const { next: start } = await readPage(shop, await follow(shop, new Map(), null));
    const [brie, feta] = [await create(shop, 'Brie'), await create(shop, 'Feta')];
    await shop.request('POST', `/v2/cheeses/${brie}?status=pending`, { as: shop.writer });
    const changes = await readPage(shop, start);
    assert.deepEqual(
      changes.items.map(({ id, cheese }) => [id, cheese?.name]),
      [
        [feta, 'Feta'],
        [brie, 'Brie'],
      ],
    );
    const current = await shop.request('GET', `/v2/cheeses/${brie}`, { as: shop.reader });
    assert.deepEqual(changes.items[1], {
      id: brie,
      deleted: false,
      changedAt: current.json.updatedAt,
      cheese: current.json,
    });
    await remove(shop, feta);
    const after = await readPage(shop, changes.next);
    const [tombstone] = after.items;
    assert.deepEqual(after.items, [{ id: feta, deleted: true, changedAt: tombstone?.changedAt }]);
    assert.deepEqual(await readPage(shop, after.next), { items: [], next: after.next, hasMore: false });
    // A reader that begins now has seen no deleted cheese, and needs no tombstone.
    const copy = await readPage(shop, null);
    assert.ok(!copy.items.some(({ id }) => id === feta));
  });

  test('GET /v2/cheeses/changes gives a mirror that equals the catalogue, also when it stops in the middle', async () => {
    const shop = opened();
    const mirror = new Map<number, unknown>();
    const ids: number[] = [];
    const random = (below: number) => Math.floor(Math.random() * below);
    let token: string | null = null;
    for (let step = 0; step < 120; step += 1) {
      const id = ids[random(ids.length)];
      const action = random(10);
      if (id === undefined || action < 5) {
        ids.push(await create(shop, `Mirrored ${step}`));
      } else if (action < 8) {
        await shop.request('POST', `/v2/cheeses/${id}`, {
          as: shop.writer,
          body: { name: `Mirrored again ${step}` },
        });
      } else {
        ids.splice(ids.indexOf(id), 1);
        await remove(shop, id);
      }
      if (action === 0) {
        token = await follow(shop, mirror, token, 1 + random(3));
      }
    }
    await follow(shop, mirror, token);
    assert.deepEqual(sorted(mirror), sorted(await catalogueOf(shop)));
  });

  test('GET /v2/cheeses/changes misses no change while others write', async () => {
    const shop = opened();
    const mirror = new Map<number, unknown>();
    let isWriting = true;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let turn = 0; turn < 8; turn += 1) {
        const id = await create(shop, `Parallel ${writer} ${turn}`);
        if (turn % 3 === 0) {
          await remove(shop, id);
        }
      }
    });
    const reading = (async () => {
      let token: string | null = null;
      while (isWriting) {
        token = await follow(shop, mirror, token);
        await setImmediate();
      }
      return token;
    })();
    await Promise.all(writers);
    isWriting = false;
    await follow(shop, mirror, await reading);
    assert.deepEqual(sorted(mirror), sorted(await catalogueOf(shop)));
  });

  test('GET /v2/cheeses/changes returns 304 while the catalogue is unchanged, and waits for a change', async () => {
    const shop = opened();
    const token = await follow(shop, new Map(), null);
    const url = `/v2/cheeses/changes?since=${token}`;
    const first = await shop.request('GET', url, { as: shop.reader });
    const tagged = { as: shop.reader, headers: { 'if-none-match': first.headers.etag ?? '' } };
    assert.equal((await shop.request('GET', url, tagged)).status, 304);
    assert.equal((await shop.request('GET', `${url}&wait=1`, tagged)).status, 304);
    assert.deepEqual((await shop.request('GET', `${url}&wait=1`, { as: shop.reader })).json.items, []);

    for (const [since, options] of [
      [token, tagged],
      [null, { as: shop.reader }],
    ] as const) {
      const from = since ?? (await follow(shop, new Map(), null));
      const waiting = shop.request('GET', `/v2/cheeses/changes?since=${from}&wait=20`, options);
      const id = await create(shop, `Waited for ${Math.random()}`);
      const { status, json } = await waiting;
      assert.deepEqual([status, json.items[0].id], [200, id]);
    }
  });

  test('GET /v2/cheeses/changes refuses tokens that it did not give, those of another list, and bad limits', async () => {
    const shop = opened();
    const { json } = await shop.request('GET', '/v2/cheeses?limit=1', { as: shop.reader });
    for (const query of [
      'since=abc',
      'since=',
      `since=${json.nextCursor}`,
      `since=${'a'.repeat(401)}`,
      'limit=0',
      'limit=101',
      'wait=31',
    ]) {
      const response = await shop.request('GET', `/v2/cheeses/changes?${query}`, { as: shop.reader });
      assertError(response, 400, 'bad_request');
    }
    const { headers } = await shop.request('GET', '/v2/cheeses/changes', { as: shop.reader });
    const tagged = { as: shop.reader, headers: { 'if-none-match': headers.etag ?? '' } };
    const forged = await shop.request('GET', '/v2/cheeses/changes?since=abc', tagged);
    assertError(forged, 400, 'bad_request');
    assertError(await shop.request('GET', '/v2/cheeses/changes'), 401, 'unauthorized');
    assertError(await shop.request('GET', '/v2/cheeses/abc', { as: shop.reader }), 404, 'not_found');
  });
});

onBothEngines('Tombstones', (engine) => {
  test('Tombstones of cheeses are kept for CURD_TOMBSTONE_RETENTION; a token from before the removal returns 410', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock, settings: { CURD_TOMBSTONE_RETENTION: '7d' } });
    const [brie, feta] = [await create(shop, 'Brie'), await create(shop, 'Feta')];
    const { next } = await readPage(shop, null);
    await remove(shop, brie);
    const { next: later } = await readPage(shop, next);
    await shop.app.maintenance.run();
    assert.equal((await readPage(shop, next)).items.length, 1);
    clock.advance(8 * dayMs);
    await remove(shop, feta);
    await shop.app.maintenance.run();
    const old = await shop.request('GET', `/v2/cheeses/changes?since=${next}`, { as: shop.reader });
    assertError(old, 410, 'events_expired');
    assert.deepEqual(
      (await readPage(shop, later)).items.map(({ id, deleted }) => [id, deleted]),
      [[feta, true]],
    );
    // A first copy that began after the removal is not refused in its middle.
    for (const name of ['Gouda', 'Comté', 'Tilsiter']) {
      await create(shop, name);
    }
    const copy = await readPage(shop, null, 1);
    assert.equal((await readPage(shop, copy.next, 1)).items.length, 1);
  });
});

test('After an epoch has begun, a token returns 410 also where the version of the catalogue is the same', async (t) => {
  const shop = await openShop(t);
  await create(shop, 'Brie');
  const url = `/v2/cheeses/changes?since=${await follow(shop, new Map(), null)}`;
  const { headers } = await shop.request('GET', url, { as: shop.reader });
  const tagged = { as: shop.reader, headers: { 'if-none-match': headers.etag ?? '' } };
  assert.equal((await shop.request('GET', url, tagged)).status, 304);
  // As a restored backup does.
  await shop.app.database.transaction((tx) => beginForeignEpoch(tx, shop.clock, 'restored'));
  assertError(await shop.request('GET', url, tagged), 410, 'log_rewound');
});
