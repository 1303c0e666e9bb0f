/** Many parallel uploads, connections that break, and full disks. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { get, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStock, freshShop, serve } from '../cli/run.ts';
import { until } from '../context.ts';
import { awsSettings, bucket, openBucket } from '../files/bucket.ts';
import {
  assertShown,
  assertWhole,
  formOf,
  imagesFolder,
  nameOf,
  namesIn,
  noise,
  openFiles,
  testImage,
  upload,
  uploaded,
} from '../files/images.ts';
import { assertError, openListeningShop, openShop, type Shop } from '../helper.ts';
import { sendHeaders } from '../late-body.ts';
import { onSmallDisk, skipUnmountable } from '../mounts.ts';
import { deleteCheese, newCheese } from '../shop-verbs.ts';

const uploadsMax = 64;
const linuxOnly = {
  skip: process.platform === 'linux' ? false : 'open files are found in /proc, which Linux has',
};

suite('Uploads', () => {
  test(`Uploads are accepted up to ${uploadsMax} at the same time; more return 503, and other requests still succeed`, async (t) => {
    const shop = await openShop(t);
    const cheese = await newCheese(shop);
    const images = await Promise.all(Array.from({ length: uploadsMax + 16 }, (_, seed) => testImage(seed)));
    let isOver = false;
    // A credential has a limit of parallel uploads.
    const keys = await Promise.all(
      Array.from({ length: 5 }, () => shop.createKey({ scopes: ['write:cheeses'] })),
    );
    const uploads = Promise.all(
      images.map((bytes, place) => upload(shop, cheese, bytes, keys[place % keys.length])),
    ).finally(() => {
      isOver = true;
    });
    let slowest = 0;
    while (!isOver) {
      const start = performance.now();
      const { status } = await shop.request('GET', `/v2/cheeses/${cheese}`, { as: shop.reader });
      assert.equal(status, 200);
      slowest = Math.max(slowest, performance.now() - start);
      await sleep(5);
    }
    assert.ok(slowest < 2000, `a cheese took ${slowest} ms`);
    const responses = await uploads;
    const refused = responses.filter(({ status }) => status !== 200);
    for (const { status, headers } of refused) {
      assert.equal(status, 503);
      assert.ok(Number(headers['retry-after']) > 0);
    }
    assert.ok(responses.length - refused.length >= uploadsMax, `${refused.length} were refused`);
    assert.deepEqual(namesIn(shop.config.incomingDir), []);
    assert.equal((await upload(shop, cheese, await testImage(999))).status, 200, 'later');
  });

  test('Uploads of clients that disconnect after the headers keep no slot', async (t) => {
    const shop = await openListeningShop(t);
    const cheese = await newCheese(shop);
    const { headers, raw } = formOf(await testImage(1));
    const head = [
      `POST /v2/cheeses/${cheese}/uploadImage HTTP/1.1`,
      'Host: localhost',
      `X-API-Key: ${shop.writer}`,
      `Content-Type: ${headers['content-type']}`,
      `Content-Length: ${raw.length}`,
    ].join('\r\n');
    for (let round = 0; round < uploadsMax + 6; round += 1) {
      const socket = connect(shop.port, '127.0.0.1');
      socket.write(`${head}\r\n\r\n`, () => socket[round % 2 === 0 ? 'destroy' : 'resetAndDestroy']());
      await once(socket, 'close');
    }
    await until(async () => (await uploadsUnderWay(shop)) === 0, 'uploads are still under way');
    assert.equal((await upload(shop, cheese, await testImage(1))).status, 200);
  });

  test('Uploads of one credential get a quarter of the slots; the rest stay free for other credentials', async (t) => {
    const shop = await openListeningShop(t);
    const cheese = await newCheese(shop);
    const { headers, raw } = formOf(await testImage(2));
    const url = `${shop.url}/v2/cheeses/${cheese}/uploadImage`;
    const slow = await Promise.all(
      Array.from({ length: 16 }, () =>
        sendHeaders('POST', url, { ...headers, 'x-api-key': shop.writer }, raw),
      ),
    );
    await until(async () => (await uploadsUnderWay(shop)) === slow.length, 'not all are under way');
    const refused = await upload(shop, cheese, await testImage(3));
    assertError(refused, 429, 'rate_limit_exceeded');
    assert.ok(Number(refused.headers['retry-after']) > 0);
    const other = await shop.createKey({ scopes: ['write:cheeses'] });
    assert.equal((await upload(shop, cheese, await testImage(3), other)).status, 200);
    for (const one of slow) {
      assert.equal((await one.finish()).status, 200);
    }
    assert.equal((await upload(shop, cheese, await testImage(3))).status, 200);
  });
});

async function uploadsUnderWay({ app, admin }: Shop): Promise<number> {
  const { payload } = await app.server.inject({ url: '/metrics', headers: { 'x-api-key': admin } });
  return Number(/^curd_uploads_under_way (\d+)$/m.exec(payload)?.[1]);
}

/** A shop that listens, for requests over sockets that can break. */
async function listening(shop: Shop): Promise<string> {
  return shop.app.server.listen({ host: '127.0.0.1', port: 0 });
}

async function untilNoneOpen(folder: string): Promise<void> {
  for (let tries = 0; openFiles(folder).length > 0 && tries < 200; tries += 1) {
    await sleep(10);
  }
  assert.deepEqual(openFiles(folder), []);
}

/** Requests a path and disconnects, before or after the first bytes of the response. */
async function breakOff(url: string, isBegun: boolean): Promise<void> {
  const call = get(url, { agent: false });
  call.on('error', () => {});
  if (isBegun) {
    const [response] = await once(call, 'response');
    await once(response, 'readable');
  } else {
    await sleep(2);
  }
  call.destroy();
}

suite('Connections that break', () => {
  test('Connections that break leave no image file open', linuxOnly, async (t) => {
    const shop = await openShop(t);
    const base = await listening(shop);
    const { imageUrl } = await uploaded(shop, await newCheese(shop), await noise(1500));
    const url = `${base}/images/${nameOf(imageUrl)}`;
    const etag = `"${nameOf(imageUrl)}"`;
    for (let round = 0; round < 5; round += 1) {
      await breakOff(url, true);
      await breakOff(url, false);
      for (const options of [{ method: 'HEAD' }, { headers: { 'If-None-Match': etag } }]) {
        const response = await fetch(url, options);
        assert.ok([200, 304].includes(response.status));
        await response.arrayBuffer();
      }
      const part = await fetch(url, { headers: { Range: 'bytes=0-9' } });
      assert.equal((await part.arrayBuffer()).byteLength, 10);
    }
    const whole = new Uint8Array(await (await fetch(url)).arrayBuffer());
    assertWhole(imageUrl, whole);
    await untilNoneOpen(imagesFolder(shop));
  });

  test('Connections that break during a response from a bucket leave no connection to the bucket', async (t) => {
    const { endpoint } = await openBucket(t);
    Object.assign(process.env, awsSettings(endpoint));
    const shop = await openShop(t, { settings: { CURD_IMAGES: `s3://${bucket}` } });
    const base = await listening(shop);
    const { imageUrl } = await uploaded(shop, await newCheese(shop), await noise(1500));
    const url = `${base}/images/${nameOf(imageUrl)}`;
    // More than the connections of the AWS client.
    for (let round = 0; round < 60; round += 1) {
      await breakOff(url, round % 4 > 0);
    }
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
    assertWhole(imageUrl, new Uint8Array(await response.arrayBuffer()));
  });

  test('Connections that break during an upload leave no file and keep no slot', linuxOnly, async (t) => {
    const shop = await openShop(t);
    const base = await listening(shop);
    const cheese = await newCheese(shop);
    const { headers, raw } = formOf(await noise(300));
    for (let round = 0; round < uploadsMax + 6; round += 1) {
      const call = request(`${base}/v2/cheeses/${cheese}/uploadImage`, {
        method: 'POST',
        agent: false,
        headers: { ...headers, 'x-api-key': shop.writer, 'content-length': raw.length },
      });
      call.on('error', () => {});
      call.write(raw.subarray(0, raw.length / 2));
      await sleep(5);
      call.destroy();
    }
    await untilNoneOpen(shop.config.incomingDir);
    for (let tries = 0; namesIn(shop.config.incomingDir).length > 0 && tries < 200; tries += 1) {
      await sleep(10);
    }
    assert.deepEqual(namesIn(shop.config.incomingDir), []);
    const images = await Promise.all(Array.from({ length: 8 }, (_, seed) => testImage(seed)));
    for (const bytes of images) {
      assert.equal((await upload(shop, cheese, bytes)).status, 200);
    }
  });

  test('Connections that break return 404 when the cheese is deleted during the upload, and the image is not attached', async (t) => {
    const shop = await openShop(t);
    const cheese = await newCheese(shop);
    const sent = upload(shop, cheese, await noise(800));
    await sleep(30);
    assert.equal((await deleteCheese(shop, cheese)).status, 204);
    assert.equal((await sent).status, 404);
    const other = await uploaded(shop, await newCheese(shop), await testImage(1));
    await assertShown(shop, other.imageUrl);
  });
});

/** A server whose folder `name` is a file system of `kilobytes`, in its own mount namespace. */
async function serveOnSmallDisk(t: TestContext, name: string, kilobytes: number) {
  const environment = await freshShop(t, { CURD_LOG_LEVEL: 'silent' });
  const stock = { prices: [undefined], scopes: ['write:cheeses'] } as const;
  const { key, cheeses } = await createStock(environment, stock);
  const disk = join(environment.CURD_DATA_DIR ?? '', name);
  mkdirSync(disk, { recursive: true });
  const { url } = await serve(t, environment, onSmallDisk(disk, kilobytes));
  return async (bytes: Buffer): Promise<Response> => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(bytes)]));
    const headers = { 'X-API-Key': key };
    return fetch(`${url}/v2/cheeses/${cheeses[0]}/uploadImage`, { method: 'POST', headers, body });
  };
}

suite('A full disk', { skip: skipUnmountable }, () => {
  for (const [name, kilobytes, side] of [
    ['images', 200, 400],
    // Enough to receive, but not to encode.
    ['incoming', 700, 400],
    // Not enough to receive.
    ['incoming', 200, 400],
  ] as const) {
    test(`A full disk of ${kilobytes} kB for ${name} returns 503 and stores nothing, and smaller images are accepted`, async (t) => {
      const send = await serveOnSmallDisk(t, name, kilobytes);
      const large = await noise(side);
      for (let round = 0; round < 3; round += 1) {
        const refused = await send(large);
        assert.equal(refused.status, 503, await refused.text());
        assert.ok(Number(refused.headers.get('retry-after')) > 0);
        const taken = await send(await testImage(round));
        const text = await taken.text();
        assert.equal(taken.status, 200, text);
        const { imageUrl } = JSON.parse(text);
        const shown = await fetch(imageUrl);
        assertWhole(imageUrl, new Uint8Array(await shown.arrayBuffer()));
      }
    });
  }
});
