/** Static content: each encoding is made once, and all responses share its buffer. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);

export class Asset {
  readonly bytes: Buffer;
  /** Differs for different content: for ETags and versioned URLs. */
  readonly version: string;
  /** Bytes are compressed already. */
  readonly isText: boolean;
  #gzipped: Promise<Buffer> | null = null;

  constructor(content: string | Buffer) {
    this.bytes = typeof content === 'string' ? Buffer.from(content) : content;
    this.isText = typeof content === 'string';
    this.version = createHash('sha256').update(this.bytes).digest('base64url').slice(0, 22);
  }

  gzipped(): Promise<Buffer> {
    this.#gzipped ??= compress(this.bytes, { level: 9 });
    return this.#gzipped;
  }
}
