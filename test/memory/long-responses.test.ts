/** Responses as long as the catalogue: produced in pieces, so that they need little memory and do not block others. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import type { CheeseLists } from '../../src/cheeses/listing/cheese-lists.ts';
import type { Engine } from '../../src/database/sql.ts';
import { cleanUp, onBothEngines, openListeningShop, type Scope, shared, until } from '../helper.ts';
import { countTurns } from '../turns.ts';

const url = '/v2/cheeses/findByStatus?status=available';
const cheeses = 600;
const longest = 200_000;

/** A shop with 20 MB of cheeses: 500 short ones, then 100 of 200,000 bytes each. */
async function openWithLongCheeses(t: Scope, engine: Engine) {
  const shop = await openListeningShop(t, { engine });
  const photoUrls = Array.from({ length: 100 }, (_, index) =>
    `https://example.com/${index}/`.padEnd(1980, 'x'),
  );
  const inputs = Array.from({ length: cheeses }, (_, index) => ({
    name: `Cheese ${index + 1}`,
    photoUrls: index < 500 ? [] : photoUrls,
  }));
  const {
    cheeses: { service },
    contextOf,
  } = shop.app;
  await service.import(contextOf('test'), inputs, new Set());
  return shop;
}

/** The lengths of the pages that are read while `work` runs, and the turn of the event loop in which each was. */
async function pagesRead(lists: CheeseLists, work: () => Promise<unknown>) {
  const pages: { bytes: number; turn: number }[] = [];
  const list = lists.list.bind(lists);
  using turns = countTurns();
  const counting: CheeseLists['list'] = async (request, options) => {
    const { turn } = turns;
    const page = await list(request, options);
    pages.push({ bytes: 'items' in page ? page.items.length : 0, turn });
    return page;
  };
  Object.assign(lists, { list: counting });
  try {
    await work();
  } finally {
    Object.assign(lists, { list });
  }
  return pages;
}

onBothEngines('A long response', (engine) => {
  const opened = shared((t) => openWithLongCheeses(t, engine));

  test('A long response is read in parts of bounded size, each in a separate turn of the event loop', async () => {
    const shop = opened();
    const {
      cheeses: { lists: cheeseLists },
    } = shop.app;
    let text = '';
    const pages = await pagesRead(cheeseLists, async () => {
      ({ text } = await shop.request('GET', url, { as: shop.writer }));
    });
    assert.deepEqual(
      JSON.parse(text).map(({ name }: { name: string }) => name),
      Array.from({ length: cheeses }, (_, index) => `Cheese ${index + 1}`),
    );
    assert.ok(pages.length > 50, `${pages.length} pages`);
    assert.equal(new Set(pages.map(({ turn }) => turn)).size, pages.length, 'others get through in between');
    for (const { bytes } of pages) {
      assert.ok(bytes < 256 * 1024 + longest * 1.1, `${bytes} bytes at once`);
    }
    const zipped = await shop.app.server.inject({
      url,
      headers: { 'x-api-key': shop.writer, 'accept-encoding': 'gzip' },
    });
    assert.equal(gunzipSync(zipped.rawPayload).toString(), text);
  });

  test('A long response is not produced for HEAD', async () => {
    const shop = opened();
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
      const pages = await pagesRead(shop.app.cheeses.lists, async () => {
        const { status, text } = await shop.request('HEAD', url, { as: shop.writer, headers });
        assert.deepEqual([status, text], [200, '']);
        await sleep(300);
      });
      assert.equal(pages.length, 1, 'the first page says whether there are more, and its version');
    }
  });

  test('A long response needs little memory when clients do not read it', async (t) => {
    const shop = opened();
    const sockets: Socket[] = [];
    cleanUp(t, () => {
      for (const socket of sockets) {
        socket.destroy();
      }
    });
    const before = await usedBytes();
    const count = 40;
    let started = 0;
    for (let one = 0; one < count; one += 1) {
      const socket = connect(shop.port, '127.0.0.1');
      sockets.push(socket);
      socket.write(
        `GET ${url} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${shop.writer}\r\nAccept-Encoding: identity\r\n\r\n`,
      );
      socket.once('readable', () => {
        assert.match(String(socket.read(15)), /^HTTP\/1.1 200 OK/);
        started += 1;
      });
    }
    await until(async () => started === count);
    // Until their buffers are full.
    await sleep(500);
    const grown = (await usedBytes()) - before;
    assert.ok(grown < count * 4 * 1024 * 1024, `${grown} bytes more for ${count} responses of 20 MB`);
  });

  test('A long response does not fill the cache with single cheeses', async () => {
    const shop = opened();
    const before = await heapBytes();
    for (let id = 501; id <= cheeses; id += 1) {
      assert.equal((await shop.request('GET', `/v2/cheeses/${id}`, { as: shop.reader })).status, 200);
    }
    const grown = (await heapBytes()) - before;
    assert.ok(grown < 14_000_000, `${grown} bytes more for 20 MB of cheeses`);
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function heapBytes(): Promise<number> {
  await sleep(50);
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** With buffers, which are outside of the heap. */
async function usedBytes(): Promise<number> {
  return (await heapBytes()) + process.memoryUsage().external;
}
