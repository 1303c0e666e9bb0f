/** Timeouts and overload, with short settings, real connections and real time. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../src/errors.ts';
import { toErrorHeaders, toErrorStatus } from '../../src/http/responses/error-mapping.ts';
import { createOverloadGuard } from '../../src/limits/overload.ts';
import { cleanUp, openListeningShop, openShop, until } from '../helper.ts';
import { bodyOf, boundary, filePart, imageIn } from './image-forms.ts';

/** A connection with what was received on it, and how long it was open. */
function open(t: TestContext, port: number, bytes: string | Uint8Array) {
  const socket = connect(port, '127.0.0.1');
  cleanUp(t, () => socket.destroy());
  const began = performance.now();
  const line = {
    socket,
    text: '',
    closed: new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now() - began))),
  };
  socket.setEncoding('latin1').on('data', (chunk) => {
    line.text += chunk;
  });
  socket.on('error', () => {});
  socket.write(bytes);
  return line;
}

function head(line: string, headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, 'Host: shop', ...headers, '', ''].join('\r\n');
}

const post = (key: string, path: string, length: number, type = 'application/json') =>
  head(`POST ${path}`, [`X-API-Key: ${key}`, `Content-Type: ${type}`, `Content-Length: ${length}`]);

function assertTimedOut(text: string): void {
  assert.match(text, /^HTTP\/1\.1 408 /);
  assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1, text);
  assert.match(text, /\r\nconnection: close\r\n/i);
  assert.match(text, /\r\nx-request-id: [\w.-]+\r\n/i);
  const { code, type, message } = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
  assert.deepEqual([code, type], [408, 'request_timeout']);
  assert.ok(message.length > 10);
}

/** The default timeouts are 15 s and more. A busy machine takes seconds for what needs milliseconds. */
const lateMs = 10_000;

suite('Time', { concurrency: 4 }, () => {
  test('Headers that arrive too slowly get 408, and the connection is closed', async (t) => {
    const { port } = await openListeningShop(t, { settings: { CURD_HEADERS_TIMEOUT: '500ms' } });
    const begun = open(t, port, 'GET /healthz HTTP/1.1\r\nHost: sh');
    const dripping = open(t, port, 'GET /healthz HTTP/1.1\r\n');
    const drip = setInterval(() => dripping.socket.write('X-Drip: 1\r\n'), 100);
    cleanUp(t, () => clearInterval(drip));
    for (const line of [begun, dripping]) {
      const tookMs = await line.closed;
      assert.ok(tookMs > 400 && tookMs < lateMs, `${tookMs}`);
      assertTimedOut(line.text);
    }
  });

  test('A body that arrives too slowly gets 408, and other requests do not wait for it', async (t) => {
    const shop = await openListeningShop(t, { settings: { CURD_REQUEST_TIMEOUT: '600ms' } });
    const { port } = shop;
    const silent = open(t, port, post(shop.writer, '/v2/cheeses', 50));
    const dripping = open(t, port, post(shop.writer, '/v2/cheeses', 5000));
    const drip = setInterval(() => dripping.socket.write(' '), 50);
    cleanUp(t, () => clearInterval(drip));
    const chunked = open(
      t,
      port,
      head('POST /v2/customer', ['Transfer-Encoding: chunked', 'Content-Type: application/json']),
    );
    chunked.socket.write('2\r\n{"\r\n');
    const url = `http://127.0.0.1:${port}/v2/cheeses`;
    assert.equal((await fetch(url, { headers: { 'X-API-Key': shop.reader } })).status, 200);
    for (const line of [silent, dripping, chunked]) {
      const tookMs = await line.closed;
      assert.ok(tookMs > 500 && tookMs < lateMs, `${tookMs}`);
      assertTimedOut(line.text);
    }
    assert.equal((await shop.request('GET', '/v2/cheeses', { as: shop.reader })).json.total, 0);
  });

  test('A slow upload has a longer timeout than other requests', async (t) => {
    const settings = { CURD_REQUEST_TIMEOUT: '300ms', CURD_UPLOAD_TIMEOUT: '1500ms' };
    const shop = await openListeningShop(t, { settings: { ...settings, CURD_HEADERS_TIMEOUT: '300ms' } });
    const { port } = shop;
    const { json } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Brie' } });
    const form = bodyOf([filePart(await imageIn('png'), 'image/png')]);
    const path = `/v2/cheeses/${json.id}/uploadImage`;
    const type = `multipart/form-data; boundary=${boundary}`;
    const slow = open(t, port, post(shop.writer, path, form.length, type));
    const never = open(t, port, post(shop.writer, path, form.length, type));
    slow.socket.write(form.subarray(0, 60));
    never.socket.write(form.subarray(0, 60));
    await sleep(800);
    assert.equal(slow.text, '');
    slow.socket.write(form.subarray(60));
    const tookMs = await never.closed;
    // Processing the image can take long on a busy machine.
    for (let waited = 0; slow.text === '' && waited < 5000; waited += 50) {
      await sleep(50);
    }
    assert.match(slow.text, /^HTTP\/1\.1 200 /);
    assert.ok(tookMs > 1200 && tookMs < lateMs, `${tookMs}`);
    assertTimedOut(never.text);
  });

  test('A response that takes longer than a connection may be without traffic is sent', async (t) => {
    const settings = { CURD_REQUEST_TIMEOUT: '200ms', CURD_UPLOAD_TIMEOUT: '200ms' };
    const { url, reader } = await openListeningShop(t, { settings });
    const headers = { 'x-api-key': reader };
    const first = await fetch(`${url}/v2/cheeses/changes`, { headers });
    const { next } = (await first.json()) as { next: string };
    // Five seconds more than the timeout of uploads close a connection.
    const changes = `${url}/v2/cheeses/changes?since=${encodeURIComponent(next)}&wait=7`;
    assert.equal((await fetch(changes, { headers })).status, 200);
  });

  test('An idle connection is closed without a response', async (t) => {
    const { port } = await openListeningShop(t, { settings: { CURD_IDLE_TIMEOUT: '500ms' } });
    const used = open(t, port, head('GET /healthz', []));
    const tookMs = await used.closed;
    assert.ok(tookMs > 400 && tookMs < lateMs, `${tookMs}`);
    assert.equal(used.text.match(/HTTP\/1\.1 /g)?.length, 1);
    assert.match(used.text, /^HTTP\/1\.1 200 /);
  });

  test('A request that was refused early does no harm when its body never arrives and its timeout ends', async (t) => {
    const settings = { CURD_REQUEST_TIMEOUT: '2s', CURD_UPLOAD_TIMEOUT: '3s', CURD_HEADERS_TIMEOUT: '3s' };
    const shop = await openListeningShop(t, { settings });
    const { port } = shop;
    const form = `multipart/form-data; boundary=${boundary}`;
    const lines = [
      ['sk_test_wrong', '/v2/cheeses', 'application/json', 401],
      [shop.reader, '/v2/cheeses', 'application/json', 403],
      [shop.writer, '/v2/cheeses', 'text/plain', 415],
      [shop.writer, '/nowhere', 'application/json', 404],
      [shop.writer, '/v2/cheeses/findByTags', 'application/json', 405],
      [shop.writer, '/v2/cheeses/999/uploadImage', form, 404],
      ['sk_test_wrong', '/v2/cheeses/999/uploadImage', form, 401],
      [shop.writer, '/oauth/token', 'application/json', 400],
    ].map(([key, path, type, status]) => ({
      status,
      line: open(t, port, post(String(key), String(path), 100, String(type))),
    }));
    const gone = open(t, port, post(shop.writer, '/v2/cheeses', 100));
    setTimeout(() => gone.socket.destroy(), 100);
    const before = open(t, port, post(shop.writer, '/v2/cheeses', 10 * 1024 * 1024));
    await until(async () => before.text !== '');
    assert.match(before.text, /^HTTP\/1\.1 413 /);
    await Promise.all(lines.map(({ line }) => line.closed));
    for (const { status, line } of lines) {
      if (status !== 400) {
        assert.match(line.text, new RegExp(`^HTTP/1\\.1 ${status} `));
      }
    }
    for (const { line } of lines) {
      assert.doesNotMatch(line.text, /^HTTP\/1\.1 5/);
    }
    assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
  });

  test('A client that never reads responses does not fill the memory and does not delay others', async (t) => {
    const shop = await openListeningShop(t, {
      settings: { CURD_UPLOAD_TIMEOUT: '2s', CURD_REQUEST_TIMEOUT: '2s' },
    });
    const { port } = shop;
    const socket = connect(port, '127.0.0.1');
    cleanUp(t, () => socket.destroy());
    socket.on('error', () => {}).pause();
    const before = process.memoryUsage().rss;
    const many = head('GET /openapi.json', []).repeat(200);
    for (let round = 0; round < 10; round += 1) {
      socket.write(many);
    }
    for (let round = 0; round < 10; round += 1) {
      await sleep(50);
      const began = performance.now();
      assert.equal((await shop.request('GET', '/v2/cheeses', { as: shop.reader })).status, 200);
      assert.ok(performance.now() - began < 5000, 'others wait');
    }
    const grownMiB = (process.memoryUsage().rss - before) / 1024 / 1024;
    assert.ok(grownMiB < 120, `${Math.round(grownMiB)} MiB for 2,000 responses that are not read`);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    socket.end();
    await closed;
  });
});

test('A timeout above the maximum of a timer is refused', async (t) => {
  for (const settings of [{ CURD_REQUEST_TIMEOUT: '30d' }, { CURD_UPLOAD_TIMEOUT: '0s' }]) {
    await assert.rejects(
      openShop(t, { settings }),
      /_TIMEOUT is "\d+[ds]": set it to a duration from 1ms to 24h/,
    );
  }
});

test('No more than 2,000 changes run at once; reads continue, and a change can start when another ends', async (t) => {
  const overload = createOverloadGuard();
  cleanUp(t, () => overload.stop());
  const ends: (() => void)[] = [];
  const running = Array.from({ length: 2000 }, () =>
    overload.track(new Promise<void>((_, reject) => ends.push(() => reject(new Error('failed'))))),
  );
  const refused = (error: unknown) =>
    error instanceof AppError &&
    toErrorStatus(error) === 503 &&
    /^[1-9]\d*$/.test(toErrorHeaders(error)['Retry-After'] ?? '');
  assert.throws(() => overload.check(true), refused);
  overload.check(false);
  for (const end of ends.splice(0, 2)) {
    end();
  }
  await Promise.allSettled(running.slice(0, 2));
  overload.check(true);
  for (const end of ends) {
    end();
  }
  await Promise.allSettled(running);
  overload.check(true);
});
