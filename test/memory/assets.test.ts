/** Static content: one buffer for all responses. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Asset } from '../../src/http/responses/asset.ts';
import { cleanUp, openListeningShop, shared, until } from '../helper.ts';

const shop = shared((t) => openListeningShop(t));

test('Static content is the same with and without compression', async () => {
  for (const path of ['/', '/docs', '/openapi.json', '/oauth/style.css', '/docs/send-request.js']) {
    const plain = await fetch(`${shop().url}${path}`, { headers: { 'accept-encoding': 'identity' } });
    const { headers, rawPayload } = await shop().app.server.inject({
      url: path,
      headers: { 'accept-encoding': 'gzip' },
    });
    assert.equal(plain.headers.get('content-encoding'), null);
    const bytes = Buffer.from(await plain.arrayBuffer());
    const isCompressed = headers['content-encoding'] === 'gzip';
    assert.equal(isCompressed, bytes.length >= 2048, path);
    assert.ok((isCompressed ? gunzipSync(rawPayload) : rawPayload).equals(bytes), path);
    assert.equal(headers.etag, plain.headers.get('etag'));
    assert.equal(headers['content-length'], String(rawPayload.length));
  }
});

test('Static content is compressed once', async () => {
  const asset = new Asset('x'.repeat(10_000));
  assert.equal(await asset.gzipped(), await asset.gzipped());
});

test('Connections that do not read a large response share its buffer', async (t) => {
  const path = '/openapi.json';
  const bytes = Number((await shop().request('HEAD', path)).headers['content-length']);
  const before = process.memoryUsage.rss();
  const sockets: Socket[] = [];
  cleanUp(t, () => {
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  const count = 100;
  let started = 0;
  for (let one = 0; one < count; one += 1) {
    const socket = connect(shop().port, '127.0.0.1');
    sockets.push(socket);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${one % 2 ? 'gzip' : 'identity'}\r\n\r\n`,
    );
    socket.once('readable', () => {
      started += 1;
    });
  }
  await until(async () => started === count);
  // Data that Node has not sent yet is outside of the heap.
  const grown = process.memoryUsage.rss() - before;
  assert.ok(grown < (count / 4) * bytes, `${grown} bytes more for ${count} responses of ${bytes} bytes`);
});

test('No more connections are open at once than CURD_MAX_CONNECTIONS', async (t) => {
  const { port, url } = await openListeningShop(t, { settings: { CURD_MAX_CONNECTIONS: '3' } });
  const open = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket));
      cleanUp(t, () => socket.destroy());
      socket.on('error', () => {});
    });
  const kept = await Promise.all([open(), open(), open()]);
  const further = await open();
  await until(async () => further.resume().closed, 'the fourth connection stays open');
  assert.deepEqual(
    kept.map(({ closed }) => closed),
    [false, false, false],
  );
  kept[0]?.destroy();
  await until(async () => (await fetch(`${url}/healthz`).catch(() => null))?.status === 200);
});
