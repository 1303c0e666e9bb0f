/**
 * The format of an API key: `sk_` (secret), `pk_` (publishable) or `rk_` (restricted), `live_` or `test_`, 30 random
 * base62 characters (178 bits), and a CRC32 of all that in 6 more. The checksum adds no security: it refuses damaged and invented keys without a database query.
 */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { KeyKind } from '../../access/key-limits.ts';
import type { Clock } from '../../clock.ts';
import { base62 } from '../../random-text.ts';

export type KeyType = 'live' | 'test';

const randomLength = 30;
const checksumLength = 6;
/** The largest multiple of 62 in a byte. Larger bytes are skipped, so that all characters are equally likely. */
const unbiasedMax = 248;

/** How keys of a kind begin. */
export const keyPrefixes: Readonly<Record<KeyKind, string>> = {
  secret: 'sk',
  publishable: 'pk',
  restricted: 'rk',
};

/** A new key. */
export function makeKey(type: KeyType, clock: Clock, kind: KeyKind = 'secret'): string {
  let random = '';
  while (random.length < randomLength) {
    for (const byte of clock.random(randomLength)) {
      if (byte < unbiasedMax && random.length < randomLength) {
        random += base62[byte % base62.length];
      }
    }
  }
  const body = `${keyPrefixes[kind]}_${type}_${random}`;
  return body + checksum(body);
}

const form = /^[spr]k_(live|test)_[0-9A-Za-z]{36}$/;

/** Whether a text looks like a key; its checksum can be wrong. */
export const hasKeyForm = (text: string): boolean => form.test(text);

/** null when the key is malformed, or its checksum is wrong. */
export function typeOfKey(text: string): KeyType | null {
  const type = form.exec(text)?.[1];
  const isIntact = type !== undefined && text.endsWith(checksum(text.slice(0, -checksumLength)));
  return isIntact ? (type as KeyType) : null;
}

/** The stored form of a key: its SHA-256 in hexadecimal. 178 random bits need no slow hash. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let position = 0; position < checksumLength; position += 1) {
    digits = base62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
