/** A server that gets SIGTERM finishes its requests and exits. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf, boundary, filePart, plain } from '../api/image-forms.ts';
import {
  accountWithKey,
  type Environment,
  freshShop,
  inShop,
  type RunningServer,
  serve,
} from '../cli/run.ts';
import { secret, until } from '../context.ts';
import { nameOf, namesIn } from '../files/images.ts';
import { cleanUp } from '../helper.ts';

/** A server that waits for what does not come ends after 30 s. A busy machine takes seconds for what needs milliseconds. */
const waitedMs = 20_000;

interface Started {
  readonly server: RunningServer;
  readonly environment: Environment;
  readonly key: string;
}

async function start(t: TestContext): Promise<Started> {
  const environment = await freshShop(t, { CURD_SECRET: secret });
  const { key } = await accountWithKey(environment, ['write:cheeses']);
  return { server: await serve(t, environment), environment, key };
}

/** A connection and all bytes that it received. */
async function open(t: TestContext, url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  cleanUp(t, () => socket.destroy());
  const line = {
    socket,
    text: '',
    closed: new Promise<void>((resolve) => socket.once('close', () => resolve())),
  };
  socket.setEncoding('latin1').on('data', (chunk) => {
    line.text += chunk;
  });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  return line;
}

function head(key: string, path: string, headers: readonly string[]): string {
  return [`POST ${path} HTTP/1.1`, 'Host: shop', `X-API-Key: ${key}`, ...headers, '', ''].join('\r\n');
}

/** Sends SIGTERM and returns how long the stop took. */
async function stopped(
  server: RunningServer,
): Promise<{ code: number | null; stderr: string; tookMs: number }> {
  const began = performance.now();
  const ended = await server.stop();
  return { ...ended, tookMs: performance.now() - began };
}

async function isRefused(url: string): Promise<boolean> {
  const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

suite('A server that is stopped', { concurrency: 2 }, () => {
  test('A server that is stopped responds to every accepted request, and keeps every confirmed change', async (t) => {
    const { server, environment, key } = await start(t);
    const made: number[] = [];
    const faults: string[] = [];
    let isStopping = false;

    async function writeUntilClosed(): Promise<void> {
      const line = await open(t, server.url);
      for (;;) {
        const body = JSON.stringify({ name: `Cheese ${Math.random()}` });
        const seen = line.text.length;
        line.socket.write(
          `${head(key, '/v2/cheeses', ['Content-Type: application/json', `Content-Length: ${body.length}`])}${body}`,
        );
        while (!line.socket.closed && !/\r\n\r\n\{.*\}$/s.test(line.text.slice(seen))) {
          await sleep(1);
        }
        const response = line.text.slice(seen);
        if (response.startsWith('HTTP/1.1 201')) {
          made.push(JSON.parse(response.slice(response.indexOf('\r\n\r\n'))).id);
        } else if (response !== '' || !isStopping) {
          faults.push(response);
        }
        if (/^connection: close/im.test(response) || line.socket.closed) {
          await line.closed;
          return;
        }
      }
    }

    const writers = Array.from({ length: 10 }, writeUntilClosed);
    await until(async () => made.length > 20, 'too few cheeses are created');
    isStopping = true;
    const { code, stderr, tookMs } = await stopped(server);
    await Promise.all(writers);
    assert.deepEqual([code, stderr, faults], [0, '', []]);
    assert.ok(tookMs < waitedMs, `${tookMs}`);
    assert.ok(await isRefused(server.url));

    await inShop(environment, async ({ cheeses: { service: cheeses } }) => {
      for (const id of made) {
        assert.equal((await cheeses.find(id)).id, id, `cheese ${id} was answered and is gone`);
      }
    });
  });

  test('A server that is stopped does not wait for idle connections', async (t) => {
    const { server, key } = await start(t);
    const fresh = await open(t, server.url);
    const used = await open(t, server.url);
    used.socket.write('GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n');
    const refused = await open(t, server.url);
    refused.socket.write(head(key, '/nowhere', ['Content-Length: 0']));
    while (used.text === '' || refused.text === '') {
      await sleep(5);
    }
    const { code, stderr, tookMs } = await stopped(server);
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(tookMs < waitedMs, `${tookMs}`);
    await Promise.all([fresh.closed, used.closed, refused.closed]);
  });

  test('A server that is stopped waits for the rest of a started request, accepts no new connection, and sends Connection: close', async (t) => {
    const { server, environment, key } = await start(t);
    const body = JSON.stringify({ name: 'Slow Stilton' });
    const line = await open(t, server.url);
    line.socket.write(
      head(key, '/v2/cheeses', ['Content-Type: application/json', `Content-Length: ${body.length}`]),
    );
    line.socket.write(body.slice(0, 5));
    const halfHead = await open(t, server.url);
    halfHead.socket.write('GET /healthz HTTP/1.1\r\nHost: sh');
    await sleep(200);
    const ended = stopped(server);
    await until(() => isRefused(server.url), 'a new connection is taken');
    line.socket.write(body.slice(5));
    halfHead.socket.write('op\r\n\r\n');
    const { code, stderr, tookMs } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(tookMs < waitedMs, `${tookMs}`);
    await Promise.all([line.closed, halfHead.closed]);
    assert.match(line.text, /^HTTP\/1\.1 201 /);
    assert.match(halfHead.text, /^HTTP\/1\.1 200 /);
    const { id } = JSON.parse(line.text.slice(line.text.indexOf('\r\n\r\n')));
    const kept = await inShop(environment, ({ cheeses: { service: cheeses } }) => cheeses.find(id));
    assert.match(kept.body, /"Slow Stilton"/);
    for (const { text } of [line, halfHead]) {
      assert.match(text, /\r\nconnection: close\r\n/i, 'it is told to go on, on a connection that is closed');
    }
  });

  test('A server that is stopped is not ready and still serves new connections during the delay', async (t) => {
    const environment = await freshShop(t, {
      CURD_SECRET: secret,
      CURD_STOP_DELAY: '3s',
      CURD_LOG_LEVEL: 'error',
    });
    const server = await serve(t, environment);
    const ended = stopped(server);
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 503, 'it is still ready');
    const response = await fetch(`${server.url}/healthz`);
    assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
    const { code, stderr, tookMs } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(tookMs >= 3000, `${tookMs}`);
    assert.ok(await isRefused(server.url));
  });

  test('A server that is stopped finishes a running upload, and leaves no files', async (t) => {
    const { server, environment, key } = await start(t);
    const image = await plain(600, 400).png({ compressionLevel: 0 }).toBuffer();
    const form = bodyOf([filePart(image, 'image/png')]);
    const line = await open(t, server.url);
    line.socket.write(
      head(key, '/v2/cheeses/1/uploadImage', [
        `Content-Type: multipart/form-data; boundary=${boundary}`,
        `Content-Length: ${form.length}`,
      ]),
    );
    line.socket.write(form.subarray(0, 1000));
    await sleep(300);
    const ended = stopped(server);
    await sleep(300);
    line.socket.write(form.subarray(1000));
    const { code, stderr, tookMs } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(tookMs < waitedMs, `${tookMs}`);
    await line.closed;
    assert.match(line.text, /^HTTP\/1\.1 200 /);
    const folder = environment.CURD_DATA_DIR ?? '';
    assert.deepEqual(await readdir(join(folder, 'incoming')), []);
    const { imageUrl } = JSON.parse(line.text.slice(line.text.indexOf('\r\n\r\n')));
    assert.ok(namesIn(join(folder, 'images')).includes(nameOf(imageUrl)), imageUrl);
  });

  test('A server that is stopped exits at once on a second signal, with requests still waiting', async (t) => {
    for (const [first, second] of [
      ['SIGTERM', 'SIGTERM'],
      ['SIGINT', 'SIGTERM'],
    ] as const) {
      const { server, environment, key } = await start(t);
      const line = await open(t, server.url);
      line.socket.write(head(key, '/v2/cheeses', ['Content-Type: application/json', 'Content-Length: 9']));
      await sleep(200);
      const ended = server.stop(first);
      assert.equal(await Promise.race([ended, sleep(300)]), undefined, 'it did not wait');
      const began = performance.now();
      const { code } = await server.stop(second);
      assert.equal(code, 1);
      assert.ok(performance.now() - began < waitedMs);
      await inShop(environment, ({ cheeses: { service: cheeses }, contextOf }) =>
        cheeses.create(contextOf('test'), { name: 'The next one' }),
      );
    }
  });
});
