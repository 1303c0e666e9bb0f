/** Content of stored images and thumbnails: upright, without metadata, with the right size and colors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp, { type Sharp } from 'sharp';
import {
  blackPng,
  filePart,
  formats,
  grayJpeg,
  type ImageShop,
  imageIn,
  openImageShop,
  plain,
} from './image-forms.ts';

/** Left half red, right half blue. */
function twoColours(): Sharp {
  const red = { create: { width: 20, height: 20, channels: 3, background: 'red' } } as const;
  return sharp({ create: { width: 40, height: 20, channels: 3, background: 'blue' } }).composite([
    { input: red, left: 0, top: 0 },
  ]);
}

async function colourAt(bytes: Buffer, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const at = (y * info.width + x) * info.channels;
  return [...data.subarray(at, at + info.channels)];
}

async function uploaded({ upload, show }: ImageShop, original: Buffer) {
  const { status, json, text } = await upload([filePart(original)]);
  assert.equal(status, 200, text);
  const [image, thumbnail] = [(await show(json.imageUrl)).bytes, (await show(json.thumbnailUrl)).bytes];
  return { image, thumbnail, kept: await sharp(image).metadata(), small: await sharp(thumbnail).metadata() };
}

test('Images of all eight EXIF orientations are stored upright', async (t) => {
  const images = await openImageShop(t);
  const upright = await twoColours().png().toBuffer();
  for (let orientation = 1; orientation <= 8; orientation += 1) {
    for (const format of orientation === 6 ? formats : (['jpeg'] as const)) {
      const original = await sharp(upright).withMetadata({ orientation }).toFormat(format).toBuffer();
      const { image, thumbnail, kept, small } = await uploaded(images, original);
      const size = orientation < 5 ? [40, 20] : [20, 40];
      assert.deepEqual([kept.width, kept.height], size, `${format} ${orientation}`);
      assert.deepEqual([small.width, small.height], size);
      assert.deepEqual([kept.orientation ?? 1, small.orientation ?? 1], [1, 1]);
      // Where the red half is: left, right, right, left, top, top, bottom, bottom.
      const [x, y] =
        [[], [3, 3], [37, 3], [37, 3], [3, 3], [3, 3], [3, 3], [3, 37], [3, 37]][orientation] ?? [];
      for (const bytes of [image, thumbnail]) {
        const [red = 0, , blue = 255] = await colourAt(bytes, x ?? 0, y ?? 0);
        assert.ok(red > 180 && blue < 90, `${format} ${orientation}: ${red} ${blue}`);
      }
    }
  }
});

test('Metadata such as GPS positions, names and comments is not stored', async (t) => {
  const images = await openImageShop(t);
  const secret = 'SecretCamera';
  for (const format of formats) {
    const original = await plain(30, 20)
      .withExif({
        IFD0: { Make: secret, Copyright: secret },
        IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '46/1 35/1 0/1', GPSLongitude: '7/1 5/1 0/1' },
      })
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf>${secret}</rdf></x:xmpmeta>`)
      .withIccProfile('p3')
      .toFormat(format)
      .toBuffer();
    assert.ok(original.includes(secret), `${format} contains it before the upload`);
    const { image, thumbnail, kept, small } = await uploaded(images, original);
    for (const [bytes, { exif, xmp, iptc, icc }] of [
      [image, kept],
      [thumbnail, small],
    ] as const) {
      assert.deepEqual([exif, xmp, iptc, icc], [undefined, undefined, undefined, undefined], format);
      assert.ok(!bytes.includes(secret) && !bytes.includes('Exif') && !bytes.includes('xmpmeta'));
    }
  }
});

test('A thumbnail is a WebP of at most 320 pixels a side, with the same aspect ratio, never larger than the image', async (t) => {
  const images = await openImageShop(t);
  for (const [width, height, thumbnail] of [
    [640, 480, [320, 240]],
    [480, 640, [240, 320]],
    [321, 321, [320, 320]],
    [320, 320, [320, 320]],
    [319, 100, [319, 100]],
    [1, 1, [1, 1]],
    [3000, 2, [320, 1]],
    [1, 3000, [1, 320]],
  ] as const) {
    for (const format of width === 640 ? formats : (['png'] as const)) {
      const { kept, small } = await uploaded(images, await plain(width, height).toFormat(format).toBuffer());
      assert.deepEqual([kept.format, kept.width, kept.height], [format, width, height]);
      assert.deepEqual(
        [small.format, small.width, small.height],
        ['webp', ...thumbnail],
        `${width}x${height}`,
      );
    }
  }
});

test('Only the first frame of an animated WebP is stored', async (t) => {
  const images = await openImageShop(t);
  const frames = await Promise.all([250, 0, 10].map((shade) => plain(20, 10, shade).png().toBuffer()));
  const original = await sharp(frames, { join: { animated: true } })
    .webp({ loop: 0, delay: [90, 90, 90] })
    .toBuffer();
  assert.equal((await sharp(original).metadata()).pages, 3);
  const { image, thumbnail, kept, small } = await uploaded(images, original);
  for (const { width, height, pages = 1 } of [kept, small]) {
    assert.deepEqual([width, height, pages], [20, 10, 1]);
  }
  for (const bytes of [image, thumbnail]) {
    assert.ok(((await colourAt(bytes, 5, 5))[0] ?? 0) > 200);
  }
});

test('Transparent pixels stay transparent', async (t) => {
  const images = await openImageShop(t);
  const background = { r: 200, g: 10, b: 10, alpha: 0 };
  const clear = sharp({ create: { width: 12, height: 12, channels: 4, background } });
  for (const format of ['png', 'webp'] as const) {
    const { image, thumbnail } = await uploaded(images, await clear.clone().toFormat(format).toBuffer());
    for (const bytes of [image, thumbnail]) {
      assert.equal((await colourAt(bytes, 4, 4))[3], 0, format);
    }
  }
});

test('CMYK, grayscale, palette, interlaced and 16-bit images keep their colors', async (t) => {
  const images = await openImageShop(t);
  const colour = plain(24, 24, 90);
  const samples: Record<string, Buffer> = {
    cmyk: await colour.clone().toColourspace('cmyk').jpeg().toBuffer(),
    progressive: await colour.clone().jpeg({ progressive: true }).toBuffer(),
    deep: await colour.clone().toColourspace('rgb16').png().toBuffer(),
    palette: await colour.clone().png({ palette: true, colours: 4 }).toBuffer(),
    interlaced: await colour.clone().png({ progressive: true }).toBuffer(),
    lossless: await colour.clone().webp({ lossless: true }).toBuffer(),
    greyJpeg: await colour.clone().greyscale().jpeg().toBuffer(),
    greyPng: await colour.clone().greyscale().toColourspace('b-w').png().toBuffer(),
  };
  assert.equal((await sharp(samples.cmyk).metadata()).space, 'cmyk');
  assert.equal((await sharp(samples.deep).metadata()).depth, 'ushort');
  for (const [name, original] of Object.entries(samples)) {
    const { image, thumbnail, kept } = await uploaded(images, original);
    assert.deepEqual([kept.width, kept.height], [24, 24], name);
    assert.ok(kept.space !== 'cmyk', name);
    const wanted = await colourAt(await sharp(original).toColourspace('srgb').png().toBuffer(), 9, 9);
    for (const bytes of [image, thumbnail]) {
      const got = await colourAt(await sharp(bytes).toColourspace('srgb').png().toBuffer(), 9, 9);
      const distance = Math.max(
        ...[0, 1, 2].map((at) => Math.abs((got[at] ?? got[0] ?? 0) - (wanted[at] ?? wanted[0] ?? 0))),
      );
      assert.ok(distance <= 8, `${name}: ${got} instead of ${wanted}`);
    }
  }
});

test('POST uploadImage accepts an image of exactly 40 megapixels', async (t) => {
  const images = await openImageShop(t);
  const { kept, small } = await uploaded(images, blackPng(8000, 5000));
  assert.deepEqual([kept.width, kept.height, small.width, small.height], [8000, 5000, 320, 200]);
});

test('POST uploadImage stores JPEGs of up to 200 megapixels with a half or a quarter of their width, upright', async (t) => {
  const images = await openImageShop(t);
  for (const [original, stored, thumbnail] of [
    [grayJpeg(8160, 6120), [4080, 3060], [320, 240]],
    [rotated(grayJpeg(8161, 6121)), [3060, 4080], [240, 320]],
    [grayJpeg(16_320, 12_240), [4080, 3060], [320, 240]],
  ] as const) {
    const { kept, small } = await uploaded(images, original);
    assert.deepEqual([kept.width, kept.height], stored);
    assert.deepEqual([small.width, small.height], thumbnail);
  }
});

/** With an EXIF header that says that the upper side is on the right. */
function rotated(jpeg: Buffer): Buffer {
  const tiff = Buffer.from('49492a0008000000010012010300010000000600000000000000', 'hex');
  return withSegment(jpeg, 0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff]));
}

function withSegment(jpeg: Buffer, marker: number, content: Buffer): Buffer {
  const header = Buffer.from([0xff, marker, 0, content.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), header, content, jpeg.subarray(2)]);
}

test('POST uploadImage stores the right pixels of JPEGs with harmless mistakes, as phones and cameras make them', async (t) => {
  const { upload } = await openImageShop(t);
  const image = await twoColours().jpeg().toBuffer();
  const scan = image.indexOf(Buffer.from([0xff, 0xda]));
  const patched = (at: number, ...bytes: number[]) => {
    const copy = Buffer.from(image);
    copy.set(bytes, at);
    return copy;
  };
  const { json: plainImage } = await upload([filePart(image)]);
  for (const [note, file] of [
    ['invalid parameters of a scan', patched(scan + image.readUInt16BE(scan + 2), 0)],
    ['unknown revision of JFIF', withSegment(image, 0xe0, Buffer.from('JFIF\0\x03\0\0\0\x01\0\x01\0\0'))],
    [
      'bytes before the last marker',
      Buffer.concat([image.subarray(0, -2), Buffer.from('fill\xff\xd9', 'latin1')]),
    ],
    ['bytes after the image', Buffer.concat([image, Buffer.from('Samsung trailer')])],
  ] as const) {
    const { status, json, text } = await upload([filePart(file)]);
    assert.equal(status, 200, `${note} ${text}`);
    assert.equal(json.imageUrl, plainImage.imageUrl, note);
    assert.equal(json.thumbnailUrl, plainImage.thumbnailUrl, note);
  }
});

test('POST uploadImage accepts the media types that clients use for a JPEG, a PNG and a WebP', async (t) => {
  const { upload } = await openImageShop(t);
  for (const [format, ...types] of [
    ['jpeg', 'image/jpg', 'image/pjpeg', 'image/x-jpeg', 'image/jfif', 'IMAGE/JPG', 'image/*'],
    ['png', 'image/x-png', 'image/x-citrix-png', 'image/*'],
    ['webp', 'image/x-webp', 'binary/octet-stream'],
  ] as const) {
    const image = await imageIn(format);
    for (const type of types) {
      const { status, text } = await upload([filePart(image, type)]);
      assert.equal(status, 200, `${type} ${text}`);
    }
  }
});
