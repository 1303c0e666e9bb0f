/** The header Idempotency-Key. */
import { AppError } from '../errors.ts';

export const keyLengthMax = 255;

/**
 * The key in the header: a structured-field string (RFC 9651), as the IETF draft requires, or without quotes.
 * @throws AppError badRequest
 */
export function parseIdempotencyKey(header: string): string {
  const text = header.trim();
  const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(text)?.[1];
  const key = quoted?.replace(/\\(.)/g, '$1') ?? text;
  if (key === '' || key.length > keyLengthMax || (quoted === undefined && !/^[\x21\x23-\x7e]+$/.test(key))) {
    throw new AppError('badRequest', `Idempotency-Key: send 1 to ${keyLengthMax} visible ASCII characters.`);
  }
  return key;
}
