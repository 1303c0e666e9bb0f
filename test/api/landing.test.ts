/** The landing page and the other files that browsers request at the root. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { assertError, openShop, shared } from '../helper.ts';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const shop = shared((t) =>
  openShop(t, { settings: { CURD_ENVIRONMENT: 'sandbox', CURD_SHOP_NAME: 'Brie & <b> 🧀' } }),
);

test('GET / returns a page to browsers: name, version, environment and links that lead somewhere', async () => {
  const { status, headers, text } = await shop().request('GET', '/', { headers: { accept: browser } });
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.match(text, /^<!doctype html>\n<html lang="en">/);
  assert.match(text, /<title>Brie &amp; &lt;b&gt; 🧀 \(sandbox\)<\/title>/u);
  assert.ok(text.includes(`Version ${packageJson.version}, environment sandbox.`), text);
  const links = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = '']) => link);
  for (const link of ['/docs', '/openapi.json', '/healthz', '/favicon.ico']) {
    assert.ok(links.includes(link), link);
  }
  for (const link of links) {
    const { status } = await shop().request('GET', link);
    // The console may not be built here.
    assert.ok(status === 200 || (link === '/console' && status === 503), link);
  }
});

test('The landing page runs no script, has no frame, and may apply only its own style', async () => {
  const { headers, text } = await shop().request('GET', '/', { headers: { accept: browser } });
  const policy = headers['content-security-policy'] ?? '';
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; img-src 'self'; form-action 'none'/,
  );
  assert.doesNotMatch(policy, /unsafe/);
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
  const digest = createHash('sha256').update(style).digest('base64');
  assert.ok(policy.includes(`'sha256-${digest}'`), 'browsers would refuse the style');
  assert.equal(headers['x-frame-options'], 'DENY');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.doesNotMatch(text, /<script|<b>|style=|onload/i);
});

test('GET / returns JSON to clients that do not accept HTML', async () => {
  for (const accept of [undefined, '*/*', 'application/json', 'text/html;q=0, */*']) {
    const { status, headers, json } = await shop().request('GET', '/', accept ? { headers: { accept } } : {});
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^application\/json/);
    assert.deepEqual(json, {
      name: 'Brie & <b> 🧀',
      environment: 'sandbox',
      version: packageJson.version,
      api: '/v2',
      docs: '/docs',
      openapi: '/openapi.json',
      health: '/healthz',
      console: '/console',
    });
  }
});

test('Caches keep the two representations of / apart and revalidate them', async () => {
  const tags = new Set<string>();
  for (const accept of [browser, 'application/json']) {
    const { headers } = await shop().request('GET', '/', { headers: { accept } });
    assert.match(headers['cache-control'] ?? '', /no-cache/);
    assert.match(headers.vary ?? '', /\bAccept(,|$)/);
    const { etag = '' } = headers;
    tags.add(etag);
    const again = await shop().request('GET', '/', { headers: { accept, 'if-none-match': etag } });
    assert.deepEqual([again.status, again.text], [304, '']);
  }
  assert.equal(tags.size, 2);
});

test('/favicon.ico is an SVG image without scripts', async () => {
  const { status, headers, text } = await shop().request('GET', '/favicon.ico');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'image/svg+xml');
  assert.equal(headers['cache-control'], 'public, max-age=86400');
  assert.match(headers['content-security-policy'] ?? '', /default-src 'none'; sandbox/);
  assert.match(text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.doesNotMatch(text, /<script|\bon\w+=|href/i);
});

test('/robots.txt disallows everything', async () => {
  const { status, headers, text } = await shop().request('GET', '/robots.txt');
  assert.equal(status, 200);
  assert.match(headers['content-type'] ?? '', /^text\/plain/);
  assert.equal(text, 'User-agent: *\nDisallow: /\n');
});

test('GET of an unknown URL is a page for browsers, with links that lead somewhere', async () => {
  for (const url of ['/shop/cheeses.html', '/docs/nothing', '/v2/nothing', '/%zz', '/console/a.txt']) {
    const { status, headers, text } = await shop().request('GET', url, { headers: { accept: browser } });
    assert.equal(status, 404, url);
    assert.equal(headers['content-type'], 'text/html; charset=utf-8', url);
    assert.equal(headers['cache-control'], 'no-store');
    assert.match(headers['content-security-policy'] ?? '', /^default-src 'none'; style-src 'sha256-/);
    assert.match(text, /<h1>There is nothing at this URL<\/h1>/);
    assert.match(text, /<title>Not found - Brie &amp; &lt;b&gt; 🧀<\/title>/u);
    const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link);
    assert.deepEqual(links, ['/', '/console', '/docs']);
  }
});

test('An unknown URL is JSON for clients of the API, and so is an unknown resource of the API', async () => {
  const accepts = ['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0', undefined];
  for (const accept of accepts) {
    const headers = accept === undefined ? {} : { accept };
    assertError(await shop().request('GET', '/shop/cheeses.html', { headers }), 404, 'not_found');
  }
  const headers = { accept: browser };
  assertError(await shop().request('POST', '/nothing', { headers }), 404, 'not_found');
  assertError(await shop().request('POST', '/', { headers }), 405, 'method_not_allowed');
  const { reader } = shop();
  assertError(
    await shop().request('GET', '/v2/cheeses/987654321', { as: reader, headers }),
    404,
    'not_found',
  );
});
