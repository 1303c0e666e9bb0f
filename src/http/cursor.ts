/** Opaque page cursors: a position and the query it belongs to, signed so that nobody can make one up. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../errors.ts';

export interface Cursors {
  seal(position: unknown): string;
  /** @throws AppError badRequest where the text is not one of ours, letter by letter. */
  open(cursor: string): unknown;
}

/** Cursors under one secret; they never expire, and hold on every instance with the same secret. */
export function createCursors(secret: string): Cursors {
  function sign(payload: string): string {
    return createHmac('sha256', secret).update('cursor\0').update(payload).digest('base64url').slice(0, 22);
  }

  return {
    seal(position) {
      const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
      return `${payload}.${sign(payload)}`;
    },
    open(cursor) {
      const [payload = '', signature = ''] = cursor.split('.', 2);
      const expected = sign(payload);
      const isOurs =
        cursor === `${payload}.${signature}` &&
        signature.length === expected.length &&
        timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
      if (!isOurs) {
        throw new AppError(
          'badRequest',
          'cursor: take the value of nextCursor from an earlier page, unchanged.',
        );
      }
      return JSON.parse(Buffer.from(payload, 'base64url').toString());
    },
  };
}
