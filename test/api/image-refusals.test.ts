/** Refused images and forms: the status, the order of refusals, and that nothing is stored. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { assertFields, onBothEngines } from '../helper.ts';
import {
  blackPng,
  bodyOf,
  boundary,
  filePart,
  formats,
  grayJpeg,
  imageIn,
  mebibyte,
  openImageShop,
  type Part,
  plain,
  textPart,
} from './image-forms.ts';

const formType = `multipart/form-data; boundary=${boundary}`;

suite('POST uploadImage refuses an upload and stores nothing', () => {
  test('POST uploadImage refuses and stores nothing when it is not a JPEG, PNG or WebP, for any declared type', async (t) => {
    const { upload, assertRefused } = await openImageShop(t);
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    const gif = await plain().gif().toBuffer();
    const png = await imageIn('png');
    for (const [note, content] of [
      ['empty', ''],
      ['one byte', '\xff'],
      ['text', 'no image'],
      ['SVG', svg],
      ['GIF', gif],
      ['AVIF', await plain(16, 16).avif().toBuffer()],
      ['TIFF', await plain().tiff().toBuffer()],
      ['PDF', '%PDF-1.7\n1 0 obj'],
      ['page', '<!doctype html><script>alert(1)</script>'],
      ['WAVE', Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), png])],
      ['late signature', Buffer.concat([Buffer.from(' '), png])],
      ['base64', png.toString('base64')],
    ] as const) {
      for (const type of ['image/png', 'application/octet-stream', null]) {
        await assertRefused(await upload([filePart(content, type, 'a.png')]), 415, note);
      }
    }
    assert.equal((await upload([filePart(png)])).status, 200);
  });

  test('POST uploadImage refuses and stores nothing when the declared type differs from the format', async (t) => {
    const { upload, assertRefused } = await openImageShop(t);
    for (const format of formats) {
      const image = await imageIn(format);
      const others = formats.filter((one) => one !== format).map((one) => `image/${one}`);
      for (const type of [...others, 'image/gif', 'image/svg+xml', 'text/html', 'x'.repeat(3000), '']) {
        await assertRefused(await upload([filePart(image, type)]), 415, `${format} as ${type}`);
      }
    }
  });

  test('POST uploadImage refuses and stores nothing when the image has too many pixels, even in a small file, and says how many', async (t) => {
    const { upload, assertRefused } = await openImageShop(t);
    for (const [width, height, rows] of [
      [16_000, 16_000],
      [8000, 5001],
      [0x7fff_ffff, 0x7fff_ffff, 0],
      [0, 0],
    ] as const) {
      await assertRefused(await upload([filePart(blackPng(width, height, rows))]), 415, `${width}x${height}`);
    }
    for (const [image, message] of [
      [
        blackPng(16_000, 16_000),
        'The image has 16000 x 16000 pixels, which are 256 megapixels. A PNG can have at most 40. Make it smaller, and send it again.',
      ],
      [
        grayJpeg(8160, 6120, 3),
        'The image has 8160 x 6120 pixels, which are 50 megapixels. A progressive JPEG can have at most 40. Make it smaller, and send it again.',
      ],
      [
        grayJpeg(20_000, 10_001),
        'The image has 20000 x 10001 pixels, which are 200.1 megapixels. A JPEG can have at most 200. Make it smaller, and send it again.',
      ],
    ] as const) {
      const response = await upload([filePart(image)]);
      await assertRefused(response, 415, message);
      assert.equal(response.json.message, message);
    }
    assert.equal((await upload([filePart(blackPng(200, 100))])).status, 200);
  });

  test('POST uploadImage refuses and stores nothing when the body is not a form, is compressed, or has no boundary', async (t) => {
    const { send, assertRefused } = await openImageShop(t);
    const body = bodyOf([filePart(await imageIn('png'))]);
    for (const [headers, status] of [
      [{ 'content-type': 'application/json' }, 415],
      [{ 'content-type': 'image/png' }, 415],
      [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
      [{ 'content-type': `multipart/mixed; boundary=${boundary}` }, 415],
      [{ 'content-type': `multipart/form-database; boundary=${boundary}` }, 415],
      [{ 'content-type': `${formType}; charset=utf-16` }, 415],
      [{ 'content-type': `${formType}; charset=utf-8; charset=utf-8` }, 415],
      [{ 'content-type': formType, 'content-encoding': 'gzip' }, 415],
      [{ 'content-type': formType, 'content-encoding': 'br, gzip' }, 415],
      [{ 'content-type': 'multipart/form-data' }, 422],
      [{ 'content-type': 'multipart/form-data; boundary=' }, 422],
      [{ 'content-type': 'multipart/form-data; boundary=""' }, 422],
      [{ 'content-type': `multipart/form-data; boundary="${'x'.repeat(71)}"` }, 422],
      [{ 'content-type': `multipart/form-data; boundary=${'x'.repeat(3000)}` }, 422],
      [{ 'content-type': 'multipart/form-data; boundary="ends in blank "' }, 422],
      [{ 'content-type': 'multipart/form-data; boundary="käse"' }, 422],
      [{ 'content-type': 'multipart/form-data; boundary=other' }, 422],
    ] as const) {
      await assertRefused(await send(body, headers), status, JSON.stringify(headers));
    }
    for (const [length, status] of [
      [71, 422],
      [70, 415],
    ] as const) {
      const separator = 'x'.repeat(length);
      const headers = { 'content-type': `multipart/form-data; boundary=${separator}` };
      const response = await send(bodyOf([filePart('no image')], separator), headers);
      await assertRefused(response, status, `a boundary of ${length}`);
    }
    const compressed = await send(gzipSync(body), { 'content-encoding': 'gzip' });
    await assertRefused(compressed, 415);
    assert.equal(compressed.headers['accept-encoding'], 'identity');
    assert.equal((await send(body, { 'content-encoding': 'identity' })).status, 200);
  });

  test('POST uploadImage refuses and stores nothing when there is no file, two files, a file in another field, or an invalid field', async (t) => {
    const { send, upload, assertRefused } = await openImageShop(t);
    const image = await imageIn('png');
    const file = filePart(image);
    const other = { ...file, headers: ['Content-Disposition: form-data; name="photo"; filename="a.png"'] };
    const forms: [note: string, parts: Part[], ...fields: string[]][] = [
      ['no part', [], 'file'],
      ['no file', [textPart('caption', 'x')], 'file'],
      ['two files', [file, file], 'file'],
      ['two files, one empty', [file, filePart('')], 'file'],
      ['another field', [other], 'file', 'photo'],
      [
        'another field twice, and a bad field',
        [other, other, textPart('isPrimary', '')],
        'file',
        'photo',
        'isPrimary',
      ],
      ['no file, and a bad field', [textPart('isPrimary', '')], 'file', 'isPrimary'],
      ['another field too', [file, other], 'photo'],
      ['another field before', [other, file], 'photo'],
      ['long caption', [file, textPart('caption', 'x'.repeat(501))], 'caption'],
      ['long caption before', [textPart('caption', '🧀'.repeat(501)), file], 'caption'],
      ['huge caption', [textPart('caption', 'x'.repeat(200_000)), file], 'caption'],
      ['huge caption after', [file, textPart('caption', 'x'.repeat(2 * mebibyte))], 'caption'],
      ['huge unknown field', [file, textPart('x', 'y'.repeat(8193))], 'x'],
      ['NUL', [file, textPart('caption', 'a\0b')], 'caption'],
      ['no UTF-8', [file, textPart('caption', Buffer.from([0x61, 0xe9, 0x62]))], 'caption'],
      ['two captions', [file, textPart('caption', 'a'), textPart('caption', 'b')], 'caption'],
      ['isPrimary', [file, textPart('isPrimary', 'yes')], 'isPrimary'],
      ['isPrimary empty', [file, textPart('isPrimary', '')], 'isPrimary'],
      ['isPrimary twice', [file, textPart('isPrimary', 'true'), textPart('isPrimary', 'true')], 'isPrimary'],
      ['25 parts', [...Array.from({ length: 25 }, () => textPart('x', 'y')), file], ''],
      ['25 parts after', [file, ...Array.from({ length: 25 }, () => textPart('x', 'y'))], ''],
      ['25 files elsewhere', Array.from({ length: 25 }, () => other), ''],
    ];
    for (const [note, parts, ...fields] of forms) {
      const response = await upload(parts);
      await assertRefused(response, 422, note);
      assertFields(response, fields, note);
    }
    const caption = textPart('caption', '🧀'.repeat(500));
    const body = bodyOf([caption, textPart('unknown', '1'), textPart('isPrimary', 'true'), file]);
    await assertRefused(await send(body, { prefer: 'handling=strict' }), 422);
    assert.equal((await send(body)).status, 200);
  });

  test('POST uploadImage refuses and stores nothing when the form is cut off in a header, the file, a field, or before its last line', async (t) => {
    const { send, assertRefused } = await openImageShop(t);
    const body = bodyOf([
      textPart('caption', 'one'),
      filePart(await imageIn('png')),
      textPart('isPrimary', 'true'),
    ]);
    for (const place of [
      'form-data',
      'one',
      'filename',
      'IDAT',
      'IEND',
      'isPrimary',
      'true',
      `--${boundary}--`,
    ]) {
      await assertRefused(await send(body.subarray(0, body.indexOf(place) + 3)), 422, place);
    }
    for (const raw of ['', '\r\n', `--${boundary}`, `--${boundary}--`, 'x'.repeat(100_000)]) {
      await assertRefused(await send(raw), 422, raw.slice(0, 30));
    }
    assert.equal((await send(body)).status, 200);
  });
});

onBothEngines('POST uploadImage refuses an upload and stores nothing', (engine) => {
  test('POST uploadImage refuses and stores nothing when the image is damaged or cut off', async (t) => {
    const { upload, assertRefused } = await openImageShop(t, engine);
    const noise = await sharp({
      create: {
        width: 60,
        height: 60,
        channels: 3,
        background: 'red',
        noise: { type: 'gaussian', mean: 120, sigma: 40 },
      },
    })
      .png()
      .toBuffer();
    for (const format of formats) {
      const image = await sharp(noise).toFormat(format).toBuffer();
      for (const length of [12, 40, image.length >> 1, image.length - 100]) {
        await assertRefused(await upload([filePart(image.subarray(0, length))]), 415, `${format} ${length}`);
      }
      const garbled = Buffer.concat([image.subarray(0, 16), Buffer.alloc(500, 'cheese')]);
      await assertRefused(await upload([filePart(garbled)]), 415, `${format} garbled`);
    }
    // Programs that repair files add the marker of the end. The rest of such an image is gray.
    const jpeg = await sharp(noise).jpeg().toBuffer();
    for (const part of [0.5, 0.9]) {
      const repaired = Buffer.concat([jpeg.subarray(0, jpeg.length * part), Buffer.from([0xff, 0xd9])]);
      const response = await upload([filePart(repaired)]);
      await assertRefused(response, 415, `repaired ${part}`);
      assert.equal(
        response.json.message,
        'The image is damaged or incomplete. Export it again, and send the new file.',
      );
    }
    // The signature of one format, followed by an image of another.
    const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
    const mixed = Buffer.concat([signature, await imageIn('jpeg')]);
    await assertRefused(await upload([filePart(mixed)]), 415, 'mixed');
  });

  test('POST uploadImage refuses in this order: credential, cheese, form, size, format, fields', async (t) => {
    const { shop, url, send, assertRefused } = await openImageShop(t, engine);
    const large = Buffer.alloc(10 * mebibyte + 1, 'x');
    const bad = [textPart('isPrimary', 'maybe'), filePart(large, 'text/html')];
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' };
    const call = (as: string | undefined, to: string) =>
      shop.request('POST', to, { ...(as === undefined ? {} : { as }), raw: bodyOf(bad), headers });
    const nowhere = '/v2/cheeses/999/uploadImage';
    await assertRefused(await call(undefined, nowhere), 401);
    await assertRefused(await call('nonsense', nowhere), 401);
    await assertRefused(await call(shop.reader, nowhere), 403);
    for (const to of [
      nowhere,
      '/v2/cheeses/0/uploadImage',
      '/v2/cheeses/x/uploadImage',
      '/v2/cheeses/%00/uploadImage',
    ]) {
      await assertRefused(await call(shop.writer, to), 404, to);
    }
    await assertRefused(await call(shop.writer, url), 415);
    await assertRefused(await send(bodyOf(bad)), 413);
    await assertRefused(await send(bodyOf([textPart('isPrimary', 'maybe'), filePart('x')])), 415);
    const image = filePart(await imageIn('png'));
    await assertRefused(await send(bodyOf([textPart('isPrimary', 'maybe'), image])), 422);
  });
});
