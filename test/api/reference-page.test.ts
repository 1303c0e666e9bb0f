/** The reference: pages that are readable without a script, and forms that send requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop, shared } from '../helper.ts';

const shop = shared((t) => openShop(t));

const page = async (path: string) => {
  const { status, text, headers } = await shop().request('GET', path);
  return { status, text, headers };
};

test('Every operation and every schema of the OpenAPI document has a reference page that is linked from /docs', async () => {
  const { json } = await shop().request('GET', '/openapi.json');
  const { text: overview } = await page('/docs');
  const operations = Object.values<Record<string, { operationId: string; summary: string }>>(json.paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId, summary }) => [`/docs/operations/${operationId}`, summary] as const);
  const schemas = Object.keys(json.components.schemas).map(
    (name) => [`/docs/schemas/${name}`, name] as const,
  );
  assert.ok(operations.length > 100 && schemas.length > 80);
  for (const [path, heading] of [...operations, ...schemas]) {
    assert.ok(overview.includes(`href="${path}"`), path);
    const { status, text } = await page(path);
    assert.equal(status, 200, path);
    const [, found = ''] = /<h1>(.+)<\/h1>/.exec(text) ?? [];
    assert.equal(found.replaceAll('&#39;', "'"), heading, path);
    assert.doesNotMatch(
      text,
      /undefined|\[object|<script(?! type="module" src="\/docs\/send-request\.js"><)/,
      path,
    );
  }
});

test('A link from a reference page to another one, or to a heading, leads somewhere', async () => {
  const known = new Set<string>();
  const { text: overview } = await page('/docs');
  const idsIn = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  for (const path of [
    '/docs',
    '/docs/operations/listCheeses',
    '/docs/schemas/Order',
    '/docs/operations/getReference',
  ]) {
    const { text } = await page(path);
    for (const [, href = ''] of text.matchAll(/href="([^"]+)"/g)) {
      const [target = '', anchor] = href.split('#');
      if (anchor !== undefined && (target === '' || target === '/docs')) {
        assert.ok(idsIn(target === '' ? text : overview).includes(anchor), `${path}: ${href}`);
      } else if (target.startsWith('/') && !known.has(target)) {
        known.add(target);
        assert.equal((await page(target)).status, 200, `${path}: ${href}`);
      }
    }
  }
  assert.ok(known.size > 100);
});

test('A reference page shows parameters with limits, the body, a command for curl and all responses', async () => {
  const { text: list } = await page('/docs/operations/listCheeses');
  assert.match(list, /<code>limit<\/code>[\s\S]*?Cheeses per page\. 1 to 100\. Default: <code>20<\/code>\./);
  assert.match(
    list,
    /curl \\\n {2}-H &quot;X-API-Key: \$KEY&quot; \\\n {2}&#39;http:\/\/127\.0\.0\.1:8080\/v2\/cheeses&#39;/,
  );
  const { text: order } = await page('/docs/operations/placeOrder');
  assert.match(order, /<code>items\[\]\.quantity<\/code> <span class="required">required<\/span>/);
  assert.match(order, /curl -X POST/);
  for (const status of [201, 401, 403, 422, 429]) {
    assert.match(order, new RegExp(`<summary><code>${status}</code>`));
  }
});

test('A reference page shows responses that operations share, and a schema lists the operations with them', async () => {
  const { text: cheese } = await page('/docs/operations/getCheese');
  assert.match(cheese, /<summary><code>404<\/code> There is no such cheese/);
  const { text: error } = await page('/docs/schemas/Error');
  assert.ok(error.includes('href="/docs/operations/getCheese"'));
});

test('A reference page of an unknown operation or schema is 404, also for names of object members', async () => {
  for (const path of [
    '/docs/operations/nope',
    '/docs/schemas/nope',
    '/docs/schemas/__proto__',
    '/docs/schemas/toString',
    '/docs/nope',
  ]) {
    assert.equal((await page(path)).status, 404, path);
  }
});

test('A reference page loads and sends nothing but from and to its server, and has a title and a description', async () => {
  for (const path of ['/docs', '/docs/operations/listCheeses', '/docs/schemas/Cheese']) {
    const { text, headers } = await page(path);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; script-src 'self'; connect-src 'self'",
    );
    assert.match(text, /<meta name="description" content="[^"]{10,}">\n<title>[^<]+<\/title>/, path);
  }
});

test('A reference page of an operation has a form for its request, whose fields have no name that a browser would put into a URL', async () => {
  const { text: upload } = await page('/docs/operations/uploadCheeseImage');
  const [form = ''] = /<form[\s\S]*<\/form>/.exec(upload) ?? [];
  assert.match(form, /data-method="POST" data-path="\/v2\/cheeses\/\{cheeseId\}\/uploadImage"/);
  assert.match(form, /<input type="file" data-in="form" data-name="file" required>/);
  assert.doesNotMatch(form, / (?:name|action)=/);
  const { text: order } = await page('/docs/operations/placeOrder');
  assert.match(order, /<textarea data-in="body"[^>]*>\{\n {2}&quot;items&quot;/);
  // The pages of login and consent are for browsers.
  for (const name of ['authorize', 'showLogout', 'submitLogin', 'getReference']) {
    assert.doesNotMatch((await page(`/docs/operations/${name}`)).text, /<form|<script/, name);
  }
});

test('The reference pages and the OpenAPI document return 304 when If-None-Match is current', async () => {
  for (const path of ['/docs', '/docs/operations/listCheeses', '/openapi.json', '/v2/openapi.json']) {
    const first = await shop().request('GET', path);
    assert.equal(first.headers['cache-control'], 'private, no-cache', path);
    assert.match(first.headers.vary ?? '', /Accept-Encoding/, path);
    const { etag = '' } = first.headers;
    assert.notEqual(etag, '', path);
    const again = await shop().request('GET', path, { headers: { 'if-none-match': etag } });
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag], path);
  }
});

test('The reference has guides', async () => {
  const { text } = await page('/docs');
  const headings = [...text.matchAll(/<h2>(.+)<\/h2>/g)].map(([, heading]) => heading);
  assert.deepEqual(headings, [
    'Authentication',
    'Pagination',
    'Errors',
    'Limits',
    'Idempotency',
    'Conditional requests',
  ]);
});
