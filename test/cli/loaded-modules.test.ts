/** Modules that a server loads: the large ones only when a request needs them. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp, temporaryFolder, until } from '../context.ts';
import { curd, curdProcess, freshShop, inShop, serve } from './run.ts';

const large = ['oidc-provider', 'sharp', '@node-rs/argon2', '@modelcontextprotocol/server'];

/** Appends the URL of each module that a process loads to the file in LOADED_MODULES, a line each. */
const recorder = `
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED_MODULES, url + '\\n');
      return next(url, context);
    },
  });`;

/** The modules in such a file, with the sources of each file of the bundle. */
function readModules(log: string): string {
  const urls = readFileSync(log, 'utf8').trim().split('\n');
  const maps = urls
    .map((url) => `${url}.map`)
    .filter((map) => map.includes('/lib/') && existsSync(new URL(map)));
  return [...urls, ...maps.flatMap((map) => JSON.parse(readFileSync(new URL(map), 'utf8')).sources)].join(
    '\n',
  );
}

test('curd serve loads oidc-provider and MCP with the first request to them, and sharp and argon2 in no server process', async (t) => {
  const log = join(await temporaryFolder(t), 'modules');
  const server = await serve(t, {
    ...(await freshShop(t)),
    LOADED_MODULES: log,
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(recorder)}"`,
  });
  cleanUp(t, () => server.stop());
  const isLoaded = (name: string) => readModules(log).includes(`/node_modules/${name}/`);

  assert.equal(await server.statusFor(server.firstKey ?? ''), 200);
  assert.ok(isLoaded('fastify'), 'the recorder sees packages');
  // The table of verbs is data, for the samples of the reference.
  assert.doesNotMatch(
    readModules(log),
    /\/client\/(?!src\/areas\/verbs\.json)|eventsource-parser|standardwebhooks|oauth4webapi/,
  );
  assert.deepEqual(large.filter(isLoaded), []);

  const authorization = await fetch(`${server.url}/oauth/authorize?client_id=unknown`, {
    redirect: 'manual',
  });
  assert.equal(authorization.status, 400);
  assert.deepEqual(large.filter(isLoaded), ['oidc-provider']);

  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const atMcp = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': server.firstKey ?? '' },
    body: JSON.stringify(message),
  });
  assert.equal(atMcp.status, 200);
  const loaded = ['oidc-provider', '@modelcontextprotocol/server'];
  assert.deepEqual(large.filter(isLoaded), loaded);

  // Worker processes handle passwords and images. The recorder is not active there.
  const login = await fetch(`${server.url}/v2/customer/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'unknown', password: 'Roquefort 9' }),
  });
  assert.equal(login.status, 401);
  assert.deepEqual(large.filter(isLoaded), loaded);
});

test('curd serve loads the modules that send webhooks with the first endpoint', async (t) => {
  const log = join(await temporaryFolder(t), 'modules');
  const shop = { ...(await freshShop(t)), CURD_ENVIRONMENT: 'local' };
  const server = await serve(t, {
    ...shop,
    LOADED_MODULES: log,
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(recorder)}"`,
  });
  cleanUp(t, () => server.stop());
  const isLoaded = (name: string) => readModules(log).includes(name);
  const modules = ['/src/webhooks/delivery/engine.ts', '/src/webhooks/requests/sender.ts'];
  assert.ok(isLoaded('/src/webhooks/delivery/worker.ts'), 'the recorder sees modules of the server');
  const atStart = modules.filter(isLoaded);
  const key = await inShop(shop, async ({ auth: { keys }, contextOf }) => {
    const account = await keys.createAccount(contextOf('test'), 'webhooks');
    return (await keys.create(contextOf('test'), account.id, { scopes: ['admin'] })).key;
  });
  const response = await fetch(`${server.url}/v2/webhook-endpoints`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ url: 'http://127.0.0.1:9/hook' }),
  });
  assert.equal(response.status, 201, await response.text());
  await until(async () => isLoaded('/src/webhooks/delivery/engine.ts'));
  assert.deepEqual(atStart, []);
});

test('A command that opens the shop loads no HTTP server', async (t) => {
  const log = join(await temporaryFolder(t), 'modules');
  const shop = await freshShop(t, { CURD_ENVIRONMENT: 'local' });
  assert.equal((await curd(shop, 'migrate')).code, 0);
  const { code, stderr } = await curdProcess(
    {
      ...shop,
      LOADED_MODULES: log,
      NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(recorder)}"`,
    },
    'stock',
    'list',
  );
  assert.equal(code, 0, stderr);
  const modules = readModules(log);
  assert.ok(modules.includes('/src/app/compose.ts'), 'the recorder sees the shop');
  assert.doesNotMatch(modules, /\/node_modules\/fastify\//);
});
