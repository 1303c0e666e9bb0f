/** Random texts of digits and letters. */

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** One character for each byte. The first eight are a little more frequent, so use it for names, not for secrets. */
export function toBase62(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => base62[byte % base62.length]).join('');
}
