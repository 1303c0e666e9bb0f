/** Accepted uploads: what is stored, the position in photoUrls, and the events. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { thumbnailOf } from '../../client/src/index.ts';
import { sql } from '../../src/database/sql.ts';
import { assertError, onBothEngines, testClock } from '../helper.ts';
import { filePart, formats, imageIn, openImageShop, textPart } from './image-forms.ts';

const extensions = { jpeg: 'jpg', png: 'png', webp: 'webp' };

onBothEngines('An uploaded image', (engine) => {
  test('An uploaded image is in the list with its caption, its size and the time of its upload', async (t) => {
    const clock = testClock();
    const { shop, cheeseId, upload, list } = await openImageShop(t, engine, { clock });
    const image = await imageIn('jpeg');
    const caption = 'Vom Keller – "à point" 🧀, <b>7 °C</b>\nJuni';
    const first = await upload([textPart('caption', caption), filePart(image)]);
    clock.advance(1000);
    const second = await upload([filePart(await imageIn('png')), textPart('isPrimary', 'TRUE')]);
    const { imageUrl, thumbnailUrl, size } = first.json;
    const createdAt = '2026-06-01T12:00:00.000Z';
    assert.deepEqual(await list(), [
      { imageUrl, thumbnailUrl, size, caption, isPrimary: false, createdAt },
      { ...second.json, caption: null, isPrimary: true, createdAt: '2026-06-01T12:00:01.000Z' },
    ]);
    const url = `/v2/cheeses/${cheeseId}/images`;
    assertError(await shop.request('GET', url), 401, 'unauthorized');
    assertError(await shop.request('GET', '/v2/cheeses/999/images', { as: shop.reader }), 404, 'not_found');
  });

  test('An uploaded image is the last of photoUrls, or the first when it is primary, and is there once', async (t) => {
    const { upload, photoUrls, eventTypes } = await openImageShop(t, engine);
    const [a, b, c] = await Promise.all([1, 2, 3].map((shade) => imageIn('png', shade)));
    const send = async (image: Buffer | undefined, isPrimary?: string) => {
      const field = isPrimary === undefined ? [] : [textPart('isPrimary', isPrimary)];
      return (await upload([...field, filePart(image ?? '')])).json.imageUrl;
    };
    const urls = [await send(a), await send(b), await send(c, 'true')] as const;
    assert.deepEqual(await photoUrls(), [urls[2], urls[0], urls[1]]);
    for (const isPrimary of [undefined, 'false']) {
      await send(c, isPrimary);
      assert.deepEqual(await photoUrls(), [urls[2], urls[0], urls[1]]);
    }
    await send(b, 'true');
    assert.deepEqual(await photoUrls(), [urls[1], urls[2], urls[0]]);
    const both = ['cheese.updated', 'cheese.image_uploaded'];
    const unchanged = ['cheese.image_uploaded', 'cheese.image_uploaded'];
    assert.deepEqual(await eventTypes(), [...both, ...both, ...both, ...unchanged, ...both]);
  });

  test('An uploaded image has an event after the event of its cheese, with the same actor', async (t) => {
    const { shop, cheeseId, upload } = await openImageShop(t, engine);
    const headers = { 'x-request-id': 'upload-1' };
    const { json } = await upload([filePart(await imageIn('png'))], headers);
    const events = await shop.app.database.all<Record<string, string>>(
      sql`select type, subject, actor, request_id, data from event order by id desc limit 2`,
    );
    const [uploaded, updated] = events;
    assert.deepEqual([updated?.type, uploaded?.type], ['cheese.updated', 'cheese.image_uploaded']);
    assert.deepEqual(JSON.parse(uploaded?.data ?? ''), json);
    assert.deepEqual(JSON.parse(updated?.data ?? '').changes.photoUrls, {
      from: [],
      to: [json.imageUrl],
    });
    for (const { subject, actor, request_id } of events) {
      assert.deepEqual([subject, request_id], [`cheese:${cheeseId}`, 'upload-1']);
      assert.match(actor ?? '', /^key:\d+$/);
    }
  });

  test('An uploaded image is stored once when it is uploaded again, for the same and another cheese, and keeps its caption', async (t) => {
    const { shop, upload, list, photoUrls, files } = await openImageShop(t, engine);
    const image = await imageIn('webp');
    const first = await upload([filePart(image), textPart('caption', 'old')]);
    const stored = await files();
    assert.equal(stored.length, new Set([first.json.imageUrl, first.json.thumbnailUrl]).size);
    for (const [caption, kept] of [
      [null, 'old'],
      ['', 'old'],
      ['new', 'new'],
    ] as const) {
      const again = await upload([
        filePart(image),
        ...(caption === null ? [] : [textPart('caption', caption)]),
      ]);
      assert.deepEqual(again.json, first.json);
      assert.deepEqual(
        (await list()).map((one) => one.caption),
        [kept],
      );
    }
    const { json } = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Edam' } });
    const url = `/v2/cheeses/${json.id}/uploadImage`;
    const { payload, type } = await formOf(image);
    const other = await shop.request('POST', url, {
      as: shop.writer,
      raw: payload,
      headers: { 'content-type': type },
    });
    assert.deepEqual(other.json, first.json);
    assert.deepEqual([await files(), await photoUrls()], [stored, [first.json.imageUrl]]);
    const rows = await shop.app.database.all(sql`select name from image_file where state = 'stored'`);
    assert.equal(rows.length, stored.length);
  });

  test('An uploaded image is in photoUrls once when ten are uploaded in parallel', async (t) => {
    const { upload, photoUrls, list } = await openImageShop(t, engine);
    const images = await Promise.all(Array.from({ length: 5 }, (_, shade) => imageIn('png', shade)));
    const responses = await Promise.all([...images, ...images].map((one) => upload([filePart(one)])));
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
    const urls = [...new Set(responses.map(({ json }) => json.imageUrl))].sort();
    assert.equal(urls.length, 5);
    assert.deepEqual((await photoUrls()).sort(), urls);
    assert.deepEqual((await list()).map(({ imageUrl }) => imageUrl).sort(), urls);
  });

  test('An uploaded image with an Idempotency-Key is stored once, and another image or caption under the key is 422', async (t) => {
    const { upload, photoUrls, eventTypes, list } = await openImageShop(t, engine);
    const headers = { 'idempotency-key': 'once' };
    const image = await imageIn('png');
    const parts = [filePart(image), textPart('caption', 'one')];
    const first = await upload(parts, headers);
    assert.deepEqual([first.status, first.headers['idempotency-replayed']], [200, undefined]);
    const again = await upload(parts, headers);
    assert.deepEqual(
      [again.status, again.text, again.headers['idempotency-replayed']],
      [200, first.text, 'true'],
    );
    for (const other of [
      [filePart(await imageIn('png', 99)), textPart('caption', 'one')],
      [filePart(image), textPart('caption', 'two')],
      [filePart(image)],
      [filePart(image), textPart('caption', 'one'), textPart('isPrimary', 'true')],
    ]) {
      const refused = await upload(other, headers);
      assertError(refused, 422, 'validation_error');
      assert.equal(refused.headers['idempotency-replayed'], undefined);
    }
    assert.deepEqual(await photoUrls(), [first.json.imageUrl]);
    assert.deepEqual(await list().then((all) => all.map(({ caption }) => caption)), ['one']);
    assert.deepEqual(await eventTypes(), ['cheese.updated', 'cheese.image_uploaded']);
    assert.equal((await upload(parts)).headers['idempotency-replayed'], undefined);
  });

  test('An uploaded image does not use up an Idempotency-Key when it is refused', async (t) => {
    const { upload } = await openImageShop(t, engine);
    const headers = { 'idempotency-key': 'once' };
    assertError(await upload([filePart('no image')], headers), 415, 'unsupported_media_type');
    const damaged = (await imageIn('png')).subarray(0, 60);
    assertError(await upload([filePart(damaged)], headers), 415, 'unsupported_media_type');
    assert.equal((await upload([filePart(await imageIn('png'))], headers)).status, 200);
  });

  test('An uploaded image is refused when the cheese has 100 photoUrls, unless it is one of them', async (t) => {
    const { shop, cheeseId, upload, photoUrls } = await openImageShop(t, engine);
    const setUrls = async (count: number) => {
      const photos = Array.from({ length: count }, (_, index) => `https://example.com/${index}.jpg`);
      const body = { id: cheeseId, name: 'Gruyère', status: 'available', photoUrls: photos };
      const response = await shop.request('PUT', '/v2/cheeses', { as: shop.writer, body });
      assert.equal(response.status, 200, response.text);
    };
    await setUrls(99);
    const [one, two] = [await imageIn('png', 1), await imageIn('png', 2)];
    const { json } = await upload([filePart(one)]);
    const before = await photoUrls();
    assert.deepEqual([before.length, before.at(-1)], [100, json.imageUrl]);
    for (const isPrimary of ['true', 'false']) {
      const answer = await upload([filePart(two), textPart('isPrimary', isPrimary)]);
      assertError(answer, 422, 'validation_error');
      assert.equal(answer.json.errors[0].field, 'file');
    }
    assert.deepEqual(await photoUrls(), before);
    assert.equal((await upload([filePart(one), textPart('isPrimary', 'true')])).status, 200);
    assert.deepEqual(await photoUrls(), [json.imageUrl, ...before.slice(0, -1)]);
  });
});

suite('An uploaded image', () => {
  test('An uploaded image of each format is accepted, with and without a declared type', async (t) => {
    const { upload, photoUrls, show, metadata } = await openImageShop(t);
    for (const [index, format] of formats.entries()) {
      const image = await imageIn(format);
      const mediaType = `image/${format}`;
      for (const type of [
        mediaType,
        mediaType.toUpperCase(),
        `${mediaType}; q=1`,
        'application/octet-stream',
        null,
      ]) {
        const { status, json, text } = await upload([filePart(image, type)]);
        assert.equal(status, 200, `${type} ${text}`);
        assert.deepEqual(Object.keys(json), ['imageUrl', 'thumbnailUrl', 'size']);
        assert.equal(json.size, image.length);
        assert.match(
          json.imageUrl,
          new RegExp(`^http.*/images/[0-9a-f]{64}-[0-9a-f]{64}\\.${extensions[format]}$`),
        );
        assert.match(json.thumbnailUrl, /^http.*\/images\/[0-9a-f]{64}\.webp$/);
        assert.equal(thumbnailOf(json.imageUrl), json.thumbnailUrl);
        assert.equal((await show(json.imageUrl)).headers['content-type'], mediaType);
        const { format: kept, width, height } = await metadata(json.imageUrl);
        assert.deepEqual([kept, width, height], [format, 8, 6]);
        assert.deepEqual(
          [(await photoUrls())[index], (await photoUrls()).length],
          [json.imageUrl, index + 1],
        );
      }
    }
  });
});

/** A form with the details of another HTTP client. */
async function formOf(image: Buffer): Promise<{ payload: Buffer; type: string }> {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(image)], { type: 'image/webp' }), 'käse "1".webp');
  const request = new Request('http://shop', { method: 'POST', body: form });
  const type = request.headers.get('content-type') ?? '';
  return { payload: Buffer.from(await request.arrayBuffer()), type };
}
