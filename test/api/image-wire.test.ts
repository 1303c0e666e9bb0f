/** Uploads over a real connection: bodies that are too large, sent in pieces, or never finished. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, until } from '../context.ts';
import {
  assertNothingIncoming,
  bodyOf,
  boundary,
  filePart,
  imageIn,
  mebibyte,
  openImageShop,
  textPart,
} from './image-forms.ts';

const formType = `multipart/form-data; boundary=${boundary}`;

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape.
  readonly json: any;
}

function framed(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function written(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Reads the next response of a connection. */
function replyOn(socket: Socket): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let text = '';
    const broken = () => reject(new Error('the connection ended before the answer'));
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n');
      if (body !== undefined && body.length >= Number(/content-length: (\d+)/i.exec(head)?.[1])) {
        socket.off('data', read).off('close', broken);
        resolve({ status: Number(head.slice(9, 12)), json: JSON.parse(body) });
      }
    };
    socket.on('data', read).once('close', broken).on('error', reject);
  });
}

async function listen(t: TestContext) {
  const images = await openImageShop(t);
  const { server } = images.shop.app;
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  let line: Socket | undefined;

  /** Sends a whole body and reads the response, all on one connection. Fails when the connection ends or breaks. */
  async function post(chunks: Iterable<Uint8Array>, headers: Record<string, string> = {}, to = images.url) {
    line ??= connect(port, '127.0.0.1');
    const socket = line;
    cleanUp(t, () => socket.destroy());
    const all = { Host: 'shop', 'x-api-key': images.shop.writer, 'content-type': formType, ...headers };
    const isChunked = headers['content-length'] === undefined;
    const lines = Object.entries(isChunked ? { ...all, 'transfer-encoding': 'chunked' } : all);
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const reply = replyOn(socket);
    const body = (async () => {
      await written(socket, `POST ${to} HTTP/1.1\r\n${head}\r\n`);
      for (const chunk of chunks) {
        await written(socket, isChunked ? framed(chunk) : chunk);
      }
      await written(socket, isChunked ? '0\r\n\r\n' : '');
    })();
    return (await Promise.all([reply, body]))[0];
  }

  /** A connection that has sent the headers of an upload. */
  function begin(headers: readonly string[], as = images.shop.writer): Socket {
    const socket = connect(port, '127.0.0.1');
    cleanUp(t, () => socket.destroy());
    const key = `X-API-Key: ${as}`;
    const lines = [`POST ${images.url} HTTP/1.1`, 'Host: shop', key, `Content-Type: ${formType}`, ...headers];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return socket;
  }

  return { ...images, port, post, begin };
}

/** A form up to the start of its file. */
const opened = bodyOf([filePart('@')]).subarray(0, -`@\r\n--${boundary}--\r\n`.length);

/** A form with a file of this many MiB, in pieces. */
function* largeForm(mebibytes: number): Generator<Buffer> {
  yield opened;
  for (let sent = 0; sent < mebibytes; sent += 1) {
    yield Buffer.alloc(mebibyte, 'x');
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

/** Longer than the server needs to write or delete a file. */
async function assertStaysEmpty(folder: string): Promise<void> {
  await sleep(150);
  assert.deepEqual(await readdir(folder), []);
}

test('A client that sends 30 MiB receives 413, with a Content-Length or in chunks, and can send more requests', async (t) => {
  const { post, assertUntouched, shop } = await listen(t);
  const length = [...largeForm(30)].reduce((sum, one) => sum + one.length, 0);
  for (const headers of [{ 'content-length': String(length) }, {}]) {
    const { status, json } = await post(largeForm(30), headers);
    assert.deepEqual([status, json.code, json.type], [413, 413, 'payload_too_large']);
    await assertUntouched();
  }
  const { status } = await post([bodyOf([filePart(await imageIn('png'))])]);
  assert.equal(status, 200);
  await assertStaysEmpty(shop.config.incomingDir);
});

test('An upload above the limit that fetch sends receives the 413', async (t) => {
  const { port, url, shop, assertUntouched } = await listen(t);
  const form = new FormData();
  form.append('caption', 'large');
  form.append('file', new Blob([new Uint8Array(30 * mebibyte)], { type: 'image/png' }), 'a.png');
  const headers = { 'x-api-key': shop.writer };
  const response = await fetch(`http://127.0.0.1:${port}${url}`, { method: 'POST', headers, body: form });
  assert.deepEqual([response.status, ((await response.json()) as { code: number }).code], [413, 413]);
  await assertUntouched();
});

test('The connection is closed when a client sends more than 64 MiB after a refusal', async (t) => {
  const { shop, begin, assertUntouched } = await listen(t);
  for (const [key, status] of [
    [shop.writer, 413],
    [shop.reader, 403],
  ] as const) {
    const socket = begin(['Transfer-Encoding: chunked'], key);
    const reply = replyOn(socket);
    socket.on('error', () => {});
    await written(socket, framed(opened));
    let sent = 0;
    while (!socket.destroyed && sent < 200) {
      await written(socket, framed(Buffer.alloc(mebibyte, 'x'))).catch(() => sleep(50));
      sent += 1;
    }
    assert.equal((await reply).status, status);
    assert.ok(socket.destroyed && sent > 60 && sent < 110, `${status} after ${sent} MiB`);
    await assertUntouched();
  }
});

test('401, 403 and 404 are sent while a large image is still being uploaded', async (t) => {
  const { shop, post, assertUntouched } = await listen(t);
  for (const [mebibytes, headers, to, status] of [
    [20, { 'x-api-key': shop.reader }, undefined, 403],
    [8, { 'x-api-key': 'nonsense' }, undefined, 401],
    [20, {}, '/v2/cheeses/999/uploadImage', 404],
    [8, { 'content-type': 'image/png' }, undefined, 415],
    [8, { 'content-encoding': 'gzip' }, undefined, 415],
    [8, { 'content-type': 'multipart/form-data' }, undefined, 422],
    [8, { 'idempotency-key': 'a b' }, undefined, 400],
  ] as const) {
    const reply = await post(largeForm(mebibytes), headers, to);
    assert.deepEqual([reply.status, reply.json.code], [status, status]);
    await assertUntouched();
  }
  const { status } = await post([bodyOf([filePart(await imageIn('png'))])]);
  assert.equal(status, 200);
});

test('A form in chunks of any size is accepted without a Content-Length', async (t) => {
  const { post, list } = await listen(t);
  const image = await imageIn('jpeg');
  const body = bodyOf([filePart(image), textPart('caption', 'é🧀')]);
  for (const size of [1, 3, 64, body.length]) {
    const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
      body.subarray(at * size, (at + 1) * size),
    );
    const { status, json } = await post(chunks);
    assert.deepEqual([status, json.size], [200, image.length]);
  }
  assert.deepEqual(
    (await list()).map(({ caption }) => caption),
    ['é🧀'],
  );
});

test('The same form of an upload in other pieces is the same request for an Idempotency-Key', async (t) => {
  const { post } = await listen(t);
  const body = bodyOf([
    textPart('caption', 'x'.repeat(300)),
    textPart('isPrimary', 'true'),
    filePart(await imageIn('png')),
  ]);
  const headers = { 'idempotency-key': 'once' };
  const first = await post([body], headers);
  const again = await post(
    Array.from(body, (byte) => Buffer.from([byte])),
    headers,
  );
  assert.deepEqual([first.status, again.status, again.json], [200, 200, first.json]);
});

test('A client that disconnects during an upload leaves no file and no row', async (t) => {
  const { shop, begin, post, assertUntouched } = await listen(t);
  const image = await imageIn('png');
  const body = bodyOf([textPart('caption', 'x'), filePart(Buffer.concat([image, Buffer.alloc(300_000)]))]);
  for (const [length, isPolite] of [
    [0, true],
    [30, true],
    [body.indexOf('IHDR'), false],
    [200_000, true],
    [200_000, false],
    [body.length - 3, false],
  ] as const) {
    const socket = begin([`Content-Length: ${body.length}`]);
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.write(body.subarray(0, length), () => resolve()));
    if (length === 200_000) {
      await until(async () => (await readdir(shop.config.incomingDir)).length > 0);
    }
    if (isPolite) {
      socket.end();
    } else {
      socket.resetAndDestroy();
    }
    await sleep(30);
    await assertUntouched(`${length} ${isPolite}`);
  }
  await assertStaysEmpty(shop.config.incomingDir);
  assert.equal((await post([body])).status, 200);
});

test('An invalid chunk inside a file leaves no file and no row', async (t) => {
  const { shop, begin, assertUntouched } = await listen(t);
  const socket = begin(['Transfer-Encoding: chunked']);
  const body = bodyOf([filePart('x'.repeat(1000))]).subarray(0, 700);
  socket.write(`${body.length.toString(16)}\r\n`);
  socket.write(body);
  await until(async () => (await readdir(shop.config.incomingDir).catch(() => [])).length > 0);
  socket.write('\r\nZZ\r\n');
  const text = Buffer.concat(await socket.toArray()).toString();
  assert.match(text, /^HTTP\/1\.1 4(00|22) /);
  await assertUntouched();
});

test('Repeated refusals during a form leave no file', async (t) => {
  const { shop, upload, assertUntouched } = await listen(t);
  const file = filePart(await imageIn('png'));
  const image = { ...file, headers: ['Content-Disposition: form-data; name="photo"; filename="a"'] };
  const many = Array.from({ length: 21 }, () => textPart('x', 'y'));
  const forms = [
    [file, file],
    [image, file],
    [file, image],
    [file, ...many],
    [textPart('x', 'y'.repeat(9000)), file],
  ];
  for (let round = 0; round < 6; round += 1) {
    const responses = await Promise.all(forms.map((form) => upload(form)));
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [422]);
  }
  await assertStaysEmpty(shop.config.incomingDir);
  await assertNothingIncoming(shop);
  await assertUntouched();
});
