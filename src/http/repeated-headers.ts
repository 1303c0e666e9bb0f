/**
 * Headers that a request may contain once. Node keeps the first of several `Authorization`, `Content-Type` or `Host`
 * headers and drops the others, while a proxy in front may have checked the last.
 */
export const singleHeaders = ['host', 'content-type', 'idempotency-key'];

/** Does the request contain the header more than once? @param name in lower case */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string;
    // Comparing lengths first avoids a lower-case copy of nearly every name.
    if (given.length === name.length && given.toLowerCase() === name) {
      found += 1;
    }
  }
  return found > 1;
}

/** The first repeated header that must be sent once. Headers with credentials are checked in auth/guard.ts. */
export function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  return singleHeaders.find((name) => isRepeated(rawHeaders, name));
}
