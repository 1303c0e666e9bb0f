/** Webhook requests: signatures, the schedule of attempts, and targets that lead into private networks. */
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { nextAttemptMs } from '../../src/jobs/retry-schedule.ts';
import { deliveryRetries } from '../../src/webhooks/delivery/delivery.ts';
import { parseHosts } from '../../src/webhooks/requests/host-lookup.ts';
import {
  createWebhookSender,
  isPublicAddress,
  parseRetryAfter,
  targetError,
} from '../../src/webhooks/requests/sender.ts';
import { sign } from '../../src/webhooks/requests/signed-request.ts';
import { cleanUp, type Scope, temporaryFolder } from '../context.ts';
import { openNameServer } from './name-server.ts';

suite('Signatures', () => {
  test('Signatures of webhooks are accepted by the reference library, with the old secret and with the new one', () => {
    fc.assert(
      fc.property(fc.json(), (body) => {
        const keys = [randomBytes(32), randomBytes(32)];
        const timestamp = Math.floor(Date.now() / 1000);
        const headers = {
          'webhook-id': 'evt_abcd_1',
          'webhook-timestamp': String(timestamp),
          'webhook-signature': sign(keys, 'evt_abcd_1', timestamp, body),
        };
        for (const key of keys) {
          assert.deepEqual(verifierOf(key).verify(body, headers), JSON.parse(body));
          assert.throws(() => verifierOf(key).verify(`${body} `, headers));
        }
        assert.throws(() => verifierOf(randomBytes(32)).verify(body, headers));
      }),
      { numRuns: 30 },
    );
  });
});

function verifierOf(key: Buffer): Webhook {
  return new Webhook(`whsec_${key.toString('base64')}`);
}

suite('Attempts', () => {
  test('Attempts of a webhook delivery are ten, over 68 to 84 hours', () => {
    const total = (random: number) =>
      Array.from(
        { length: deliveryRetries.waitsMs.length },
        (_, index) => nextAttemptMs(deliveryRetries, index + 1, random) ?? Number.NaN,
      ).reduce((sum, wait) => sum + wait, 0) / 3_600_000;
    assert.equal(deliveryRetries.waitsMs.length, 9);
    assert.equal(nextAttemptMs(deliveryRetries, 10, 0.5), null);
    assert.ok(Math.abs(total(0.5) - 75.6) < 0.1, `${total(0.5)}`);
    assert.ok(total(0) > 68 && total(1) < 84);
  });

  test('Attempts of a webhook delivery wait longer where the receiver asks for it, up to a day', () => {
    assert.equal(nextAttemptMs(deliveryRetries, 1, 0.5, 60_000), 60_000);
    assert.equal(nextAttemptMs(deliveryRetries, 1, 0.5, 1_000_000_000), 24 * 3_600_000);
    assert.equal(nextAttemptMs(deliveryRetries, 1, 0.5, 1), 5000);
  });

  test('Attempts of a webhook delivery understand seconds and dates in Retry-After, and ignore all else', () => {
    const now = Date.parse('2026-06-01T12:00:00Z');
    const texts = ['120', 'Mon, 01 Jun 2026 12:01:00 GMT', 'Mon, 01 Jun 2026 11:00:00 GMT', 'soon', '-5', ''];
    assert.deepEqual(
      texts.map((text) => parseRetryAfter(text, now)),
      [120_000, 60_000, 0, 0, 0, 0],
    );
    assert.equal(parseRetryAfter(undefined, now), 0);
  });
});

const privateAddresses = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.0.3',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '64:ff9b:1::7f00:1',
  '4000::1',
  '5f00::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'no address',
];

suite('Targets in sandbox and production', () => {
  for (const address of privateAddresses) {
    test(`Webhook targets never are ${address}`, () => assert.equal(isPublicAddress(address), false));
  }

  test('Webhook targets may be public addresses', () => {
    for (const address of ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:93.184.216.34']) {
      assert.equal(isPublicAddress(address), true, address);
    }
  });

  test('Webhook targets are https URLs without credentials and private addresses, however these are written', () => {
    for (const url of [
      'http://example.com/',
      'https://user:secret@example.com/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://１２７．０．０．１/',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'ftp://example.com/',
      'nonsense',
    ]) {
      assert.equal(typeof targetError(url, 'public'), 'string', url);
    }
    assert.equal(targetError('https://example.com/hook?shop=1', 'public'), null);
    assert.equal(targetError('http://127.0.0.1:9000/', 'any'), null);
  });

  test('Webhook targets are refused when their name resolves to a private address', async (t) => {
    const sender = createWebhookSender('public', Date.now);
    cleanUp(t, () => sender.close());
    const result = await sender.send({ url: 'https://localhost/', headers: {}, body: '{}' });
    assert.equal(result.status, null);
    assert.match(result.error ?? '', /the IP address is not public/);
  });
});

suite('Hosts', () => {
  test('Hosts of webhook targets are looked up without a thread, so that a dead name server keeps nothing else from connecting', async (t) => {
    const url = new URL(await receiver(t, (_, response) => response.writeHead(204).end()));
    const requestsOf = await openNameServer(t, null);
    let threads = 0;
    const hook = createHook({
      init(_, type) {
        threads += type === 'GETADDRINFOREQWRAP' ? 1 : 0;
      },
    }).enable();
    cleanUp(t, () => hook.disable());
    const sender = createWebhookSender('any', Date.now);
    cleanUp(t, () => sender.close());
    const send = (host: string) =>
      sender.send({ url: `http://${host}:${url.port}/`, headers: {}, body: '{}' });
    const startedAt = performance.now();
    const dead = Array.from({ length: 4 }, (_, index) => send(`dead-${index}.example`));
    assert.equal((await send('localhost')).status, 204);
    assert.equal((await send('shop.localhost')).status, 204);
    for (const { status, error } of await Promise.all(dead)) {
      assert.equal(status, null);
      assert.equal(error, 'the host name could not be looked up: no name server responded');
    }
    assert.ok(performance.now() - startedAt < 10_000);
    assert.ok(requestsOf() >= 16, 'IPv4 and IPv6 are asked for, and again where a packet was lost');
    assert.equal(threads, 0);
  });

  test('Hosts of webhook targets have the addresses that the name server names, or a reason why not', async (t) => {
    const url = new URL(await receiver(t, (_, response) => response.writeHead(204).end()));
    await openNameServer(t, {
      'both.example': ['127.0.0.1', '::1'],
      'six.example': ['::1'],
      'public.example': ['93.184.215.14', '10.0.0.1'],
      'empty.example': [],
    });
    const errorOf = async (targets: 'any' | 'public', host: string) => {
      const sender = createWebhookSender(targets, Date.now);
      cleanUp(t, () => sender.close());
      const scheme = targets === 'any' ? 'http' : 'https';
      const result = await sender.send({
        url: `${scheme}://${host}:${url.port}/`,
        headers: {},
        body: '{}',
      });
      return result.error ?? result.status;
    };
    assert.equal(await errorOf('any', 'both.example'), 204);
    assert.match(String(await errorOf('any', 'six.example')), /refused|cannot be reached|EADDRNOTAVAIL/);
    assert.equal(await errorOf('any', 'empty.example'), 'the host name was not found');
    assert.equal(await errorOf('any', 'unknown.example'), 'the host name was not found');
    assert.equal(await errorOf('public', 'public.example'), 'the IP address is not public');
    assert.equal(await errorOf('public', 'both.example'), 'the IP address is not public');
  });

  test('Hosts of webhook targets may be in /etc/hosts', () => {
    const text = '# 10.0.0.1 one\n127.0.0.1 localhost One one.example # two\n::1\tone\n\nnonsense two\n';
    assert.deepEqual(
      [...parseHosts(text)],
      [
        ['localhost', ['127.0.0.1']],
        ['one', ['127.0.0.1', '::1']],
        ['one.example', ['127.0.0.1']],
      ],
    );
  });
});

async function receiver(
  t: Scope,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

suite('A webhook request', () => {
  test('A webhook request carries the body and headers, and returns the status with the beginning of the response', async (t) => {
    const received: string[] = [];
    const url = await receiver(t, (request, response) => {
      request.setEncoding('utf8').on('data', (chunk) => received.push(chunk));
      request.on('end', () => {
        received.push(String(request.headers['webhook-id']));
        response.writeHead(429, { 'Retry-After': '7' }).end(`no\u0000 ${'x'.repeat(200_000)}`);
      });
    });
    const sender = createWebhookSender('any', Date.now);
    cleanUp(t, () => sender.close());
    const result = await sender.send({ url, headers: { 'webhook-id': 'evt_abcd_1' }, body: '{"a":"ü"}' });
    assert.deepEqual(received, ['{"a":"ü"}', 'evt_abcd_1']);
    assert.deepEqual([result.status, result.error, result.retryAfterMs], [429, null, 7000]);
    assert.equal(result.response.length, 1024);
    assert.match(result.response, /^no\ufffd xxx/);
  });

  test('A webhook request follows no redirect', async (t) => {
    let requests = 0;
    const url = await receiver(t, (_, response) => {
      requests += 1;
      response.writeHead(302, { Location: '/elsewhere' }).end();
    });
    const sender = createWebhookSender('any', Date.now);
    cleanUp(t, () => sender.close());
    assert.equal((await sender.send({ url, headers: {}, body: '{}' })).status, 302);
    assert.equal(requests, 1);
  });

  test('A webhook request ends with the status where the receiver switches protocols', {
    timeout: 10_000,
  }, async (t) => {
    const url = await receiver(t, (_, response) => {
      response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'websocket' }).end();
    });
    const sender = createWebhookSender('any', Date.now);
    cleanUp(t, () => sender.close());
    assert.equal((await sender.send({ url, headers: {}, body: '{}' })).status, 101);
  });

  test('A webhook request fails with a reason where the connection breaks', async (t) => {
    const url = await receiver(t, (request) => request.socket.destroy());
    const sender = createWebhookSender('any', Date.now);
    cleanUp(t, () => sender.close());
    const result = await sender.send({ url, headers: {}, body: '{}' });
    assert.equal(result.status, null);
    assert.match(result.error ?? '', /^the connection was closed before/);
  });

  test('A webhook request fails after 15 s without a complete response', async (t) => {
    const url = await receiver(t, (_, response) => {
      response.writeHead(200).write('a beginning');
    });
    const sender = createWebhookSender('any', Date.now);
    cleanUp(t, () => sender.close());
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const sending = sender.send({ url, headers: {}, body: '{}' });
    t.mock.timers.tick(15_000);
    const result = await sending;
    assert.equal(result.status, null);
    assert.equal(result.error, 'no complete response within 15 s');
  });

  const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

  test('A webhook request fails where the certificate is for another host', {
    skip: !hasOpenssl,
  }, async (t) => {
    const sender = createWebhookSender('any', Date.now);
    cleanUp(t, () => sender.close());
    const statuses: (number | null)[] = [];
    const errors: (string | null)[] = [];
    for (const name of ['localhost', 'other.example']) {
      const { key, cert } = await issueCertificate(t, name);
      trust(t, cert);
      const server = createTlsServer({ key, cert }, (_, response) => response.writeHead(204).end());
      await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
      cleanUp(t, () => {
        server.closeAllConnections();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const result = await sender.send({ url: `https://localhost:${port}/`, headers: {}, body: '{}' });
      statuses.push(result.status);
      errors.push(result.error);
    }
    assert.deepEqual(statuses, [204, null]);
    assert.match(errors[1] ?? '', /does not match certificate/);
  });
});

/** A certificate that is its own authority. */
async function issueCertificate(t: Scope, name: string): Promise<{ key: string; cert: string }> {
  const folder = await temporaryFolder(t);
  const line = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem -out cert.pem -subj /CN=${name} -addext subjectAltName=DNS:${name}`;
  execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'pipe' });
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return { key: read('key.pem'), cert: read('cert.pem') };
}

/** Adds an authority that this process trusts until the end of the test. */
function trust(t: Scope, cert: string): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  cleanUp(t, () => setDefaultCACertificates(before));
}
