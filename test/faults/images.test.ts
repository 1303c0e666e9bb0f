/**
 * Images and faults of the machine: killed servers and workers, and missing folders. CURD_TEST_KILLS is the number of
 * kills, as in kill.test.ts.
 */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeShop } from '../../src/app/compose.ts';
import { sql } from '../../src/database/sql.ts';
import { createUploads } from '../../src/http/bodies/uploads.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { createStock, type Environment, freshShop, type RunningServer, serve } from '../cli/run.ts';
import * as photos from '../files/images.ts';
import { assertWhole, type ImageUrls, nameOf, namesIn, noise, testImage } from '../files/images.ts';
import { assertError, openShop, temporaryFolder, testClock } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { pick } from './load.ts';

const kills = Number(process.env.CURD_TEST_KILLS ?? 2);
const isLinux = process.platform === 'linux';
const linuxOnly = { skip: isLinux ? false : 'processes and open files are found in /proc, which Linux has' };

/** A data folder with this many cheeses, and a key with the scope to upload. */
async function shopWith(t: TestContext, count: number) {
  const environment = await freshShop(t, { CURD_LOG_LEVEL: 'warn' });
  const prices = Array.from({ length: count }, () => undefined);
  const { key, cheeses } = await createStock(environment, {
    prices,
    scopes: ['write:cheeses', 'read:cheeses'],
  });
  return { environment, key, ids: cheeses };
}

function send(server: RunningServer, key: string, cheeseId: number, bytes: Uint8Array): Promise<Response> {
  const body = new FormData();
  body.append('file', new Blob([Buffer.from(bytes)]), 'a.png');
  const url = `${server.url}/v2/cheeses/${cheeseId}/uploadImage`;
  return fetch(url, { method: 'POST', headers: { 'X-API-Key': key }, body });
}

async function imagesOf(server: RunningServer, key: string, cheeseId: number): Promise<ImageUrls[]> {
  const url = `${server.url}/v2/cheeses/${cheeseId}/images`;
  const response = await fetch(url, { headers: { 'X-API-Key': key } });
  assert.equal(response.status, 200);
  return ((await response.json()) as { items: ImageUrls[] }).items;
}

async function assertServed(server: RunningServer, { imageUrl, thumbnailUrl }: ImageUrls): Promise<void> {
  for (const url of [imageUrl, thumbnailUrl]) {
    const response = await fetch(`${server.url}/images/${nameOf(url)}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    assert.equal(response.status, 200, url);
    assertWhole(url, bytes);
  }
}

/** The image workers of a server, found by the data folder in which they run. */
function imageWorkersOf({ CURD_DATA_DIR = '' }: Environment): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isOurs = readlinkSync(`/proc/${pid}/cwd`) === CURD_DATA_DIR;
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
        return isOurs && command.includes('image-child') ? [Number(pid)] : [];
      } catch {
        return [];
      }
    });
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!isSo()) {
    assert.ok(performance.now() < deadline, what);
    await sleep(10);
  }
}

suite('Images of a killed server', () => {
  test('Images of a killed server exist when their upload returned 200, and files that were not attached are deleted', async (t) => {
    const { environment, key, ids } = await shopWith(t, 8);
    const config = loadConfig(environment);
    const bytes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index < 9 ? testImage(index) : noise(200))),
    );
    const answered: { cheeseId: number; imageUrl: string }[] = [];
    let cut = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const server = await serve(t, environment);
      const before = answered.length;
      const work = async (): Promise<void> => {
        for (;;) {
          const cheeseId = ids[pick(ids.length)] ?? 0;
          const response = await send(server, key, cheeseId, bytes[pick(bytes.length)] as Buffer);
          const text = await response.text();
          assert.equal(response.status, 200, text);
          answered.push({ cheeseId, imageUrl: JSON.parse(text).imageUrl });
        }
      };
      const working = Array.from({ length: 6 }, () =>
        work().catch((error: unknown) => {
          // fetch throws this when the connection breaks.
          assert.ok(error instanceof TypeError, String(error));
          cut += 1;
        }),
      );
      await until(() => answered.length > before, 'no upload was answered');
      await sleep(pick(500));
      const { stderr } = await server.stop('SIGKILL');
      assert.equal(stderr, '');
      await Promise.all(working);
      if (isLinux) {
        await until(() => imageWorkersOf(environment).length === 0, 'helpers outlive their server');
      }
    }

    const server = await serve(t, environment);
    const referenced = new Set<string>();
    for (const id of ids) {
      const images = await imagesOf(server, key, id);
      for (const image of images) {
        await assertServed(server, image);
        referenced.add(nameOf(image.imageUrl)).add(nameOf(image.thumbnailUrl));
      }
      const listed = images.map(({ imageUrl }) => nameOf(imageUrl));
      const lost = answered.filter(
        ({ cheeseId, imageUrl }) => cheeseId === id && !listed.includes(nameOf(imageUrl)),
      );
      assert.deepEqual(lost, [], 'answered, and not listed');
    }
    await server.stop('SIGKILL');
    const services = await composeShop(config, { clock: testClock(Date.now() + 11 * 60_000) });
    await services.images.service.deleteUnused();
    const rows = await services.database.all<{ name: string }>(sql`select name from image_file`);
    await services.close();
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), [...referenced].toSorted());
    // An incomplete copy of an attached image is deleted together with the image.
    const kept = namesIn(join(config.dataDir, 'images'))
      .filter((name) => name !== 'storage-id')
      .map((name) => name.split('.', 2).join('.'));
    assert.deepEqual([...new Set(kept)].toSorted(), [...referenced].toSorted());
    t.diagnostic(`${kills} kills, ${answered.length} uploads answered, ${cut} cut short`);
  });

  test('Images of a killed server leave no child process behind', linuxOnly, async (t) => {
    const { environment, key, ids } = await shopWith(t, 1);
    const server = await serve(t, environment);
    const sent = send(server, key, ids[0] ?? 0, await noise(1200));
    const cut = assert.rejects(() => sent, TypeError);
    await until(() => imageWorkersOf(environment).length > 0, 'no image worker was started');
    await sleep(50);
    assert.equal((await server.stop('SIGKILL')).stderr, '');
    await cut;
    await until(() => imageWorkersOf(environment).length === 0, 'helpers outlive their server');
  });

  test('Images of a killed server are finished before a stop, which is not delayed afterwards', async (t) => {
    const { environment, key, ids } = await shopWith(t, 1);
    const server = await serve(t, environment);
    const sent = send(server, key, ids[0] ?? 0, await noise(1200));
    await until(() => namesIn(join(environment.CURD_DATA_DIR ?? '', 'incoming')).length > 0, 'not sent');
    const stopped = server.stop('SIGTERM');
    const response = await sent;
    assert.equal(response.status, 200, await response.text());
    const outcome = await Promise.race([
      stopped,
      sleep(4000, 'still running, for the sake of an open connection'),
    ]);
    assert.deepEqual(outcome, { code: 0, stderr: '' });
  });
});

suite('Uploads of images', () => {
  test(
    'Uploads of images return 503 when their worker is killed, and the next ones succeed',
    linuxOnly,
    async (t) => {
      const { environment, key, ids } = await shopWith(t, 1);
      const server = await serve(t, environment);
      const [id = 0] = ids;
      const known = imageWorkersOf(environment);
      const incoming = join(environment.CURD_DATA_DIR ?? '', 'incoming');
      assert.equal((await send(server, key, id, await testImage(1))).status, 200);
      const large = await noise(1700);
      const received = () => namesIn(incoming).filter((name) => !name.includes('.'));
      for (let round = 0; round < 2; round += 1) {
        const sent = [send(server, key, id, large), send(server, key, id, large)];
        await until(
          () => received().length === 2 && imageWorkersOf(environment).length === 2,
          'not received',
        );
        await sleep(100);
        for (const pid of imageWorkersOf(environment)) {
          process.kill(pid, 'SIGKILL');
        }
        for (const response of await Promise.all(sent)) {
          assert.equal(response.status, 503, await response.text());
          assert.ok(Number(response.headers.get('retry-after')) > 0);
        }
        assert.equal((await imagesOf(server, key, id)).length, round + 1);
        await until(() => imageWorkersOf(environment).length === 0, 'killed');
        const next = await send(server, key, id, await testImage(2 + round));
        assert.equal(next.status, 200, await next.text());
      }
      assert.deepEqual(namesIn(incoming), []);
      assert.deepEqual(known, [], 'no image worker runs before the first upload');
    },
  );

  for (const place of ['images', 'incoming']) {
    test(`Uploads of images return 503 and leave nothing while the folder ${place} is missing, and succeed afterwards`, async (t) => {
      const shop = await openShop(t);
      const cheese = await newCheese(shop);
      await photos.uploaded(shop, cheese, await testImage(1));
      const folder = join(shop.config.dataDir, place);
      rmSync(folder, { recursive: true });
      writeFileSync(folder, 'in the way');
      const response = await photos.upload(shop, cheese, await testImage(2));
      assertError(response, 503, 'unavailable');
      assert.ok(Number(response.headers['retry-after']) > 0);
      assert.equal((await photos.imagesOf(shop, cheese)).length, 1);
      rmSync(folder);
      const { imageUrl } = await photos.uploaded(shop, cheese, await testImage(2));
      await photos.assertShown(shop, imageUrl);
      assert.deepEqual(namesIn(shop.config.incomingDir), []);
    });
  }

  test('Uploads of images return 503 on GET when the file cannot be read, and 404 when it is missing', async (t) => {
    const shop = await openShop(t);
    const { imageUrl } = await photos.uploaded(shop, await newCheese(shop), await testImage(1));
    const folder = photos.imagesFolder(shop);
    rmSync(folder, { recursive: true });
    assert.equal((await photos.shown(shop, imageUrl)).status, 404);
    writeFileSync(folder, 'in the way');
    const { status, headers } = await photos.shown(shop, imageUrl);
    assert.equal(status, 503);
    assert.ok(Number(headers['retry-after']) > 0);
    assert.equal(headers['cache-control'], 'no-store');
  });
});

suite('Left uploads', () => {
  test('Left uploads are deleted by maintenance after one hour and not before', async (t) => {
    const folder = await temporaryFolder(t);
    const clock = testClock();
    const { purge } = createUploads(folder, clock);
    const minutes = [-1, 1, 59, 61, 600];
    for (const age of minutes) {
      writeFileSync(join(folder, `${age}`), 'x');
      const then = new Date(clock.now() - age * 60_000);
      utimesSync(join(folder, `${age}`), then, then);
    }
    await purge();
    assert.deepEqual(namesIn(folder), ['-1', '1', '59']);
    clock.advance(2 * 60_000);
    await purge();
    assert.deepEqual(namesIn(folder), ['-1', '1']);
    await createUploads(join(folder, 'not there'), clock).purge();
  });

  test('Left uploads that are folders stay, and do not stop the deletion of others', async (t) => {
    const folder = await temporaryFolder(t);
    // As on a separate file system.
    mkdirSync(join(folder, 'lost+found'));
    writeFileSync(join(folder, 'old'), 'x');
    for (const name of ['lost+found', 'old']) {
      utimesSync(join(folder, name), 1, 1);
    }
    await createUploads(folder, testClock()).purge();
    assert.deepEqual(namesIn(folder), []);
  });
});
