/** Forms with a file, received in pieces of any size. */
import assert from 'node:assert/strict';
import { hash, pbkdf2, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { AppError } from '../../src/errors.ts';
import { type ReceivedForm, receiveMultipart } from '../../src/http/bodies/multipart.ts';
import { toErrorStatus } from '../../src/http/responses/error-mapping.ts';
import { bodyOf, boundary, filePart, type Part, textPart } from '../api/image-forms.ts';
import { temporaryFolder } from '../context.ts';

const formType = `multipart/form-data; boundary=${boundary}`;
const fileBytesMax = 4096;

/** A request as Node provides it: a stream with headers. */
function requestOf(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  type = formType,
): IncomingMessage {
  const request = Readable.from(chunks, { objectMode: false });
  return Object.assign(request, { headers: { 'content-type': type } }) as unknown as IncomingMessage;
}

function cut(body: Buffer, at: readonly number[]): Buffer[] {
  const places = [...new Set(at.map((one) => one % (body.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((place, index) => body.subarray(place, places[index] ?? body.length));
}

/** The form, or the status of the refusal. Any other error fails the test, and so does a promise that never settles. */
async function outcomeOf(request: IncomingMessage, folder: string): Promise<ReceivedForm | number> {
  const plan = { fileField: 'file', fileBytesMax, path: join(folder, randomUUID()) };
  const late = sleep(5000, undefined, { ref: false }).then(() => assert.fail('the form is never through'));
  try {
    return await Promise.race([receiveMultipart(request, plan), late]);
  } catch (error) {
    assert.ok(error instanceof AppError && toErrorStatus(error) < 500, String(error));
    return toErrorStatus(error);
  }
}

async function formOf(request: IncomingMessage, folder: string): Promise<ReceivedForm> {
  const outcome = await outcomeOf(request, folder);
  assert.ok(typeof outcome !== 'number', `refused with ${outcome}`);
  return outcome;
}

/** Line ends, hyphens, pieces of the boundary, and other bytes. */
const lookalikes = fc
  .array(
    fc.oneof(
      fc.constantFrom('\r', '\n', '\r\n', '-', '--', '\r\n--', '\r\n\r\n', 'Content-Type: a/b', '\0'),
      fc.nat(boundary.length - 1).map((length) => `\r\n--${boundary.slice(0, length)}`),
      fc.nat(boundary.length - 1).map((length) => boundary.slice(length)),
      fc.constantFrom(`--${boundary}`, `\n--${boundary}--`, `-${boundary}--\r\n`),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => Buffer.from(pieces.join('')));
const content = fc
  .oneof(
    lookalikes,
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  )
  // A client chooses a boundary that is not in the content.
  .filter((bytes) => !`\r\n${bytes.toString('latin1')}`.includes(`\r\n--${boundary}`));
const name = fc
  .string({
    unit: fc.constantFrom('a', 'b', 'é', '🧀', ';', '=', ' ', '[', '%', ',', ':', '/'),
    maxLength: 12,
  })
  .filter((text) => text !== 'file');
const value = fc.string({ unit: 'grapheme', maxLength: 60 });
const cuts = fc.array(fc.nat(), { maxLength: 12 });

suite('A form', () => {
  test('A multipart form returns the bytes of its file and its fields in order, for any pieces', async (t) => {
    const folder = await temporaryFolder(t);
    const fields = fc.array(fc.tuple(name, value), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(content, fields, fc.nat(), cuts, async (bytes, texts, random, at) => {
        const parts = texts.map(([key, text]) => textPart(key, text));
        const body = bodyOf(
          parts.toSpliced(random % (parts.length + 1), 0, filePart(bytes, 'Image/PNG; x=1')),
        );
        const form = await formOf(requestOf(cut(body, at)), folder);
        assert.deepEqual(await readFile(form.file?.path ?? ''), bytes);
        assert.equal(form.file?.bytes, bytes.length);
        assert.equal(await form.file?.digest(), hash('sha256', bytes));
        assert.equal(form.file?.mediaType, 'image/png');
        assert.deepEqual(form.file?.head.subarray(0, 16), bytes.subarray(0, 16));
        assert.deepEqual([...form.fields], texts);
      }),
      { numRuns: 400 },
    );
  });

  test('A multipart form is the same when each byte arrives alone', async (t) => {
    const folder = await temporaryFolder(t);
    const bytes = Buffer.from(`\r\n--curd-boundar\r\n\r\n--\r\n-`);
    const body = bodyOf([textPart('a', 'é🧀'), filePart(bytes), textPart('a', ''), textPart('b', '\r\n')]);
    const form = await formOf(requestOf(Array.from(body, (byte) => Buffer.from([byte]))), folder);
    assert.deepEqual(await readFile(form.file?.path ?? ''), bytes);
    assert.deepEqual([form.file?.mediaType, form.file?.bytes], [null, bytes.length]);
    assert.deepEqual(
      [...form.fields],
      [
        ['a', 'é🧀'],
        ['a', ''],
        ['b', '\r\n'],
      ],
    );
  });

  test('A multipart form keeps the order of its fields in large and small pieces', async (t) => {
    const folder = await temporaryFolder(t);
    const texts = [3000, 0, 8192, 1, 5000, 2].map(
      (length, index) => [`field${index}`, 'x'.repeat(length)] as const,
    );
    const body = bodyOf(texts.map(([key, text]) => textPart(key, text)));
    for (const size of [1, 7, 100, 4096, body.length]) {
      const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
        body.subarray(index * size, (index + 1) * size),
      );
      const { fields } = await formOf(requestOf(chunks), folder);
      assert.deepEqual(
        [...fields.keys()],
        texts.map(([key]) => key),
        `pieces of ${size}`,
      );
    }
  });

  test('A multipart form can have text before and after it, and any boundary that RFC 2046 permits', async (t) => {
    const folder = await temporaryFolder(t);
    for (const separator of ['x', '-', '--', "0'()+_,-./:=? 9", 'y'.repeat(70)]) {
      const body = bodyOf([filePart('bytes'), textPart('a', 'b')], separator);
      const framed = Buffer.concat([
        Buffer.from('a preface\r\n'),
        body,
        Buffer.from('and an epilogue\r\n--'),
      ]);
      const type = `Multipart/Form-Data; charset=utf-8; Boundary="${separator}"`;
      const { file, fields } = await formOf(requestOf([framed], type), folder);
      assert.equal(await readFile(file?.path ?? '', 'utf8'), 'bytes', separator);
      assert.equal(fields.get('a'), 'b');
    }
  });

  test('A multipart form is refused when its file is one byte too large, for any pieces', async (t) => {
    const folder = await temporaryFolder(t);
    const extra = fc.integer({ min: -2, max: 2 });
    await fc.assert(
      fc.asyncProperty(extra, cuts, async (more, at) => {
        const body = bodyOf([filePart(Buffer.alloc(fileBytesMax + more, 13)), textPart('a', 'b')]);
        const outcome = await outcomeOf(requestOf(cut(body, at)), folder);
        assert.equal(
          typeof outcome === 'number' ? outcome : outcome.file?.bytes,
          more > 0 ? 413 : fileBytesMax + more,
        );
      }),
      { numRuns: 100 },
    );
  });

  test('A multipart form that is truncated anywhere is 422', async (t) => {
    const folder = await temporaryFolder(t);
    const body = bodyOf([
      textPart('caption', 'one'),
      filePart(Buffer.alloc(60, 'x')),
      textPart('isPrimary', 'true'),
    ]);
    const whole = body.length - '--\r\n'.length;
    for (let length = 0; length <= whole; length += 1) {
      const outcome = await outcomeOf(requestOf(cut(body.subarray(0, length), [length >> 1])), folder);
      assert.equal(outcome, 422, `${length} of ${body.length} bytes`);
    }
    const form = await formOf(requestOf([body.subarray(0, whole + 2)]), folder);
    assert.equal(form.file?.bytes, 60);
  });

  test('A multipart form whose connection closes anywhere is refused and does not hang', async (t) => {
    const folder = await temporaryFolder(t);
    const body = bodyOf([textPart('caption', 'one'), filePart(Buffer.alloc(600, 'x'))]);
    async function* broken(length: number) {
      yield body.subarray(0, length);
      await sleep(1);
      throw new Error('aborted');
    }
    for (let length = 0; length < body.length - 4; length += 31) {
      assert.equal(await outcomeOf(requestOf(broken(length)), folder), 422, String(length));
    }
  });

  test('A multipart form that is not a form is refused and does not hang', async (t) => {
    const folder = await temporaryFolder(t);
    const piece = fc.oneof(
      fc.constantFrom('\r\n', '\r', '\n', '--', ':', ';', '"', ' ', '\0', '='),
      fc.constantFrom(`--${boundary}`, `\r\n--${boundary}\r\n`, `\r\n--${boundary}--`, boundary, '\r\n\r\n'),
      fc.constantFrom('Content-Disposition: form-data; name="file"', 'content-disposition:form-data;name=a'),
      fc.constantFrom('Content-Type: image/png', '__proto__: x', 'filename*=UTF-8', 'x'.repeat(5000)),
      fc.string({ maxLength: 5 }),
    );
    const garbage = fc.array(piece, { maxLength: 25 }).map((pieces) => Buffer.from(pieces.join('')));
    const type = fc.oneof(
      { weight: 5, arbitrary: fc.constant(formType) },
      { weight: 1, arbitrary: fc.string().map((text) => `multipart/form-data;${text}`) },
      { weight: 1, arbitrary: fc.string().map((text) => `multipart/form-data; boundary=${text}`) },
      { weight: 1, arbitrary: fc.string() },
    );
    await fc.assert(
      fc.asyncProperty(garbage, type, cuts, async (bytes, contentType, at) => {
        const outcome = await outcomeOf(requestOf(cut(bytes, at), contentType), folder);
        assert.ok(typeof outcome !== 'number' || [413, 415, 422].includes(outcome), String(outcome));
      }),
      { numRuns: 1500 },
    );
  });

  test('A multipart form whose parts have unusual headers is read or refused and does not hang', async (t) => {
    const folder = await temporaryFolder(t);
    const line = fc.oneof(
      fc.constantFrom(
        'Content-Disposition: form-data; name="file"',
        'Content-Disposition: form-data; name=a',
      ),
      fc.constantFrom(
        'Content-Disposition:',
        'Content-Disposition: attachment; name="file"',
        'no colon',
        ': x',
      ),
      fc.constantFrom(
        ' folded',
        '\tfolded',
        'Content-Type: ',
        'Content-Type: é',
        '__proto__: x',
        'constructor: y',
      ),
      fc.string().filter((text) => !text.includes('\r\n')),
      fc.nat(9000).map((length) => `X-Long: ${'y'.repeat(length)}`),
    );
    const part: fc.Arbitrary<Part> = fc.record({ headers: fc.array(line, { maxLength: 25 }), content });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 25 }), cuts, async (parts, at) => {
        await outcomeOf(requestOf(cut(bodyOf(parts), at)), folder);
      }),
      { numRuns: 500 },
    );
  });

  test('A multipart form that is cut off is refused after its file was created, also on a slow disk', async (t) => {
    const path = join(await temporaryFolder(t), 'incoming');
    const body = bodyOf([filePart(Buffer.from('bytes'))]);
    // Hashing uses the threads that open files: while all are busy, no file is opened.
    const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)('x', 'y', 100_000, 64, 'sha512'));
    const request = requestOf([body.subarray(0, body.indexOf('bytes') + 3)]);
    await assert.rejects(receiveMultipart(request, { fileField: 'file', fileBytesMax, path }));
    assert.equal(existsSync(path), true);
    await Promise.all(busy);
  });
});
