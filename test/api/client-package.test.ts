/** GET /client.tgz and /client/browser.js: the client that fits this server. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { clientPackageRoutes } from '../../src/app/client-package.ts';
import { AppError } from '../../src/errors.ts';
import { Asset } from '../../src/http/responses/asset.ts';
import { temporaryFolder } from '../context.ts';
import { openShop } from '../helper.ts';

test('The client package has a media type and an ETag, needs no credential and is not compressed again', async (t) => {
  const shop = await openShop(t);
  const headers = { 'accept-encoding': 'gzip' };
  const { status, headers: received } = await shop.request('GET', '/client.tgz', { headers });
  assert.equal(status, 200, 'run "npm run build" first');
  assert.equal(received['content-type'], 'application/gzip');
  assert.equal(received['content-encoding'], undefined);
  const again = await shop.request('GET', '/client.tgz', {
    headers: { 'if-none-match': String(received.etag) },
  });
  assert.equal(again.status, 304);
});

test('The browser client is a compressed module that pages of other origins may import and browsers cache', async (t) => {
  const shop = await openShop(t);
  const url = '/client/browser.js';
  const headers = { 'accept-encoding': 'gzip', origin: 'https://shop.example' };
  const { statusCode, headers: received, rawPayload } = await shop.app.server.inject({ url, headers });
  assert.equal(statusCode, 200, 'run "npm run build" first');
  assert.match(gunzipSync(rawPayload).toString(), /^\/\* @curd\/client\/browser \d+\.\d+\.\d+ \*\//);
  assert.equal(received['content-type'], 'text/javascript; charset=utf-8');
  assert.equal(received['access-control-allow-origin'], '*');
  assert.equal(received['cache-control'], 'public, max-age=300, stale-while-revalidate=86400');
  const again = await shop.request('GET', url, { headers: { 'if-none-match': String(received.etag) } });
  assert.deepEqual([again.status, again.headers['cache-control']], [304, received['cache-control']]);
});

test('A client that is not built is 503 with the remedy, until it is built', async (t) => {
  const folder = await temporaryFolder(t);
  for (const [index, name] of ['client.tgz', 'browser.js'].entries()) {
    const route = clientPackageRoutes(pathToFileURL(`${folder}/`))[index];
    const handle = () => route?.handle({} as never) as Promise<{ body: unknown }>;
    await assert.rejects(
      handle(),
      (error) => error instanceof AppError && /npm run build/.test(error.message),
    );
    writeFileSync(join(folder, name), Buffer.from([1, 2, 3]));
    const { body } = await handle();
    assert.ok(body instanceof Asset && body.bytes.equals(Buffer.from([1, 2, 3])));
  }
});
