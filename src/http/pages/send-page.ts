/** Sends pages, with headers (CSP and others) that permit no script, no frame, no referrer and no cache. */
import type { ServerResponse } from 'node:http';

interface PageOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Origin or scheme that the form may redirect to in the end: browsers check redirects against form-action too. */
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

/** Redirects by GET (RFC 9110, section 15.4.4), so the browser does not send the submitted fields again. */
export function redirectSeeOther(response: ServerResponse, path: string): void {
  setPageHeaders(response);
  response.statusCode = 303;
  response.setHeader('Location', path);
  response.end();
}

/** The headers of pages, and of redirects between pages. */
export function setPageHeaders(response: ServerResponse, formTarget = ''): void {
  const formAction = `'self'${formTarget === '' ? '' : ` ${formTarget}`}`;
  response.setHeader('Content-Security-Policy', contentSecurityPolicy({ style: "'self'", formAction }));
  for (const [name, value] of Object.entries(pageHeaders)) {
    response.setHeader(name, value);
  }
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
}

/** The headers that all pages have in common. */
export const pageHeaders = { 'X-Frame-Options': 'DENY', 'Referrer-Policy': 'no-referrer' } as const;

/** Permits `img-src` of this server, and the named sources of styles and targets of forms. */
export function contentSecurityPolicy(sources: {
  readonly style: string;
  readonly formAction: string;
}): string {
  return [
    "default-src 'none'",
    `style-src ${sources.style}`,
    "img-src 'self'",
    `form-action ${sources.formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
