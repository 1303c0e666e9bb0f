/** GET /client.tgz: the client that fits this server. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { clientPackageRoute } from '../../src/app/client-package.ts';
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

test('A client package that is not built is 503 with the remedy, until it is built', async (t) => {
  const file = join(await temporaryFolder(t), 'client.tgz');
  const route = clientPackageRoute(pathToFileURL(file));
  const handle = () => route.handle({} as never) as Promise<{ body: unknown }>;
  await assert.rejects(handle(), (error) => error instanceof AppError && /npm run build/.test(error.message));
  writeFileSync(file, Buffer.from([1, 2, 255]));
  const { body } = await handle();
  assert.ok(body instanceof Asset && body.bytes.equals(Buffer.from([1, 2, 255])));
});
