/** The methods of a path. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createRouteTable } from '../../src/http/route-table.ts';

const table = createRouteTable([
  { method: 'GET', path: '/v2/cheeses' },
  { method: 'HEAD', path: '/v2/cheeses' },
  { method: 'POST', path: '/v2/cheeses' },
  { method: 'GET', path: '/v2/cheeses/findByStatus' },
  { method: 'GET', path: '/v2/cheeses/:cheeseId' },
  { method: 'POST', path: '/v2/cheeses/:cheeseId' },
  { method: 'DELETE', path: '/v2/cheeses/:cheeseId' },
  { method: 'POST', path: '/v2/cheeses/:cheeseId/uploadImage' },
  { method: 'GET', path: '/openapi.json' },
]);

suite('methodsOf', () => {
  test('methodsOf returns the sorted methods of a path, with OPTIONS', () => {
    assert.deepEqual(table.methodsOf('/v2/cheeses'), ['GET', 'HEAD', 'OPTIONS', 'POST']);
    assert.deepEqual(table.methodsOf('/v2/cheeses/7'), ['DELETE', 'GET', 'OPTIONS', 'POST']);
    assert.deepEqual(table.methodsOf('/v2/cheeses/7/uploadImage'), ['OPTIONS', 'POST']);
  });

  test('methodsOf prefers a literal segment to a parameter', () => {
    assert.deepEqual(table.methodsOf('/v2/cheeses/findByStatus'), ['GET', 'OPTIONS']);
    assert.deepEqual(table.methodsOf('/v2/cheeses/findBystatus'), ['DELETE', 'GET', 'OPTIONS', 'POST']);
  });

  test('methodsOf ignores one trailing slash, and no more', () => {
    assert.deepEqual(table.methodsOf('/v2/cheeses/7/'), table.methodsOf('/v2/cheeses/7'));
    for (const path of ['/v2/cheeses//', '/v2/cheeses/7//', '//v2/cheeses', '/v2//cheeses']) {
      assert.deepEqual(table.methodsOf(path), [], path);
    }
  });

  test('methodsOf returns nothing for an unknown path', () => {
    for (const path of ['', '/', '/v2', '/V2/cheeses', '/v2/cheese', '/v2/cheeses/7/8', '/openapixjson']) {
      assert.deepEqual(table.methodsOf(path), [], path);
    }
  });

  test('methodsOf decodes a segment once, and matches none with invalid encoding', () => {
    assert.deepEqual(table.methodsOf('/v2/cheeses/findBy%53tatus'), ['GET', 'OPTIONS']);
    assert.deepEqual(table.methodsOf('/v2/%63heeses'), table.methodsOf('/v2/cheeses'));
    assert.deepEqual(table.methodsOf('/v2/cheeses/findBy%2553tatus'), table.methodsOf('/v2/cheeses/7'));
    for (const path of ['/v2/cheeses/%', '/v2/cheeses/%zz', '/v2/cheeses/%ff']) {
      assert.deepEqual(table.methodsOf(path), [], path);
    }
  });

  test('methodsOf treats an encoded slash as part of a segment', () => {
    assert.deepEqual(table.methodsOf('/v2/cheeses/7%2FuploadImage'), ['DELETE', 'GET', 'OPTIONS', 'POST']);
  });

  test('methodsOf matches any value of any parameter, and never fails', () => {
    const segment = fc.string({ minLength: 1 }).map(encodeURIComponent);
    fc.assert(
      fc.property(segment, (one) => {
        assert.ok(table.methodsOf(`/v2/cheeses/${one}`).includes('GET'));
        assert.ok(table.methodsOf(`/v2/cheeses/${one}/uploadImage`).includes('POST'));
        assert.deepEqual(table.methodsOf(`/${one}/x/y/z`), []);
      }),
    );
    fc.assert(fc.property(fc.string(), (path) => assert.ok(Array.isArray(table.methodsOf(path)))));
  });
});

suite('methodsOf, with a path that ends with *', () => {
  const open = createRouteTable([
    { method: 'GET', path: '/console' },
    { method: 'GET', path: '/console/*' },
    { method: 'POST', path: '/console/assets/:file' },
  ]);

  test('methodsOf with a path that ends with * matches one or more segments, after paths with parameters', () => {
    for (const path of [
      '/console/a',
      '/console/a/',
      '/console/a/b/c/d/e',
      '/console/assets',
      '/console/%zz',
    ]) {
      assert.deepEqual(open.methodsOf(path), ['GET', 'OPTIONS'], path);
    }
    assert.deepEqual(open.methodsOf(`/console${'/a'.repeat(8000)}`), ['GET', 'OPTIONS']);
    assert.deepEqual(open.methodsOf('/console/assets/x'), ['OPTIONS', 'POST']);
    assert.deepEqual(open.methodsOf('/console/assets/x/y'), ['GET', 'OPTIONS']);
    assert.deepEqual(open.methodsOf('/consoles/a/b/c'), []);
  });

  test('methodsOf with a path that ends with * is no parameter of the paths above it', () => {
    assert.deepEqual(open.shadowed(), []);
  });
});

suite('shadowed', () => {
  test('shadowed() returns each method that a parameter has and a literal path has not', () => {
    assert.deepEqual(table.shadowed(), [
      { method: 'POST', path: '/v2/cheeses/findByStatus' },
      { method: 'DELETE', path: '/v2/cheeses/findByStatus' },
    ]);
  });

  test('shadowed() is empty when literal paths and parameters have the same methods', () => {
    const same = createRouteTable([
      { method: 'GET', path: '/a/b' },
      { method: 'GET', path: '/a/:name' },
    ]);
    assert.deepEqual(same.shadowed(), []);
  });

  test('shadowed() never returns a registered method, and always one that only the parameter has', () => {
    const methods = fc.subarray(['GET', 'POST', 'PUT', 'DELETE']);
    fc.assert(
      fc.property(methods, methods, (literal, parameter) => {
        const both = createRouteTable([
          ...literal.map((method) => ({ method, path: '/a/b' })),
          ...parameter.map((method) => ({ method, path: '/a/:name' })),
        ]);
        const expected = literal.length === 0 ? [] : parameter.filter((method) => !literal.includes(method));
        assert.deepEqual(
          both.shadowed().map(({ method, path }) => `${method} ${path}`),
          expected.map((method) => `${method} /a/b`),
        );
        assert.deepEqual(
          both.methodsOf('/a/b'),
          [
            ...(literal.length > 0 ? literal : parameter),
            ...(literal.length + parameter.length > 0 ? ['OPTIONS'] : []),
          ].sort(),
        );
      }),
    );
  });
});
