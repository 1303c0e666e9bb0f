/** A database that another transaction locks: OAuth requests are 503 like all others, and the log has no line for each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPostgres } from '../../src/database/postgres/postgres.ts';
import { curdJson, freshShop, serve } from '../cli/run.ts';
import { cleanUp, createDatabase, secret } from '../context.ts';
import { basic } from './flow.ts';

const callback = 'https://app.example.com/cb';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

test('OAuth requests are 503 with Retry-After while PostgreSQL is locked, logged once and without a stack per request', async (t) => {
  const url = await createDatabase(t, 'template_curd');
  const environment = await freshShop(t, { CURD_DATABASE: url, CURD_SECRET: secret });
  const server = await serve(t, environment);
  const options = ['--account', 'local', '--scope', 'read:cheeses'];
  const browser = await curdJson(
    environment,
    'clients',
    'create',
    'Diary',
    ...options,
    '--redirect-uri',
    callback,
  );
  const machine = await curdJson(
    environment,
    'clients',
    'create',
    'Sync',
    ...options,
    '--grant',
    'client_credentials',
  );
  const database = openPostgres(url);
  cleanUp(t, () => database.close());
  const query = new URLSearchParams({
    client_id: browser.clientId,
    redirect_uri: callback,
    response_type: 'code',
    state: 'xyz',
    scope: 'read:cheeses',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const authorize = () => fetch(`${server.url}/oauth/authorize?${query}`, { redirect: 'manual' });
  const post = (endpoint: string, body: Record<string, string>) =>
    fetch(`${server.url}/oauth/${endpoint}`, {
      method: 'POST',
      headers: { authorization: basic(machine.clientId, machine.clientSecret) },
      body: new URLSearchParams(body),
    });
  const grant = { grant_type: 'client_credentials' };
  assert.equal((await authorize()).status, 303);
  assert.equal((await post('token', grant)).status, 200);

  for (const table of ['oauth_object', 'oauth_client']) {
    await database.exclusiveTransaction(async (_tx, runScript) => {
      await runScript(`lock table ${table} in access exclusive mode`);
      const pages = Array.from({ length: 3 }, authorize);
      const endpoints = [
        post('token', grant),
        post('revoke', { token: 'x' }),
        post('introspect', { token: 'x' }),
      ];
      for (const response of await Promise.all([...pages, ...endpoints])) {
        const text = await response.text();
        assert.equal(response.status, 503, `${response.url} ${text}`);
        assert.ok(Number(response.headers.get('retry-after')) > 0);
        assert.equal(response.headers.get('cache-control'), 'no-store');
        assert.equal(response.headers.get('location'), null);
      }
      for (const response of await Promise.all(pages)) {
        assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      }
    });
  }
  assert.equal((await authorize()).status, 303);
  assert.equal((await post('token', grant)).status, 200);

  const { stderr } = await server.stop();
  const lines = stderr.split('\n').filter((line) => line.includes('"route":"/'));
  assert.ok(lines.length >= 2 && lines.length <= 6, stderr);
  assert.doesNotMatch(stderr, /"level":"error".*the authorization server failed/);
});
