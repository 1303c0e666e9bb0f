/** The URLs of the server and of images, from the settings and the listening port. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../src/settings/config.ts';
import { publicBaseUrl, publicImageUrl } from '../../src/settings/urls.ts';

const at = (host: string, more: Partial<Config> = {}) =>
  ({ host, port: 8080, publicUrl: null, imagesUrl: null, ...more }) as Config;

test('publicBaseUrl returns CURD_PUBLIC_URL, or a URL that a browser can open', () => {
  assert.equal(publicBaseUrl(at('127.0.0.1')), 'http://127.0.0.1:8080');
  assert.equal(publicBaseUrl(at('127.0.0.1'), 4711), 'http://127.0.0.1:4711');
  assert.equal(publicBaseUrl(at('::1')), 'http://[::1]:8080');
  assert.equal(publicBaseUrl(at('0.0.0.0')), 'http://localhost:8080');
  assert.equal(publicBaseUrl(at('::')), 'http://localhost:8080');
  assert.equal(
    publicBaseUrl(at('0.0.0.0', { publicUrl: 'https://shop.example' }), 1),
    'https://shop.example',
  );
  assert.equal(publicImageUrl(at('::1'), 'a.png', 1), 'http://[::1]:1/images/a.png');
  assert.equal(
    publicImageUrl(at('::1', { imagesUrl: 'https://cdn.example/x' }), 'a.png'),
    'https://cdn.example/x/a.png',
  );
});
