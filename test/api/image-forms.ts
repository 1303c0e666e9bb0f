/** Helpers for tests of images: small real images, forms byte by byte, and a shop with one cheese. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { type Engine, sql } from '../../src/database/sql.ts';
import {
  assertError,
  openShop,
  type Scope,
  type Shop,
  type ShopOptions,
  type TestResponse,
} from '../helper.ts';

export const boundary = 'curd-boundary';
export const mebibyte = 1024 * 1024;

/** One part of a form: its header lines and its content. */
export interface Part {
  readonly headers: readonly string[];
  readonly content: string | Uint8Array;
}

/** The part with the file. */
export function filePart(content: string | Uint8Array, type: string | null = null, fileName = 'a'): Part {
  const disposition = `Content-Disposition: form-data; name="file"; filename="${fileName}"`;
  return { headers: [disposition, ...(type === null ? [] : [`Content-Type: ${type}`])], content };
}

/** A part with a text field. */
export function textPart(name: string, content: string | Uint8Array): Part {
  return { headers: [`Content-Disposition: form-data; name="${name}"`], content };
}

/** The bytes of a form. Headers are encoded in UTF-8. */
export function bodyOf(parts: readonly Part[], separator = boundary): Buffer {
  const pieces = parts.flatMap(({ headers, content }) => [
    Buffer.from(`--${separator}\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${separator}--\r\n`)]);
}

export type Format = 'jpeg' | 'png' | 'webp';
export const formats: readonly Format[] = ['jpeg', 'png', 'webp'];

/** An image of one color, which is small to send. Each `shade` makes a different image. */
export function plain(width = 8, height = 6, shade = 40): Sharp {
  return sharp({ create: { width, height, channels: 3, background: { r: shade, g: 120, b: 200 } } });
}

export function imageIn(format: Format, shade = 40): Promise<Buffer> {
  return plain(8, 6, shade).toFormat(format).toBuffer();
}

/** A chunk of a PNG. */
export function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG with one bit for each pixel, all black: small to send, large to decode. */
export function blackPng(width: number, height: number, rows = height): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * rows));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const chunks = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

/**
 * A gray JPEG of any size: small to send, large to decode. With three scans, each color has one of its own, as in
 * progressive files.
 */
export function grayJpeg(width: number, height: number, scans: 1 | 3 = 1): Buffer {
  const segment = (marker: number, ...bytes: number[]) =>
    Buffer.from([0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 255, ...bytes]);
  // A table with one code of one bit. It means that a block has no difference to the one before.
  const codes = [1, ...Array<number>(15).fill(0), 0];
  const size = [height >> 8, height & 255, width >> 8, width & 255];
  const colors = [1, 2, 3];
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const scan = (of: readonly number[]) => {
    const data = Buffer.alloc(Math.ceil((blocks * of.length * 2) / 8));
    data[data.length - 1] = 0xff >> ((blocks * of.length * 2) % 8 || 8);
    return [segment(0xda, of.length, ...of.flatMap((color) => [color, 0]), 0, 63, 0), data];
  };
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, 0, ...Array<number>(64).fill(1)),
    segment(0xc0, 8, ...size, 3, ...colors.flatMap((color) => [color, 0x11, 0])),
    segment(0xc4, 0, ...codes),
    segment(0xc4, 0x10, ...codes),
    ...(scans === 1 ? scan(colors) : colors.flatMap((color) => scan([color]))),
    Buffer.from([0xff, 0xd9]),
  ]);
}

export interface Shown {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

export interface ImageShop {
  readonly shop: Shop;
  readonly cheeseId: number;
  /** The path to upload images of the cheese to. */
  readonly url: string;
  upload(parts: readonly Part[], headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  /** Sends a raw body with the Content-Type of a form. */
  send(raw: string | Uint8Array, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  photoUrls(): Promise<string[]>;
  // biome-ignore lint/suspicious/noExplicitAny: it was validated against its schema already.
  list(): Promise<any[]>;
  show(url: string, headers?: Readonly<Record<string, string>>, method?: 'GET' | 'HEAD'): Promise<Shown>;
  /** Metadata of a stored image. */
  metadata(url: string): Promise<Metadata>;
  /** Types of the events after the creation of the cheese. */
  eventTypes(): Promise<string[]>;
  files(): Promise<string[]>;
  /** Asserts that a request was refused and stored nothing. */
  assertRefused(response: TestResponse, status: number, note?: string): Promise<void>;
  assertUntouched(note?: string): Promise<void>;
}

const types: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'validation_error',
};

export async function openImageShop(
  t: Scope,
  engine: Engine = 'sqlite',
  options: ShopOptions = {},
): Promise<ImageShop> {
  const shop = await openShop(t, { engine, ...options });
  const made = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Gruyère' } });
  const cheeseId = made.json.id as number;
  const url = `/v2/cheeses/${cheeseId}/uploadImage`;
  const { database } = shop.app;

  const send: ImageShop['send'] = (raw, headers = {}) => {
    const all = { 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers };
    return shop.request('POST', url, { as: shop.writer, raw, headers: all });
  };
  const eventTypes = async () => {
    const rows = await database.all<{ type: string }>(
      sql`select type from event where subject = ${`cheese:${cheeseId}`} order by id`,
    );
    return rows.slice(1).map(({ type }) => type);
  };
  const show: ImageShop['show'] = async (at, headers = {}, method = 'GET') => {
    const path = at.startsWith('/') ? at : new URL(at).pathname;
    const {
      statusCode,
      headers: got,
      rawPayload,
    } = await shop.app.server.inject({ method, url: path, headers });
    return { status: statusCode, headers: got, bytes: rawPayload };
  };
  const assertUntouched = async (note = '') => {
    const { json, headers } = await shop.request('GET', `/v2/cheeses/${cheeseId}`, { as: shop.reader });
    assert.deepEqual([json, headers.etag], [made.json, made.headers.etag], note);
    const rows = await database.all(sql`
      select image_name as name from cheese_image union all select name from image_file where state = 'stored'`);
    assert.deepEqual([...rows], [], note);
    assert.deepEqual(await eventTypes(), [], note);
    await assertNothingIncoming(shop, note);
  };

  return {
    shop,
    cheeseId,
    url,
    upload: (parts, headers) => send(bodyOf(parts), headers),
    send,
    photoUrls: async () =>
      (await shop.request('GET', `/v2/cheeses/${cheeseId}`, { as: shop.reader })).json.photoUrls,
    list: async () =>
      (await shop.request('GET', `/v2/cheeses/${cheeseId}/images`, { as: shop.reader })).json.items,
    show,
    metadata: async (at) => sharp((await show(at)).bytes).metadata(),
    eventTypes,
    files: () => filesIn(`${shop.config.incomingDir}/../images`),
    async assertRefused(response, status, note = '') {
      assert.equal(response.status, status, `${note} ${response.text}`);
      assertError(response, status, types[status] ?? '');
      await assertUntouched(note);
    },
    assertUntouched,
  };
}

/** The file of a request is deleted when its response is sent, or soon after its connection breaks. */
export async function assertNothingIncoming({ config }: Shop, note = ''): Promise<void> {
  for (let waited = 0; waited < 2000 && (await filesIn(config.incomingDir)).length > 0; waited += 20) {
    await sleep(20);
  }
  assert.deepEqual(await filesIn(config.incomingDir), [], note);
}

async function filesIn(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return all.filter((one) => one.isFile()).map(({ name }) => name);
}
