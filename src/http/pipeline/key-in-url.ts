/**
 * The publishable key in a URL, with which a page reads the catalogue without a preflight. A secret key there is refused,
 * whatever else the request contains: histories, logs and proxies keep URLs.
 */
import type { PublishableAccess } from '../../access/access.ts';
import { type AppError, invalidCredential, parameterError } from '../../errors.ts';

/** Looked for in decoded text, because histories keep a percent-encoded key too. */
const secretKey = /\b[sr]k_(live|test)_/;
const publishableKey = /^pk_(live|test)_/;

interface Target {
  readonly method: string;
  readonly publishable?: PublishableAccess;
}

/** Whether the route takes a publishable key as the parameter `key`. */
export function takesKeyInUrl({ method, publishable }: Target): boolean {
  return publishable === 'catalogue' && method === 'GET';
}

/** null if the URL has no key. @throws AppError unauthorized, badRequest */
export function keyInUrl(query: URLSearchParams, route: Target): string | null {
  if ([...query].some((pair) => pair.some((text) => secretKey.test(text)))) {
    throw refusal(
      'A secret API key was sent in the URL, which histories, logs and proxies keep. Revoke this key, create another, and send it in X-API-Key.',
    );
  }
  const takesKey = takesKeyInUrl(route);
  const keys = query.getAll('key').filter((text) => takesKey || publishableKey.test(text));
  const [key = null] = keys;
  if (key !== null && !takesKey) {
    throw refusal(
      'A publishable key in the URL is only for reading the catalogue with GET. Send it in X-API-Key here.',
    );
  }
  if (keys.length > 1) {
    throw parameterError('key', 'must be sent only once');
  }
  if (key !== null && !publishableKey.test(key)) {
    throw refusal(
      'The parameter key must be a publishable API key, which starts with pk_live_ or pk_test_. Send other credentials in X-API-Key or Authorization.',
    );
  }
  return key;
}

function refusal(reason: string): AppError {
  return invalidCredential(reason, reason);
}
