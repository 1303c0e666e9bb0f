/** Range requests (RFC 9110, section 14). */
import { AppError } from '../../errors.ts';
import type { ByteRange } from '../../files/files.ts';

/**
 * The requested range of `bytes` bytes; null for all of them. A request for several ranges gets all bytes, which a server
 * may do.
 * @throws AppError rangeNotSatisfiable
 */
export function parseRange(header: string | undefined, bytes: number): ByteRange | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') {
    return null;
  }
  const first = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (from !== '' && to !== '' && Number(from) > Number(to)) {
    return null;
  }
  if (first > last) {
    throw new AppError('rangeNotSatisfiable', `The file has ${bytes} bytes.`, {
      details: { size: bytes },
    });
  }
  return { first, last };
}

/** If-Range: a range is useful only to a client that has the rest of the same version. Strong comparison. */
export function isRangeWanted(ifRange: string | string[] | undefined, tag: string): boolean {
  return ifRange === undefined || String(ifRange).trim() === tag;
}
