/** Small images for tests, and functions that upload, request and find them on disk. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import sharp from 'sharp';
import type { Shop, TestResponse } from '../helper.ts';

/** An image of one color. Each seed makes a different image. */
export function testImage(seed: number, side = 24, format: 'png' | 'jpeg' | 'webp' = 'png'): Promise<Buffer> {
  const background = { r: seed & 255, g: (seed >> 8) & 255, b: (seed >> 16) & 255 };
  return sharp({ create: { width: side, height: side, channels: 3, background } })
    .toFormat(format)
    .toBuffer();
}

/** An image that cannot be compressed: some milliseconds of work for each hundred pixels a side. */
export async function noise(side: number, format: 'png' | 'jpeg' | 'webp' = 'png'): Promise<Buffer> {
  const bytes = Buffer.alloc(side * side * 3);
  crypto.getRandomValues(bytes.subarray(0, 65_536));
  for (let done = 65_536; done < bytes.length; done += 65_536) {
    bytes.copy(bytes, done, (done / 65_536) % 7);
  }
  return sharp(bytes, { raw: { width: side, height: side, channels: 3 } })
    .toFormat(format)
    .toBuffer();
}

const boundary = 'between-the-parts';

/** A form as `request` expects it. */
export function formOf(bytes: Uint8Array, fields: Readonly<Record<string, string>> = {}) {
  const part = (rest: string) => Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${rest}`);
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    raw: Buffer.concat([
      ...Object.entries(fields).map(([name, value]) => part(`name="${name}"\r\n\r\n${value}\r\n`)),
      part('name="file"; filename="a.bin"\r\n\r\n'),
      bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}

export function upload(
  shop: Shop,
  cheeseId: number,
  bytes: Uint8Array,
  as = shop.writer,
): Promise<TestResponse> {
  return shop.request('POST', `/v2/cheeses/${cheeseId}/uploadImage`, { as, ...formOf(bytes) });
}

export interface ImageUrls {
  readonly imageUrl: string;
  readonly thumbnailUrl: string;
}

/** Uploads an image and asserts success. */
export async function uploaded(shop: Shop, cheeseId: number, bytes: Uint8Array): Promise<ImageUrls> {
  const response = await upload(shop, cheeseId, bytes);
  assert.equal(response.status, 200, response.text);
  return response.json;
}

export const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);

/** Requests an image without a credential. */
export async function shown(shop: Shop, url: string, headers: Record<string, string> = {}, method = 'GET') {
  const path = `/images/${nameOf(url)}`;
  const response = await shop.app.server.inject({ method: method as 'GET', url: path, headers });
  return { status: response.statusCode, headers: response.headers, bytes: response.rawPayload };
}

/** Asserts that the image exists and that its content matches its name. */
export async function assertShown(shop: Shop, url: string): Promise<void> {
  const { status, bytes } = await shown(shop, url);
  assert.equal(status, 200, url);
  assertWhole(url, bytes);
}

export function assertWhole(url: string, bytes: Uint8Array): void {
  assert.equal(hash('sha256', bytes), nameOf(url).slice(0, 64), `${url} holds something else`);
}

export async function imagesOf(shop: Shop, cheeseId: number): Promise<ImageUrls[]> {
  const response = await shop.request('GET', `/v2/cheeses/${cheeseId}/images`, { as: shop.reader });
  assert.equal(response.status, 200, response.text);
  return response.json.items;
}

/** Names of all files in a folder and its subfolders. */
export function namesIn(folder: string): string[] {
  if (!existsSync(folder)) {
    return [];
  }
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted();
}

/** The folder with the images of a shop. */
export function imagesFolder({ config }: Shop): string {
  assert.equal(config.images.kind, 'folder');
  return config.images.folder;
}

/** Open files of this process whose path contains `part`. Linux only. */
export function openFiles(part: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((one) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${one}`);
      return path.includes(part) ? [path] : [];
    } catch {
      return [];
    }
  });
}
