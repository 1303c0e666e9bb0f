/** The OpenAPI document lists every path of the server, and no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShop, type Shop } from '../helper.ts';

/** `GET /v2/cheeses/{cheeseId}` for each entry of the route table of the framework. */
function tableOf({ app }: Shop): string[] {
  const parts: string[] = [];
  return app.server
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] =
        /^((?:[│ ] {3})*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/u.exec(line) ?? [];
      const depth = indent.length / 4;
      parts.splice(depth, Number.POSITIVE_INFINITY, part);
      const path = parts
        .join('')
        .replace(/:(\w+)/g, '{$1}')
        .replace(/\/?\*$/, '/{path}');
      return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${path}`);
    });
}

test('The OpenAPI document lists every method of every path in the route table, and no other', async (t) => {
  const shop = await openShop(t);
  const { json: document } = await shop.request('GET', '/openapi.json');
  const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const table = tableOf(shop);
  assert.deepEqual(
    documented.filter((one) => !table.includes(one)),
    [],
    'the server has no route for these',
  );
  // Each GET has HEAD, and every path has OPTIONS. Other entries return 405 where a parameter of another path would match.
  for (const entry of table.filter((one) => !documented.includes(one))) {
    const [method = '', path = ''] = entry.split(' ');
    const isImplied = method === 'OPTIONS' || (method === 'HEAD' && documented.includes(`GET ${path}`));
    if (!isImplied) {
      assert.equal((await shop.request(method, path)).status, 405, `${entry} is not in the document`);
    }
  }
  for (const path of [
    '/',
    '/healthz',
    '/readyz',
    '/metrics',
    '/oauth/token',
    '/v2/oauth/authorize',
    '/docs',
  ]) {
    assert.ok(Object.hasOwn(document.paths, path), path);
  }
});
