/** Differences between environments on real servers: keys, plans, headers of every response, and required settings. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { suite, type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/settings/config.ts';
import { ConfigError } from '../../src/settings/parsers.ts';
import { bodyOf, boundary, filePart } from '../api/image-forms.ts';
import { secret } from '../context.ts';
import { cleanUp, temporaryFolder } from '../helper.ts';
import { accountWithKey, freshShop, type RunningServer, serve, storeEnvironmentOf } from './run.ts';

const https = 'https://cheese.example';

interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** Sends bytes and reads the status and headers of the response. */
async function exchange(
  t: TestContext,
  { url }: RunningServer,
  bytes: string | Uint8Array,
): Promise<RawResponse> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  cleanUp(t, () => socket.destroy());
  socket.setTimeout(5000, () => socket.destroy(new Error('no response within 5 s')));
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) {
    text += chunk;
    if (text.includes('\r\n\r\n')) {
      break;
    }
  }
  const [first = '', ...lines] = text.split('\r\n\r\n', 1)[0]?.split('\r\n') ?? [];
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(first.slice(9, 12)), headers: new Map(headers) };
}

const request = (line: string, headers: readonly string[] = [], body = '') =>
  [`${line} HTTP/1.1`, 'Host: shop', ...headers, '', body].join('\r\n');

/** Requests for every kind of response: of routes, of the server around them, of the OAuth library, of Node. */
function requestsOfEveryKind(key: string): [bytes: string, status: number][] {
  const form = bodyOf([filePart('no image')]).toString('latin1');
  const upload = [`X-API-Key: ${key}`, `Content-Type: multipart/form-data; boundary=${boundary}`];
  const as = [`X-API-Key: ${key}`];
  return [
    [request('GET /healthz'), 200],
    [request('GET /readyz'), 200],
    [request('GET /openapi.json'), 200],
    [request('GET /docs'), 200],
    [request('GET /v2/cheeses', as), 200],
    [request('HEAD /v2/cheeses', as), 200],
    [request('OPTIONS /v2/cheeses'), 204],
    [request('GET /v2/cheeses'), 401],
    [request('GET /v2/cheeses', ['X-API-Key: nonsense']), 401],
    [request('GET /v2/cheeses/999999', as), 404],
    [request('GET /nowhere'), 404],
    [request('GET /v2/cheeses/%zz', as), 404],
    [request('PATCH /v2/cheeses'), 405],
    [request('GET /v2/cheeses?limit=0', as), 400],
    [request('POST /v2/customer', ['Content-Type: application/json', 'Content-Length: 1'], '{'), 422],
    [request('POST /v2/customer', ['Content-Type: text/plain', 'Content-Length: 1'], '{'), 415],
    [request('POST /v2/customer', ['Content-Type: application/json', 'Content-Length: 2000000']), 413],
    [request('POST /v2/cheeses/1/uploadImage', [...upload, `Content-Length: ${form.length}`], form), 403],
    [request('GET /images/nothing.webp'), 404],
    [request('GET /.well-known/oauth-authorization-server'), 200],
    [request('GET /oauth/authorize'), 400],
    [request('GET /v2/oauth/authorize'), 302],
    [request('GET /oauth/interaction/none'), 400],
    [request('GET /oauth/logout'), 200],
    [request('GET /oauth/style.css'), 200],
    [request('POST /oauth/token', ['Content-Length: 0']), 401],
    [request('POST /oauth/introspect', ['Content-Length: 0']), 401],
    ['GET /healthz HTTP/1.1\r\n\r\n', 400],
    ['NONSENSE\r\n\r\n', 400],
    [request('GET /healthz', [`X-Long: ${'x'.repeat(20_000)}`]), 431],
    [request('GET /healthz', ['Expect: nonsense']), 417],
    [
      request(
        'POST /v2/customer',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        'ZZ\r\n',
      ),
      400,
    ],
  ];
}

async function assertOnEveryResponse(
  t: TestContext,
  server: RunningServer,
  key: string,
  expected: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const missing: string[] = [];
  for (const [bytes, status] of requestsOfEveryKind(key)) {
    const what = bytes.split('\r\n', 1)[0];
    const response = await exchange(t, server, bytes);
    assert.equal(response.status, status, bytes.slice(0, 300));
    for (const [name, value] of Object.entries(expected)) {
      const given = response.headers.get(name);
      if (given !== value) {
        missing.push(`${status} ${what}: ${name} is ${given}`);
      }
    }
  }
  assert.deepEqual(missing, []);
}

const quotaOf = async ({ url }: RunningServer, key: string) => {
  const response = await fetch(`${url}/v2/cheeses`, { headers: { 'X-API-Key': key } });
  await response.arrayBuffer();
  return [response.status, response.headers.get('ratelimit-policy')];
};

suite('An environment', { concurrency: 2 }, () => {
  test('The environment local accepts keys of both types and is named in every response', async (t) => {
    const shop = await freshShop(t);
    const { key } = await accountWithKey(shop);
    const { key: live } = await accountWithKey(shop, [], { type: 'live' });
    const server = await serve(t, shop);
    assert.equal(await server.statusFor(key), 200);
    assert.equal(await server.statusFor(live), 200);
    await assertOnEveryResponse(t, server, key, {
      'x-environment': 'local',
      'x-content-type-options': 'nosniff',
      'strict-transport-security': undefined,
    });
  });

  test('The environment sandbox accepts only test keys, has a demo catalogue, and plans with ten times the limits', async (t) => {
    const shop = await freshShop(t, { CURD_ENVIRONMENT: 'sandbox', CURD_SECRET: secret });
    // A database that was copied may contain keys of another environment.
    const local = { ...shop, CURD_ENVIRONMENT: 'local' };
    const { key: live } = await accountWithKey(local, [], { type: 'live' });
    await storeEnvironmentOf(local, 'sandbox');
    const { key } = await accountWithKey(shop);
    const server = await serve(t, shop);
    assert.doesNotMatch(server.greeting, /sk_/);
    assert.deepEqual(await quotaOf(server, key), [200, '"hour";q=1000;w=3600, "burst";q=100;w=1']);
    assert.equal(await server.statusFor(live), 401);
    const { plans } = (await (await fetch(`${server.url}/v2/limits`)).json()) as { plans: object };
    assert.deepEqual(plans, {
      free: { perHour: 1000, burst: 100 },
      pro: { perHour: 100_000, burst: 1000 },
      enterprise: { perHour: null, burst: 10_000 },
    });
    const cheeses = await fetch(`${server.url}/v2/cheeses`, { headers: { 'X-API-Key': key } });
    assert.ok(((await cheeses.json()) as { total: number }).total >= 20);
    await assertOnEveryResponse(t, server, key, { 'x-environment': 'sandbox' });
  });

  test('The environment production accepts only live keys and sends Strict-Transport-Security with every response', async (t) => {
    const settings = { CURD_ENVIRONMENT: 'production', CURD_SECRET: secret, CURD_PUBLIC_URL: https };
    const shop = await freshShop(t, settings);
    const local = { ...shop, CURD_ENVIRONMENT: 'local' };
    const { key: testKey } = await accountWithKey(local);
    await storeEnvironmentOf(local, 'production');
    const { key: slow } = await accountWithKey(shop);
    const { key } = await accountWithKey(shop, [], { plan: 'enterprise' });
    const server = await serve(t, shop);
    assert.deepEqual(await quotaOf(server, slow), [200, '"hour";q=100;w=3600, "burst";q=10;w=1']);
    assert.equal(await server.statusFor(testKey), 401);
    const metadata = await fetch(`${server.url}/.well-known/oauth-authorization-server`);
    assert.equal(((await metadata.json()) as { issuer: string }).issuer, https);
    await assertOnEveryResponse(t, server, key, {
      'x-environment': 'production',
      'strict-transport-security': 'max-age=31536000',
    });
  });
});

test('Production accepts loopback hosts without https, but no similar names', async (t) => {
  const settings = {
    CURD_DATA_DIR: await temporaryFolder(t),
    CURD_ENVIRONMENT: 'production',
    CURD_SECRET: secret,
  };
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    assert.equal(
      loadConfig({ ...settings, CURD_PUBLIC_URL: `http://${host}:8080` }).publicUrl,
      `http://${host}:8080`,
    );
  }
  for (const host of [
    'localhost.example',
    '127.0.0.1.example',
    '127.0.0.1@cheese.example',
    '0.0.0.0:8080',
    '192.168.0.1',
    '[::]',
  ]) {
    assert.throws(
      () => loadConfig({ ...settings, CURD_PUBLIC_URL: `http://${host}` }),
      (error) => error instanceof ConfigError && /CURD_PUBLIC_URL.*https/.test(error.message),
      host,
    );
  }
});
