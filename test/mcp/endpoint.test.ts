/** The MCP endpoint itself: credentials, origins, sizes and messages that are not valid. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { suite, test } from 'node:test';
import { loadConfig } from '../../src/settings/config.ts';
import { assertError, openListeningShop, openShop, secret, shared } from '../helper.ts';
import { orderOf } from '../shop-verbs.ts';
import { agentKey, newest, run, send } from './clients.ts';

const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** A message of the newest revision, with the headers that it needs. */
function modern(method: string, params: object = {}, id: unknown = 7) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': newest,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    headers: { 'MCP-Protocol-Version': newest, 'Mcp-Method': method },
    body: { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } },
  };
}

suite('POST /mcp', () => {
  const scene = shared(async (t) => {
    const shop = await openListeningShop(t, { settings: { CURD_CORS_ORIGINS: 'https://inspector.example' } });
    return { shop, key: await agentKey(shop) };
  });
  const post = (
    headers: Readonly<Record<string, string>>,
    raw: string | Uint8Array = JSON.stringify(listTools),
  ) => scene().shop.request('POST', '/mcp', { as: scene().key, raw, headers });

  test('POST /mcp returns 403 for a foreign Origin, and 200 for ours, a permitted one and none', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      'http://127.0.0.1',
      `${scene().shop.url}.evil.example`,
    ]) {
      assertError(await post({ origin }), 403, 'forbidden');
    }
    const ours = scene().shop.app.issuer();
    for (const origin of [{ origin: ours }, { origin: 'https://inspector.example' }, {}]) {
      assert.equal((await post(origin)).status, 200, JSON.stringify(origin));
    }
    const anyOrigin = await scene().shop.another({ corsOrigins: ['*'] });
    const headers = { origin: 'https://evil.example' };
    assertError(
      await anyOrigin.request('POST', '/mcp', { as: scene().key, body: listTools, headers }),
      403,
      'forbidden',
    );
  });

  test('POST /mcp is the only method: others are 405', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'HEAD']) {
      const { status, headers } = await scene().shop.request(method, '/mcp', { as: scene().key });
      assert.equal(status, 405, method);
      assert.equal(headers.allow, 'OPTIONS, POST');
    }
  });

  test('POST /mcp returns 413 over 64 KiB, and 200 at 64 KiB', async () => {
    const text = JSON.stringify(listTools);
    assert.equal((await post({}, text + ' '.repeat(64 * 1024 - text.length))).status, 200);
    const refused = await post({}, text + ' '.repeat(64 * 1024 + 1 - text.length));
    assertError(refused, 413, 'payload_too_large');
    assert.match(refused.json.message, /64 KiB/);
  });

  test('POST /mcp returns 415 for text/plain, forms and compressed bodies', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      assertError(await post({ 'content-type': type }), 415, 'unsupported_media_type');
    }
    assertError(await post({ 'content-encoding': 'gzip' }), 415, 'unsupported_media_type');
  });

  test('POST /mcp returns 400 for a batch, for what is no JSON, and for JSON that is too deep or has too many values', async () => {
    for (const raw of [
      JSON.stringify([listTools, listTools]),
      '[]',
      '{"jsonrpc":"2.0"',
      '',
      'null',
      '7',
      '{"id":1,"method":"tools/list"}',
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[${'0,'.repeat(20_000)}0]}`,
    ]) {
      assertError(await post({}, raw), 400, 'bad_request');
    }
  });

  test('POST /mcp returns 400 for more than 1,000 values, each of which an error could describe', async () => {
    const initialize = (icons: number) => {
      const clientInfo = { name: 'test', version: '1', icons: Array(icons).fill(1) };
      const params = { protocolVersion: '2025-06-18', clientInfo, capabilities: {} };
      return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    };
    const refused = await post({}, initialize(1000));
    assertError(refused, 400, 'bad_request');
    assert.match(refused.json.message, /1000 values/);
    const long = await post({}, initialize(980));
    assert.equal(long.status, 200);
    assert.ok(long.text.length < 300_000, `${long.text.length} bytes`);
  });

  test('POST /mcp returns 400 with a JSON-RPC error for messages that are not of the protocol', async () => {
    const { shop, key } = scene();
    const { headers, body } = modern('tools/list');
    const { 'Mcp-Method': _, ...withoutMethod } = headers;
    for (const request of [
      { body: { jsonrpc: '1.0', id: 1, method: 'tools/list' } },
      { body: { jsonrpc: '2.0', id: {}, method: 'tools/list' } },
      { body: { jsonrpc: '2.0', id: 1, method: 7 } },
      { body: { jsonrpc: '2.0' } },
      { body: listTools, headers: { 'MCP-Protocol-Version': '1999-01-01' } },
      { body, headers: withoutMethod },
      { body, headers: { ...headers, 'MCP-Protocol-Version': '2025-11-25' } },
    ]) {
      const { status, json } = await shop.request('POST', '/mcp', { as: key, ...request });
      assert.equal(status, 400, JSON.stringify(request));
      assert.equal(typeof json.error.code, 'number', JSON.stringify(request));
    }
  });

  test('POST /mcp knows no other tools and methods, and neither subscriptions, resources nor prompts', async () => {
    const { shop, key } = scene();
    const call = modern('tools/call', { name: 'drop_tables', arguments: {} });
    const named = { ...call, headers: { ...call.headers, 'Mcp-Name': 'drop_tables' } };
    const unknown = await shop.request('POST', '/mcp', { as: key, ...named });
    assert.equal(unknown.json.error.code, -32602);
    assert.match(unknown.json.error.message, /search_cheeses/);
    assert.equal((await send(shop, key, 'tools/call', { name: 'toString' })).json.error.code, -32602);
    for (const method of [
      ...['subscriptions/listen', 'resources/list', 'prompts/list', 'completion/complete'],
      ...['logging/setLevel', 'sampling/createMessage', 'constructor'],
    ]) {
      const { status, json } = await shop.request('POST', '/mcp', { as: key, ...modern(method) });
      assert.deepEqual([status, json.error.code, json.id], [404, -32601, 7], method);
      assert.equal((await send(shop, key, method)).json.error.code, -32601, method);
    }
    assert.equal((await post({}, '{"jsonrpc":"2.0","method":"notifications/initialized"}')).status, 202);
  });

  test('POST /mcp returns 401 that names the metadata, without a credential, with an unknown one and with a session', async () => {
    const { shop } = scene();
    const metadata = `resource_metadata="${shop.app.issuer()}/.well-known/oauth-protected-resource/mcp"`;
    const customer = {
      username: 'session',
      email: 'session@example.com',
      password: 'a cellar full of wheels',
    };
    assert.equal((await shop.request('POST', '/v2/customer', { body: customer })).status, 201);
    const { username, password } = customer;
    const login = await shop.request('POST', '/v2/customer/login', { body: { username, password } });
    const session: Record<string, string> = { authorization: `Bearer ${login.json.token}` };
    const credentials: Record<string, string>[] = [
      {},
      { 'x-api-key': 'sk_test_unknown' },
      session,
      { ...session, 'x-api-key': scene().key },
    ];
    for (const headers of credentials) {
      const response = await shop.request('POST', '/mcp', { body: listTools, headers });
      assertError(response, 401, 'unauthorized');
      assert.equal(response.headers['www-authenticate']?.slice(-metadata.length), metadata);
    }
  });

  test('POST /mcp returns 403 that names the missing scope and the metadata', async () => {
    const { shop } = scene();
    const params = { name: 'place_order', arguments: orderOf(1) };
    const { headers, body } = modern('tools/call', params);
    for (const request of [
      { headers: { ...headers, 'Mcp-Name': 'place_order' }, body },
      { body: { ...listTools, method: 'tools/call', params } },
    ]) {
      const response = await shop.request('POST', '/mcp', { as: shop.reader, ...request });
      assertError(response, 403, 'forbidden');
      assert.match(
        response.headers['www-authenticate'] ?? '',
        /error="insufficient_scope", scope="write:orders", resource_metadata="http.*\/mcp"$/,
      );
    }
    // A plain API key reads without scopes, as over HTTP.
    assert.equal((await run(shop, shop.reader, 'search_cheeses', {})).isError, undefined);
  });

  test('POST /mcp returns 400 for a dry run, and closes a connection whose body does not arrive', async (t) => {
    assertError(await post({ 'dry-run': 'true' }), 400, 'bad_request');
    const slow = await openListeningShop(t, { settings: { CURD_REQUEST_TIMEOUT: '1s' } });
    const key = await agentKey(slow);
    const socket = connectSocket(slow.port, '127.0.0.1');
    socket.setEncoding('utf8');
    let received = '';
    socket.on('data', (text) => {
      received += text;
    });
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await once(socket, 'close');
    assert.match(received, /^HTTP\/1\.1 408 /);
  });

  test('POST /mcp returns 429 with Retry-After where the rate limit refuses the request', async (t) => {
    const shop = await openShop(t, { settings: { CURD_PLANS: '{"enterprise":{"perHour":2,"burst":100}}' } });
    const key = await agentKey(shop);
    const statuses = [];
    for (let index = 0; index < 3; index += 1) {
      statuses.push((await send(shop, key, 'tools/list')).status);
    }
    assert.deepEqual(statuses, [200, 200, 429]);
  });
});

suite('CURD_MCP', () => {
  test('CURD_MCP=off has neither the MCP endpoint nor its metadata', async (t) => {
    const shop = await openShop(t, { settings: { CURD_MCP: 'off' } });
    assertError(await shop.request('POST', '/mcp', { as: shop.admin, body: listTools }), 404, 'not_found');
    assertError(await shop.request('GET', '/.well-known/oauth-protected-resource/mcp'), 404, 'not_found');
  });

  test('CURD_MCP is off by default in production alone', () => {
    const of = (CURD_ENVIRONMENT: string) =>
      loadConfig({
        CURD_ENVIRONMENT,
        CURD_SECRET: secret,
        CURD_PUBLIC_URL: 'https://cheese.example',
        CURD_DATABASE: 'postgres://localhost/x',
      }).mcp;
    assert.deepEqual(['local', 'sandbox', 'production'].map(of), ['on', 'on', 'off']);
  });
});
