/** How image files are stored and deleted: rows in the database and files in the folder. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { sql } from '../../src/database/sql.ts';
import { onBothEngines, openShop, type Shop, testClock } from '../helper.ts';
import { deleteCheese, newCheese } from '../shop-verbs.ts';
import {
  assertShown,
  imagesFolder,
  imagesOf,
  nameOf,
  namesIn,
  shown,
  testImage,
  upload,
  uploaded,
} from './images.ts';

const minuteMs = 60_000;

/** Advances the clock by more than ten minutes and runs maintenance, which deletes unused files. */
async function deleteUnusedLater(shop: Shop, clock: ReturnType<typeof testClock>): Promise<void> {
  clock.advance(10 * minuteMs + 1);
  await shop.app.images.service.deleteUnused();
}

/** Stores an image without attaching it, like a server that is killed between the two. */
async function storeUnattached(shop: Shop, seed: number): Promise<string[]> {
  const path = join(shop.config.dataDir, `abandoned-${seed}`);
  writeFileSync(path, await testImage(seed));
  const { imageName, thumbnailName } = await shop.app.images.service.store(path, 'png');
  return [imageName, thumbnailName];
}

function attached(shop: Shop, cheeseId: number, imageName = '', thumbnailName = ''): Promise<unknown> {
  const {
    images: { service: images },
    contextOf,
  } = shop.app;
  const rest = { size: 1, caption: null, isPrimary: false };
  const urlOf = (name: string) => `http://127.0.0.1/images/${name}`;
  return images.attach(contextOf('test'), { cheeseId, imageName, thumbnailName, ...rest, urlOf });
}

/** Name and state of every file in the database. */
async function rowsIn(shop: Shop): Promise<string[]> {
  const rows = await shop.app.database.all<{ name: string; state: string }>(
    sql`select name, state from image_file order by name`,
  );
  return rows.map(({ name, state }) => `${name} ${state}`);
}

onBothEngines('Image files', (engine) => {
  test('Image files are stored once for two cheeses, and deleted after the last of them', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const folder = imagesFolder(shop);
    const [one, other] = [await newCheese(shop), await newCheese(shop)];
    const bytes = await testImage(1);
    const first = await uploaded(shop, one, bytes);
    const second = await uploaded(shop, other, bytes);
    assert.deepEqual(first, second);
    const urls = [first.imageUrl, first.thumbnailUrl];
    assert.deepEqual(namesIn(folder), urls.map(nameOf).toSorted());

    assert.equal((await deleteCheese(shop, one)).status, 204);
    await deleteUnusedLater(shop, clock);
    for (const url of urls) {
      await assertShown(shop, url);
    }
    assert.equal((await deleteCheese(shop, other)).status, 204);
    for (const url of urls) {
      assert.equal((await shown(shop, url)).status, 404, 'at once');
    }
    clock.advance(9 * minuteMs);
    await shop.app.images.service.deleteUnused();
    assert.equal(namesIn(folder).length, 2, 'not yet');
    await deleteUnusedLater(shop, clock);
    assert.deepEqual(namesIn(folder), []);
    assert.deepEqual(await rowsIn(shop), []);
  });

  test('Image files stay when they are uploaded again before maintenance deletes them', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const bytes = await testImage(2);
    const cheese = await newCheese(shop);
    const { imageUrl, thumbnailUrl } = await uploaded(shop, cheese, bytes);
    assert.equal((await deleteCheese(shop, cheese)).status, 204);
    clock.advance(9 * minuteMs);
    await uploaded(shop, await newCheese(shop), bytes);
    await deleteUnusedLater(shop, clock);
    await assertShown(shop, imageUrl);
    await assertShown(shop, thumbnailUrl);
  });

  test('Image files that are not attached return 404, and are deleted after ten minutes and not before', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const folder = imagesFolder(shop);
    const names = await storeUnattached(shop, 3);
    // Like a copy that was interrupted by SIGKILL.
    const [name = ''] = names;
    const unfinished = `${name}.${clock.uuid()}`;
    writeFileSync(join(folder, name.slice(0, 2), unfinished), 'half');
    for (const one of names) {
      assert.equal((await shown(shop, one)).status, 404);
    }
    clock.advance(9 * minuteMs);
    await shop.app.images.service.deleteUnused();
    assert.deepEqual(namesIn(folder), [...names, unfinished].toSorted());
    await deleteUnusedLater(shop, clock);
    assert.deepEqual(namesIn(folder), []);
    assert.deepEqual(await rowsIn(shop), []);
  });

  test('Image files are deleted ten minutes after the last upload that stored them', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const names = await storeUnattached(shop, 11);
    clock.advance(9 * minuteMs);
    await storeUnattached(shop, 11);
    clock.advance(9 * minuteMs);
    await shop.app.images.service.deleteUnused();
    assert.deepEqual(
      namesIn(imagesFolder(shop)),
      names.toSorted(),
      'the upload that added them may still run',
    );
    clock.advance(minuteMs + 1);
    await shop.app.images.service.deleteUnused();
    assert.deepEqual(namesIn(imagesFolder(shop)), []);
  });

  test('Image files that a killed server was deleting are deleted by the next one, and can be uploaded again', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const names = await storeUnattached(shop, 4);
    const {
      database,
      images: { service: images },
    } = shop.app;
    const now = new Date(clock.now()).toISOString();
    await database.run(sql`update image_file set state = 'deleting', since = ${now}`);
    rmSync(imagesFolder(shop), { recursive: true });
    const cheese = await newCheese(shop);
    const refused = await upload(shop, cheese, await testImage(4));
    assert.equal(refused.status, 503, 'while it is being deleted');
    await assert.rejects(() => attached(shop, cheese, ...names), /being deleted/);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.deepEqual(await imagesOf(shop, cheese), []);
    assert.deepEqual(namesIn(imagesFolder(shop)), [], 'bytes that no row will know of');
    await deleteUnusedLater(shop, clock);
    assert.deepEqual(await rowsIn(shop), []);
    const { imageUrl } = await uploaded(shop, cheese, await testImage(4));
    assert.ok(names.includes(nameOf(imageUrl)));
    await images.deleteUnused();
    await assertShown(shop, imageUrl);
  });

  test('Image files can be uploaded again after a failed deletion', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const [name = ''] = await storeUnattached(shop, 5);
    // A folder in place of the file makes the deletion fail, like an unreachable bucket.
    const folder = join(imagesFolder(shop), name.slice(0, 2));
    mkdirSync(join(folder, `${name}.stuck`));
    clock.advance(10 * minuteMs + 1);
    await assert.rejects(() => shop.app.images.service.deleteUnused());
    const response = await upload(shop, await newCheese(shop), await testImage(5));
    assert.equal(
      response.status,
      200,
      `a failed deletion blocks the upload for ten minutes: ${response.text}`,
    );
  });

  test('Image files are deleted together with incomplete copies', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const cheese = await newCheese(shop);
    const { imageUrl, thumbnailUrl } = await uploaded(shop, cheese, await testImage(10));
    const name = nameOf(imageUrl);
    // The same image was uploaded again, and the server was killed.
    writeFileSync(join(imagesFolder(shop), name.slice(0, 2), `${name}.${clock.uuid()}`), 'half');
    assert.equal((await deleteCheese(shop, cheese)).status, 204);
    await uploaded(shop, await newCheese(shop), await testImage(10));
    await deleteUnusedLater(shop, clock);
    await assertShown(shop, imageUrl);
    await assertShown(shop, thumbnailUrl);
  });

  test('Image files can be their own thumbnails', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const cheese = await newCheese(shop);
    const { thumbnailUrl } = await uploaded(shop, cheese, await testImage(6, 400, 'webp'));
    const { bytes } = await shown(shop, thumbnailUrl);
    const again = await uploaded(shop, cheese, bytes);
    await uploaded(shop, cheese, (await shown(shop, again.imageUrl)).bytes);
    const plain = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'white' } })
      .webp()
      .toBuffer();
    for (const one of [plain, plain]) {
      await uploaded(shop, cheese, one);
    }
    for (const { imageUrl, thumbnailUrl } of await imagesOf(shop, cheese)) {
      await assertShown(shop, imageUrl);
      await assertShown(shop, thumbnailUrl);
    }
    assert.equal((await deleteCheese(shop, cheese)).status, 204);
    await deleteUnusedLater(shop, clock);
    assert.deepEqual(namesIn(imagesFolder(shop)), []);
  });

  test('Image files are at most 100 for each cheese, and one more leaves nothing behind', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const { database } = shop.app;
    const cheeseId = await newCheese(shop);
    const [thumbnailName = ''] = await storeUnattached(shop, 7);
    const names = Array.from({ length: 101 }, (_, index) => `${String(index).padStart(64, '0')}.png`);
    const since = new Date(clock.now()).toISOString();
    await database.insert(
      'image_file',
      ['name', 'media_type', 'bytes', 'state', 'since'],
      names.map((name) => [name, 'image/png', 1, 'pending', since]),
    );
    const attach = (imageName: string) => attached(shop, cheeseId, imageName, thumbnailName);
    for (const name of names.slice(0, 100)) {
      await attach(name);
    }
    await attach(names[50] ?? '');
    await assert.rejects(() => attach(names[100] ?? ''), /already has 100 photoUrls/);
    assert.equal((await imagesOf(shop, cheeseId)).length, 100);

    // photoUrls have room again, but there are still 100 images.
    const body = { id: cheeseId, name: 'Cheese without photos', photoUrls: [], status: 'available' };
    const cleared = await shop.request('PUT', '/v2/cheeses', { as: shop.writer, body });
    assert.equal(cleared.status, 200, cleared.text);
    const { status, text } = await upload(shop, cheeseId, await testImage(8));
    assert.equal(status, 422, text);
    assert.equal((await imagesOf(shop, cheeseId)).length, 100);
    await deleteUnusedLater(shop, clock);
    assert.deepEqual(namesIn(imagesFolder(shop)), [thumbnailName]);
  });

  test('Image files are in folders named after their first two characters, and only their owner can read them', async (t) => {
    const shop = await openShop(t, { engine });
    const { imageUrl, thumbnailUrl } = await uploaded(shop, await newCheese(shop), await testImage(9));
    for (const name of [imageUrl, thumbnailUrl].map(nameOf)) {
      const { mode } = statSync(join(imagesFolder(shop), name.slice(0, 2), name));
      assert.equal(mode & 0o177, 0, `${name} has the mode ${mode.toString(8)}`);
    }
    assert.equal(namesIn(imagesFolder(shop)).length, 2);
    assert.deepEqual(namesIn(shop.config.incomingDir), []);
  });

  test('Image files all exist after parallel uploads, deletions and maintenance by two instances', async (t) => {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const shops = [shop, await shop.another()];
    const images = await Promise.all(Array.from({ length: 6 }, (_, index) => testImage(21 + index)));
    const living = new Set<number>();
    const wrong: string[] = [];
    let isOver = false;

    async function work(own: Shop, index: number): Promise<void> {
      for (let round = 0; round < 6; round += 1) {
        const cheese = await newCheese(own);
        const response = await upload(own, cheese, images[(index + round) % 6] as Buffer);
        // 503 while the same file is being deleted.
        if (response.status !== 200 && response.status !== 503) {
          wrong.push(response.text);
        }
        if (round % 3 === 2) {
          living.add(cheese);
        } else {
          assert.equal((await deleteCheese(own, cheese)).status, 204);
        }
      }
    }

    async function deleteUnusedOften(own: Shop): Promise<void> {
      while (!isOver) {
        // The clock runs fast, but each upload still takes less than ten minutes.
        clock.advance(minuteMs / 3);
        await own.app.images.service.deleteUnused();
        await sleep(10);
      }
    }

    const deleting = shops.map(deleteUnusedOften);
    await Promise.all(Array.from({ length: 12 }, (_, index) => work(shops[index % 2] as Shop, index)));
    isOver = true;
    await Promise.all(deleting);
    assert.deepEqual(wrong, []);

    const listed = new Set<string>();
    for (const cheese of living) {
      for (const { imageUrl, thumbnailUrl } of await imagesOf(shop, cheese)) {
        listed.add(nameOf(imageUrl)).add(nameOf(thumbnailUrl));
      }
    }
    for (const own of shops) {
      for (const name of listed) {
        await assertShown(own, name);
      }
    }
    await deleteUnusedLater(shop, clock);
    assert.deepEqual(namesIn(imagesFolder(shop)), [...listed].toSorted());
    assert.deepEqual(
      await rowsIn(shop),
      [...listed].toSorted().map((name) => `${name} stored`),
    );
  });
});
