/** Content coding of long answers (RFC 9110, section 12.5.3): gzip, for whoever accepts it. */
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { qualityOf } from './quality-values.ts';

/** Below this many bytes a packet more or less makes no difference. */
export const worthwhileBytes = 2048;
const gzipBuffer = promisify(gzip);

/** Does Accept-Encoding take gzip? Named, or by `*`, and not with a weight of zero. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = String(header ?? '');
  return (qualityOf(codings, 'gzip') ?? qualityOf(codings, '*') ?? 0) > 0;
}

/** The compressed body, or null where it is not worth it. */
export async function compress(body: string | Readable): Promise<Buffer | Readable | null> {
  if (body instanceof Readable) {
    // Level 1: a stream of JSON shrinks to a tenth already, and the machine has other requests to serve.
    return pipeline(body, createGzip({ level: 1 }), () => {});
  }
  return body.length < worthwhileBytes ? null : gzipBuffer(body, { level: 1 });
}
