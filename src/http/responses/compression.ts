/** Content coding of long responses (RFC 9110, section 12.5.3): gzip for clients that accept it. */
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { findQuality } from './quality-values.ts';

/** Compressing fewer bytes saves one packet at most. */
export const worthwhileBytes = 2048;
const gzipBuffer = promisify(gzip);

/** Does Accept-Encoding permit gzip: by name or by `*`, and not with quality 0? */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  if (header === undefined) {
    return false;
  }
  const codings = String(header);
  return (findQuality(codings, 'gzip') ?? findQuality(codings, '*') ?? 0) > 0;
}

/** The compressed body. */
export async function compress(body: string | Readable): Promise<Buffer | Readable> {
  if (body instanceof Readable) {
    // Level 1 shrinks a stream of JSON to a tenth; higher levels take more CPU time from other requests.
    return pipeline(body, createGzip({ level: 1 }), () => {});
  }
  return gzipBuffer(body, { level: 1 });
}
