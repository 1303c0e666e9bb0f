/** The header Idempotency-Key. */
import { AppError, parameterError } from '../../errors.ts';

export const keyLengthMax = 255;

/**
 * The key in the header: a structured-field string (RFC 9651), as the IETF draft requires, or without quotes.
 * @throws AppError badRequest
 */
export function parseIdempotencyKey(header: string): string {
  const text = header.trim();
  const quoted = unquote(text);
  const key = quoted ?? text;
  if (key === '' || key.length > keyLengthMax || (quoted === undefined && !/^[\x21\x23-\x7e]+$/.test(key))) {
    throw parameterError(
      'Idempotency-Key',
      `send 1 to ${keyLengthMax} visible ASCII characters. A key with spaces needs quotes.`,
    );
  }
  return key;
}

/** A key in a path, with quotes or without. There, a key without quotes may contain spaces. @throws AppError badRequest */
export function parseKeyInPath(text: string): string {
  const key = unquote(text) ?? text;
  if (key.length > keyLengthMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw new AppError('badRequest', `The key must have 1 to ${keyLengthMax} visible ASCII characters.`);
  }
  return key;
}

/** The text of a structured-field string; undefined if the text is none. */
function unquote(text: string): string | undefined {
  const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(text)?.[1];
  return quoted?.replace(/\\(.)/g, '$1');
}
