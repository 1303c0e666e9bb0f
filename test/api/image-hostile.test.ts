/** Images and forms at their limits, and hostile names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../helper.ts';
import {
  chunk,
  filePart,
  formats,
  imageIn,
  mebibyte,
  openImageShop,
  type Part,
  textPart,
} from './image-forms.ts';

test('POST uploadImage accepts 10 MiB and returns 413 for one byte more', async (t) => {
  const { upload, assertRefused } = await openImageShop(t);
  const image = await imageIn('png');
  const padded = (bytes: number) => Buffer.concat([image, Buffer.alloc(bytes - image.length)]);
  await assertRefused(await upload([filePart(padded(10 * mebibyte + 1))]), 413);
  await assertRefused(await upload([filePart(padded(10 * mebibyte + 1)), textPart('isPrimary', '?')]), 413);
  const taken = await upload([filePart(padded(10 * mebibyte))]);
  assert.deepEqual([taken.status, taken.json.size], [200, 10_485_760], taken.text);
});

test('Bytes after the end of an image, such as a script or an archive, are not stored', async (t) => {
  const { upload, show } = await openImageShop(t);
  const script = '<script>alert("cheese")</script>';
  for (const format of formats) {
    const behind = Buffer.concat([await imageIn(format), Buffer.from(`${script}PK\x03\x04cheese.exe`)]);
    const { status, json, text } = await upload([filePart(behind)]);
    assert.equal(status, 200, `${format} ${text}`);
    assert.equal(json.size, behind.length);
    for (const url of [json.imageUrl, json.thumbnailUrl]) {
      const { bytes } = await show(url);
      assert.ok(!bytes.includes('script') && !bytes.includes('PK') && !bytes.includes('cheese'), format);
    }
  }
  const comment = chunk('tEXt', Buffer.from(`Comment\0${script}`));
  const png = await imageIn('png');
  const within = Buffer.concat([png.subarray(0, 33), comment, png.subarray(33)]);
  const { json } = await upload([filePart(within)]);
  assert.ok(!(await show(json.imageUrl)).bytes.includes('script'));
});

test('Hostile names of files and fields have no effect', async (t) => {
  const { upload, photoUrls, list } = await openImageShop(t);
  const image = await imageIn('png');
  const { json: taken } = await upload([filePart(image)]);
  for (const fileName of [
    '',
    '../../etc/passwd',
    '..\\\\..\\\\windows\\\\win.ini',
    '/dev/null',
    'a\0b.png',
    'x'.repeat(4000),
    'käse 🧀.png',
    'a\\"; name=\\"evil',
    'a"; name="evil',
    '%00%0d%0a',
    'CON',
  ]) {
    const { status, json, text } = await upload([filePart(image, 'image/png', fileName)]);
    assert.deepEqual([status, json], [200, taken], `${fileName} ${text}`);
  }
  for (const name of [
    '__proto__',
    'constructor',
    '',
    'x'.repeat(3000),
    'a\\"b',
    "a'b",
    'käse 🧀',
    'a%0Ab',
    'a b;c=d',
    '\0',
  ]) {
    const { status, json } = await upload([
      textPart(name, 'true'),
      filePart(image),
      textPart(name, '{"a":1}'),
    ]);
    assert.deepEqual([status, json], [200, taken], name);
  }
  assert.deepEqual(await photoUrls(), [taken.imageUrl]);
  assert.deepEqual(
    (await list()).map(({ caption }) => caption),
    [null],
  );
  assert.equal(({} as Record<string, unknown>).a, undefined);
});

test('Very long file names and part headers cause no 500', async (t) => {
  const { upload, assertUntouched } = await openImageShop(t);
  const image = await imageIn('png');
  const long = 'x'.repeat(10_000);
  const forms: Part[][] = [
    [{ headers: [`X-Long: ${long}`, 'Content-Disposition: form-data; name="file"'], content: image }],
    [{ headers: Array.from({ length: 500 }, (_, index) => `X-${index}: y`), content: image }],
    [{ headers: [`Content-Disposition: form-data; name="${long}"`], content: image }],
    [{ headers: [], content: image }],
    [{ headers: ['Content-Type: image/png'], content: image }],
    [{ headers: ['Content-Disposition: attachment; name="file"; filename="a"'], content: image }],
    [{ headers: ['Content-Disposition: form-data; filename="a.png"'], content: image }],
    [{ headers: ['Content-Disposition: form-data; name="file\n"'], content: image }],
    [{ headers: ['no colon'], content: image }],
  ];
  for (const [index, form] of forms.entries()) {
    const response = await upload(form);
    assertError(response, 422, 'validation_error');
    await assertUntouched(`form ${index}`);
  }
  assert.equal((await upload([filePart(image, null, long)])).status, 200);
});
