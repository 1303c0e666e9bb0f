/** Accept-Encoding, and compressed bodies. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { acceptsGzip, compress } from '../../src/http/responses/compression.ts';

suite('acceptsGzip', () => {
  test('acceptsGzip follows Accept-Encoding (RFC 9110, 12.5.3)', () => {
    const table: [header: string | string[] | undefined, accepts: boolean][] = [
      [undefined, false],
      ['', false],
      ['gzip', true],
      ['GZip', true],
      ['gzip, deflate, br', true],
      ['deflate;q=0.5,gzip;q=1.0', true],
      ['gzip;q=0.001', true],
      ['gzip ; q=0.5', true],
      ['*', true],
      ['*;q=0.1', true],
      ['br, *', true],
      ['gzip;q=0', false],
      ['gzip;q=0.000', false],
      ['gzip;q=0, *', false],
      ['*, gzip;q=0', false],
      ['*;q=0', false],
      ['*;q=0, gzip', true],
      ['identity', false],
      ['br', false],
      ['gzipped', false],
      ['xgzip', false],
      ['identity;q=1, gzip;q=0', false],
      [['br', 'gzip'], true],
      ['gzip;Q=0', false],
      ['gzip;level=1;q=0', false],
      ['gzip;q=none', false],
      [`gzip${' '.repeat(10_000)}x`, false],
    ];
    for (const [header, accepts] of table) {
      assert.equal(acceptsGzip(header), accepts, String(header));
    }
  });

  test('acceptsGzip returns true or false for any header', () => {
    const header = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('gzip', '*', ';', 'q=', '0', '.', ',', ' ') }),
    );
    fc.assert(fc.property(header, (text) => assert.equal(typeof acceptsGzip(text), 'boolean')));
  });

  test('acceptsGzip uses the quality of gzip at any position', () => {
    const others = fc.array(fc.constantFrom<string>('br', 'deflate;q=0.3', 'identity;q=0', 'zstd'), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(others, fc.nat(), fc.integer({ min: 0, max: 1000 }), (codings, random, weight) => {
        const at = random % (codings.length + 1);
        const header = codings.toSpliced(at, 0, `gzip;q=${(weight / 1000).toFixed(3)}`).join(', ');
        assert.equal(acceptsGzip(header), weight > 0, header);
      }),
    );
  });
});

suite('compress', () => {
  test('compress() returns gzip of the body', async () => {
    const long = fc
      .tuple(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2048, max: 9000 }))
      .map(([text, length]) => text.padEnd(length, 'Époisses 🧀 ').toWellFormed());
    await fc.assert(
      fc.asyncProperty(long, async (body) => {
        const bytes = await compress(body);
        assert.ok(Buffer.isBuffer(bytes));
        assert.equal(gunzipSync(bytes).toString(), body);
      }),
      { numRuns: 30 },
    );
  });

  test('compress() compresses streams in pieces, also short ones', async () => {
    const pieces = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(pieces, async (texts) => {
        const stream = await compress(Readable.from(texts));
        assert.ok(stream instanceof Readable);
        assert.equal(gunzipSync(await buffer(stream)).toString(), texts.join(''));
      }),
      { numRuns: 30 },
    );
  });

  test('compress() fails when the stream fails, instead of ending early', async () => {
    async function* failing() {
      yield 'x'.repeat(100_000);
      throw new Error('the database went away');
    }
    const stream = await compress(Readable.from(failing()));
    assert.ok(stream instanceof Readable);
    await assert.rejects(buffer(stream), /the database went away/);
  });
});
