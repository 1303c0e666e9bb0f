/** The rule for thumbnails: what the client derives from the names that the server gives. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { thumbnailOf } from '../../client/src/index.ts';
import { digestInName, isFileName, toImageName } from '../../src/files/file-name.ts';

const digest = fc.string().map((text) => hash('sha256', text));
const extension = fc.constantFrom('jpg', 'png', 'webp');
const base = fc.constantFrom(
  'http://127.0.0.1:8080/images',
  'https://cdn.example.com/cheese',
  'https://a.example',
);

test('thumbnailOf finds the thumbnail of each image name, under the same base URL', () => {
  fc.assert(
    fc.property(digest, digest, extension, base, (image, thumbnail, ending, url) => {
      const thumbnailName = `${thumbnail}.webp`;
      const name = toImageName(image, thumbnailName, ending);
      assert.ok(isFileName(name) && isFileName(thumbnailName));
      assert.equal(digestInName(name), image);
      assert.equal(thumbnailOf(`${url}/${name}`), `${url}/${thumbnailName}`);
      assert.equal(thumbnailOf(`${url}/${thumbnailName}`), `${url}/${thumbnailName}`);
    }),
  );
});

test('thumbnailOf returns other URLs unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl(), fc.string()), (url) => {
      assert.equal(thumbnailOf(url), url);
    }),
  );
});
