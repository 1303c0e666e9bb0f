/** The reference page: its HTML and its caching. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop, shared } from '../helper.ts';

const shop = shared((t) => openShop(t));

test('The reference page declares its language and contains no placeholder that looks like a key', async () => {
  const { text } = await shop().request('GET', '/docs');
  assert.match(text, /^<!doctype html>\s*<html lang="en">/i);
  const [, script = ''] = /<script src="([^"]+)"/.exec(text) ?? [];
  const { status, text: code } = await shop().request('GET', script);
  assert.equal(status, 200);
  assert.doesNotMatch(code, /placeholder:`[\w+/=-]{16,}`/);
  assert.match(code, /placeholder:`Key or token`/);
});

test('The reference page and the OpenAPI document return 304 when If-None-Match is current', async () => {
  for (const path of ['/docs', '/openapi.json', '/v2/openapi.json']) {
    const first = await shop().request('GET', path);
    assert.equal(first.headers['cache-control'], 'private, no-cache', path);
    assert.match(first.headers.vary ?? '', /Accept-Encoding/, path);
    const { etag = '' } = first.headers;
    assert.notEqual(etag, '', path);
    const again = await shop().request('GET', path, { headers: { 'if-none-match': etag } });
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag], path);
  }
});

test('The reference page has guides, and uses the icon of the other pages as its logo', async () => {
  const { json } = await shop().request('GET', '/openapi.json');
  const headings = [...json.info.description.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  assert.deepEqual(headings, [
    'Authentication',
    'Pagination',
    'Errors',
    'Limits',
    'Idempotency',
    'Conditional requests',
  ]);
  const { text } = await shop().request('GET', '/docs');
  assert.match(text, /url\(\/favicon\.ico\)/);
});
