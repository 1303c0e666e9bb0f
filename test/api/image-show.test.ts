/** GET /images/{name}: whole images, ranges, conditional requests and headers. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Engine } from '../../src/database/sql.ts';
import { onBothEngines, type Scope, shared } from '../helper.ts';
import { filePart, imageIn, openImageShop, plain, type Shown } from './image-forms.ts';

/** A shop with one image, and the bytes of its file. */
async function openWithImage(t: Scope, engine: Engine = 'sqlite') {
  const images = await openImageShop(t, engine);
  const { json } = await images.upload([filePart(await imageIn('png'))]);
  const { pathname } = new URL(json.imageUrl);
  const name = pathname.replace('/images/', '');
  const bytes = await readFile(join(images.shop.config.dataDir, 'images', name.slice(0, 2), name));
  const thumbnail = new URL(json.thumbnailUrl).pathname;
  return { ...images, pathname, thumbnail, name, bytes, tag: `"${name}"` };
}

function assertErrorShown(
  { status, headers, bytes }: Shown,
  expected: number,
  type: string,
  note = '',
): void {
  assert.equal(status, expected, `${note} ${bytes.toString().slice(0, 200)}`);
  assert.match(String(headers['content-type']), /^application\/json/);
  const { message, ...rest } = JSON.parse(bytes.toString());
  assert.deepEqual(rest, { code: expected, type });
  assert.ok(typeof message === 'string' && message !== '');
  assert.equal(headers['cache-control'], 'no-store');
}

const lasting = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'accept-ranges': 'bytes',
  // With and without an Origin: a cache must be able to give the response to a page.
  'access-control-allow-origin': '*',
};

function assertHeaders({ headers }: Shown, expected: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries({ ...lasting, ...expected })) {
    assert.equal(headers[name], value, name);
  }
}

onBothEngines('GET /images/:name', (engine) => {
  test('GET /images/:name returns an image without a credential, as immutable, and never as a page', async (t) => {
    const { show, pathname, thumbnail, bytes, tag } = await openWithImage(t, engine);
    for (const headers of [{}, { 'x-api-key': 'nonsense', 'accept-encoding': 'gzip', accept: 'text/html' }]) {
      const shown = await show(pathname, headers);
      assert.deepEqual([shown.status, shown.bytes.equals(bytes)], [200, true]);
      assertHeaders(shown, {
        'content-type': 'image/png',
        'content-length': String(bytes.length),
        etag: tag,
      });
      assert.equal(shown.headers['content-encoding'], undefined);
      assert.equal(shown.headers['content-range'], undefined);
    }
    const small = await show(thumbnail);
    assertHeaders(small, { 'content-type': 'image/webp', 'content-length': String(small.bytes.length) });
  });

  test('GET /images/:name returns 404 for invalid and unknown names', async (t) => {
    const { shop, show, pathname, name } = await openWithImage(t, engine);
    const [hash = '', extension] = name.split('.');
    for (const hostile of [
      'nothing',
      `${hash}.jpg`,
      hash,
      `${hash.toUpperCase()}.${extension}`,
      `${name}.${extension}`,
      `${name}%20`,
      `${name}%00`,
      `%00${name}`,
      '%00',
      '..%2f..%2f..%2fetc%2fpasswd',
      '..%2f..%2fshop.db',
      `..%2fimages%2f${hash.slice(0, 2)}%2f${name}`,
      `${hash.slice(0, 2)}%2f${name}`,
      '..%5c..%5cwindows',
      '%2e%2e%2f',
      '__proto__',
      'constructor',
      "x'%20or%20'1'='1",
      '%25',
      '%0d%0aX-Evil:%201',
      'k%C3%A4se%F0%9F%A7%80.jpg',
      '%ED%A0%80',
      '%FF',
      '%zz',
      'x'.repeat(10_000),
    ]) {
      const shown = await show(`/images/${hostile}`);
      const isNoUrl = /%(zz|ff|ed)/i.test(hostile);
      assert.ok(shown.status === 404 || (isNoUrl && shown.status === 400), `${hostile}: ${shown.status}`);
      assertErrorShown(shown, shown.status, shown.status === 404 ? 'not_found' : 'bad_request', hostile);
      assert.equal(shown.headers['x-evil'], undefined);
    }
    const list = await shop.request('GET', '/images/');
    assert.equal(list.status, 404);
    assert.equal((await show(pathname)).status, 200);
  });

  test('GET /images/:name returns an image in parallel with requests for invalid names', async (t) => {
    const { show, pathname } = await openWithImage(t, engine);
    const hostile = ['%00', 'x', `${'y'.repeat(70)}%00`];
    const all = await Promise.all(
      [...hostile.map((one) => `/images/${one}`), pathname, pathname].map((one) => show(one)),
    );
    assert.deepEqual(
      all.map(({ status }) => status),
      [404, 404, 404, 200, 200],
    );
  });

  test('GET /images/:name returns 404 after the cheese is deleted, unless another cheese has the image', async (t) => {
    const { shop, cheeseId, upload, show, pathname, thumbnail } = await openWithImage(t, engine);
    const shared = await upload([filePart(await imageIn('jpeg', 200))]);
    const other = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Edam' } });
    const raw = await shop.app.server.inject({
      method: 'POST',
      url: `/v2/cheeses/${other.json.id}/uploadImage`,
      headers: { 'x-api-key': shop.writer, 'content-type': 'multipart/form-data; boundary=b' },
      payload: Buffer.concat([
        Buffer.from('--b\r\nContent-Disposition: form-data; name=file\r\n\r\n'),
        await imageIn('jpeg', 200),
        Buffer.from('\r\n--b--'),
      ]),
    });
    assert.deepEqual([raw.statusCode, raw.json()], [200, shared.json]);
    const headers = { 'x-confirm-delete': 'true' };
    assert.equal(
      (await shop.request('DELETE', `/v2/cheeses/${cheeseId}`, { as: shop.writer, headers })).status,
      204,
    );
    assertErrorShown(await show(pathname), 404, 'not_found');
    assertErrorShown(await show(thumbnail, { 'if-none-match': '*' }), 404, 'not_found');
    assert.equal((await show(shared.json.imageUrl)).status, 200);
    assert.equal((await show(shared.json.thumbnailUrl)).status, 200);
  });
});

suite('GET /images/:name', () => {
  const images = shared((t) => openWithImage(t));

  test('GET /images/:name returns 206 for one range, 416 beyond the end, and 200 for anything else', async () => {
    const { show, pathname, bytes, tag } = images();
    const size = bytes.length;
    const table: [header: string, range: [first: number, last: number] | 'whole' | 'none'][] = [
      ['bytes=0-0', [0, 0]],
      ['bytes=0-9', [0, 9]],
      ['bytes=10-', [10, size - 1]],
      ['bytes=-1', [size - 1, size - 1]],
      [`bytes=-${size + 5}`, [0, size - 1]],
      [`bytes=0-${size - 1}`, [0, size - 1]],
      [`bytes=5-${size + 100}`, [5, size - 1]],
      [`bytes=${size - 1}-${size - 1}`, [size - 1, size - 1]],
      [`bytes=${size}-`, 'none'],
      [`bytes=${size}-${size + 9}`, 'none'],
      ['bytes=-0', 'none'],
      ['bytes=0-1,4-5', 'whole'],
      ['bytes=5-2', 'whole'],
      ['bytes=x', 'whole'],
      ['lines=0-1', 'whole'],
    ];
    for (const [range, expected] of table) {
      const shown = await show(pathname, { range });
      if (expected === 'none') {
        assertErrorShown(shown, 416, 'range_not_satisfiable', range);
        assert.equal(shown.headers['content-range'], `bytes */${size}`);
        continue;
      }
      const [first, last] = expected === 'whole' ? [0, size - 1] : expected;
      assert.equal(shown.status, expected === 'whole' ? 200 : 206, range);
      assert.ok(shown.bytes.equals(bytes.subarray(first, last + 1)), range);
      const contentRange = expected === 'whole' ? undefined : `bytes ${first}-${last}/${size}`;
      const length = String(last - first + 1);
      assertHeaders(shown, {
        'content-type': 'image/png',
        'content-length': length,
        'content-range': contentRange,
        etag: tag,
      });
    }
  });

  test('GET /images/:name returns ranges that together are the whole image', async () => {
    const { show, pathname, bytes } = images();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length - 1), { maxLength: 4 }), async (cuts) => {
        const starts = [...new Set([0, ...cuts])].sort((a, b) => a - b);
        const ranges = starts.map(
          (first, index) => `bytes=${first}-${(starts[index + 1] ?? bytes.length) - 1}`,
        );
        const parts = await Promise.all(ranges.map((range) => show(pathname, { range })));
        assert.ok(parts.every(({ status }) => status === 206));
        assert.ok(Buffer.concat(parts.map((part) => part.bytes)).equals(bytes));
      }),
      { numRuns: 40 },
    );
  });

  test('GET /images/:name returns a range with If-Range only when the ETag is the same', async () => {
    const { show, pathname, bytes, tag } = images();
    for (const [ifRange, status] of [
      [tag, 206],
      [`W/${tag}`, 200],
      ['"other"', 200],
      ['Mon, 01 Jun 2026 12:00:00 GMT', 200],
    ] as const) {
      const shown = await show(pathname, { range: 'bytes=2-4', 'if-range': ifRange });
      assert.equal(shown.status, status, ifRange);
      assert.ok(shown.bytes.equals(status === 206 ? bytes.subarray(2, 5) : bytes));
    }
    const beyond = await show(pathname, { range: `bytes=${bytes.length}-`, 'if-range': '"other"' });
    assert.equal(beyond.status, 200);
  });

  test('GET /images/:name returns 304 without a body when If-None-Match matches', async () => {
    const { show, pathname, tag } = images();
    for (const method of ['GET', 'HEAD'] as const) {
      for (const value of [tag, `W/${tag}`, '*', `"x", ${tag}`]) {
        for (const more of [{}, { range: 'bytes=0-1' }, { range: 'bytes=99999-' }]) {
          const shown = await show(pathname, { 'if-none-match': value, ...more }, method);
          assert.deepEqual([shown.status, shown.bytes.length], [304, 0], value);
          assert.deepEqual(
            [shown.headers.etag, shown.headers['cache-control']],
            [tag, lasting['cache-control']],
          );
          assert.equal(shown.headers['content-range'], undefined);
        }
      }
      assert.equal((await show(pathname, { 'if-none-match': '"x"' }, method)).status, 200);
    }
  });

  test('HEAD returns the length of the whole image, also with a Range', async () => {
    const { show, pathname, bytes, tag } = images();
    // RFC 9110, section 14.2: Range is defined for GET only.
    for (const headers of [{}, { range: 'bytes=0-3' }, { range: 'bytes=99999-' }]) {
      const shown = await show(pathname, headers, 'HEAD');
      assert.deepEqual([shown.status, shown.bytes.length], [200, 0], JSON.stringify(headers));
      assertHeaders(shown, {
        'content-type': 'image/png',
        'content-length': String(bytes.length),
        etag: tag,
      });
    }
    assert.equal((await show('/images/nothing', {}, 'HEAD')).status, 404);
  });

  test('GET /images/:name refuses methods other than GET and HEAD', async () => {
    const { shop, pathname } = images();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const { status, headers } = await shop.request(method, pathname, { as: shop.admin });
      assert.deepEqual([status, headers.allow], [405, 'GET, HEAD, OPTIONS'], method);
    }
  });
});

test('Over a real connection, GET returns the whole image, and the connection is usable after HEAD', async (t) => {
  const { shop, upload } = await openImageShop(t);
  const noise = await plain(900, 900).png({ compressionLevel: 0 }).toBuffer();
  const { json } = await upload([filePart(noise)]);
  const address = await shop.app.server.listen({ port: 0, host: '127.0.0.1' });
  const url = address + new URL(json.imageUrl).pathname;
  const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
  for (let round = 0; round < 3; round += 1) {
    const head = await fetch(url, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(whole.length)]);
    const part = await fetch(url, { headers: { range: 'bytes=100-199' } });
    assert.deepEqual([part.status, Buffer.from(await part.arrayBuffer())], [206, whole.subarray(100, 200)]);
  }
});
