/** CSRF tokens: a form is accepted only when it was submitted from a page of this server. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';

/** @param origin of the pages of this server */
export function createCsrfTokens(secret: string, origin: string) {
  /** The token for forms about `subject`, for a hidden field with the name `token`. */
  const tokenFor = (subject: string) =>
    createHmac('sha256', secret).update(`form ${subject}`).digest('base64url');

  return {
    tokenFor,
    /** Checks the token, and the origin that the browser sends. @throws AppError forbidden */
    require({ headers }: IncomingMessage, form: URLSearchParams, subject: string) {
      // The pages send no referrer, so browsers send the origin "null". Then Sec-Fetch-Site must name the same origin.
      const isSameOrigin =
        headers.origin === origin ||
        (headers.origin === 'null' && headers['sec-fetch-site'] === 'same-origin');
      const sent = Buffer.from(form.get('token') ?? '');
      const expected = Buffer.from(tokenFor(subject));
      const isTokenValid = sent.length === expected.length && timingSafeEqual(sent, expected);
      if (!isSameOrigin || !isTokenValid) {
        throw new AppError('forbidden', `The form did not come from a page of ${origin}.`);
      }
    },
  };
}
