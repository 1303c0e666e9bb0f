/** What a page loads: each entry of the package alone, bundled and compressed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const kB = 1024;
const limits = {
  'src/index.ts': 10 * kB,
  'browser/index.ts': 12 * kB,
  'webhooks/index.ts': 6 * kB,
  'oauth/index.ts': 17 * kB,
};

suite('A bundle of the client', () => {
  for (const [entry, limit] of Object.entries(limits)) {
    test(`A bundle of the client from ${entry} has at most ${limit / kB} kB, and no import of Node`, async () => {
      // A browser has no built-in modules of Node, so an import of one fails.
      const { outputFiles } = await build({
        entryPoints: [fileURLToPath(new URL(`../../client/${entry}`, import.meta.url))],
        bundle: true,
        minify: true,
        format: 'esm',
        platform: 'browser',
        write: false,
        logLevel: 'silent',
      });
      const [{ contents = new Uint8Array(), text = '' } = {}] = outputFiles;
      assert.doesNotMatch(text, /\brequire\(|\bnode:|\bprocess\./);
      const size = gzipSync(contents, { level: 9 }).length;
      assert.ok(size <= limit, `${size} bytes; the limit is ${limit}`);
      // A limit that is far away does not notice what is added.
      assert.ok(size > limit / 3, `${size} bytes: lower the limit`);
    });
  }

  test('A bundle of the client that servers offer to pages has at most 12 kB, and no import', () => {
    const bytes = readFileSync(new URL('../../client/dist/browser.js', import.meta.url));
    const size = gzipSync(bytes, { level: 9 }).length;
    assert.ok(size <= 12 * kB, `${size} bytes`);
    assert.doesNotMatch(bytes.toString(), /\brequire\(|\bimport ?["{*]|\bnode:|\bprocess\./);
    assert.match(bytes.toString(), /\bas createShop\b/);
  });
});
