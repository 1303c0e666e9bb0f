/** How pages go out and their forms come in: with the headers and the proofs that keep others out of them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../errors.ts';

const formBytesMax = 16 * 1024;

interface PageOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the form may lead in the end: browsers hold redirects against it as well. */
  readonly formTarget?: string | undefined;
}

/** Writes a page. */
export function sendPage(
  response: ServerResponse,
  status: number,
  page: string,
  options: PageOptions = {},
): void {
  setPageHeaders(response, options.formTarget);
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    response.setHeader(name, value);
  }
  response.statusCode = status;
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(page);
}

/** No script, no frame, no referrer, nothing kept: for pages and for whatever leads from one to the next. */
export function setPageHeaders(response: ServerResponse, formTarget = ''): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action 'self'${formTarget === '' ? '' : ` ${formTarget}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
  response.setHeader('Content-Security-Policy', policy);
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
}

/** Sends the browser on by GET (RFC 9110, section 15.4.4): what was typed does not travel along. */
export function redirectSeeOther(response: ServerResponse, path: string): void {
  setPageHeaders(response);
  response.statusCode = 303;
  response.setHeader('Location', path);
  response.end();
}

/** The fields of a form, each of which may stand once. @throws AppError unsupportedMediaType, payloadTooLarge, badRequest */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new AppError('unsupportedMediaType', 'Send a form.', {
      details: { accepts: ['application/x-www-form-urlencoded'] },
    });
  }
  const form = new URLSearchParams(await readText(request));
  if (new Set(form.keys()).size !== form.size) {
    throw new AppError('badRequest', 'A field of the form stands twice.');
  }
  return form;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > formBytesMax) {
        throw new AppError('payloadTooLarge', 'The form is too large.', { details: { isBodyUnread: true } });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof AppError ? error : new AppError('badRequest', 'The form ends in the middle.');
  }
  return Buffer.concat(chunks).toString('utf8');
}

export interface CsrfTokens {
  /** A token for forms about `subject`. */
  tokenFor(subject: string): string;
  /** Throws unless the form is ours: by its token, and by where the browser says it comes from. @throws AppError forbidden */
  require(request: IncomingMessage, form: URLSearchParams, subject: string): void;
}

/** @param origin of our own pages */
export function createCsrfTokens(secret: string, origin: string): CsrfTokens {
  const tokenFor = (subject: string) =>
    createHmac('sha256', secret).update(`form ${subject}`).digest('base64url');

  return {
    tokenFor,
    require({ headers }, form, subject) {
      // Pages send no referrer, for which browsers write the origin "null"; then they must say that it was ours.
      const isOurs =
        headers.origin === origin ||
        (headers.origin === 'null' && headers['sec-fetch-site'] === 'same-origin');
      const given = Buffer.from(form.get('token') ?? '');
      const expected = Buffer.from(tokenFor(subject));
      const isRight = given.length === expected.length && timingSafeEqual(given, expected);
      if (!isOurs || !isRight) {
        throw new AppError('forbidden', `The form did not come from a page of ${origin}.`);
      }
    },
  };
}
