/** Modules that a server loads: the large ones only when a request needs them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp, temporaryFolder } from '../context.ts';
import { freshShop, serve } from './run.ts';

const large = ['oidc-provider', 'sharp', '@node-rs/argon2'];

/** Appends the URL of each module that a process loads to the file in LOADED_MODULES. */
const recorder = `
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED_MODULES, url + '\\n');
      return next(url, context);
    },
  });`;

test('serve loads oidc-provider with the first OAuth request, and sharp and argon2 in no server process', async (t) => {
  const log = join(await temporaryFolder(t), 'modules');
  const server = await serve(t, {
    ...(await freshShop(t)),
    LOADED_MODULES: log,
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(recorder)}"`,
  });
  cleanUp(t, () => server.stop());
  const isLoaded = (name: string) => readFileSync(log, 'utf8').includes(`/node_modules/${name}/`);

  assert.equal(await server.statusFor(server.firstKey ?? ''), 200);
  assert.ok(isLoaded('fastify'), 'the recorder sees packages');
  assert.doesNotMatch(
    readFileSync(log, 'utf8'),
    /\/client\/|eventsource-parser|standardwebhooks|oauth4webapi/,
  );
  assert.deepEqual(large.filter(isLoaded), []);

  const authorization = await fetch(`${server.url}/oauth/authorize?client_id=unknown`, {
    redirect: 'manual',
  });
  assert.equal(authorization.status, 400);
  assert.deepEqual(large.filter(isLoaded), ['oidc-provider']);

  // Worker processes handle passwords and images. The recorder is not active there.
  const login = await fetch(`${server.url}/v2/customer/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'unknown', password: 'Roquefort 9' }),
  });
  assert.equal(login.status, 401);
  assert.deepEqual(large.filter(isLoaded), ['oidc-provider']);
});
