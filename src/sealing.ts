/**
 * Values that are stored encrypted, not hashed, because they are needed again: AES-256-GCM with a key that is derived
 * from CURD_SECRET. A value is bound to a text, such as the id of its row: copied to another row, it cannot be opened.
 */
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync } from 'node:crypto';
import type { Clock } from './clock.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** Random bytes for so many nonces are made at once: a call for each takes a quarter of the time of sealing. */
const noncesAtOnce = 256;

export interface Sealer {
  /** Nonce, tag and encrypted value, in base64. */
  seal(value: Uint8Array | string, boundTo: string): string;
  /** null if the value was sealed with another secret or for another text, or was changed. */
  open(sealed: string, boundTo: string): Buffer | null;
}

/** @param secret CURD_SECRET @param purpose makes the key differ from those for other values */
export function createSealer(clock: Pick<Clock, 'random'>, secret: string, purpose: string): Sealer {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
  let nonces: Uint8Array = new Uint8Array();

  /** Nonces are stored unencrypted, so it does no harm that the next ones are in memory. Each is used once. */
  function nextNonce(): Uint8Array {
    if (nonces.length === 0) {
      nonces = clock.random(noncesAtOnce * nonceBytes);
    }
    const nonce = nonces.subarray(0, nonceBytes);
    nonces = nonces.subarray(nonceBytes);
    return nonce;
  }

  return {
    seal(value, boundTo) {
      const nonce = nextNonce();
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(boundTo));
      const bytes = typeof value === 'string' ? Buffer.from(value) : value;
      const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64');
    },

    open(sealed, boundTo) {
      const bytes = Buffer.from(sealed, 'base64');
      const nonce = bytes.subarray(0, nonceBytes);
      const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes);
      try {
        const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
          .setAAD(Buffer.from(boundTo))
          .setAuthTag(tag);
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
      } catch {
        return null;
      }
    },
  };
}
