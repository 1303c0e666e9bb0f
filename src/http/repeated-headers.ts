/**
 * Headers that a request may contain once. Node keeps the first of several `Authorization`, `Content-Type` or `Host`
 * headers and drops the others, while a proxy in front may have checked the last.
 */
const singleHeaders = ['host', 'content-type', 'idempotency-key'];

/** Does the request contain the header more than once? @param name in lower case */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string;
    // The length rules out nearly all of them without making a string.
    if (given.length === name.length && given.toLowerCase() === name) {
      found += 1;
    }
  }
  return found > 1;
}

/** The first header that is repeated and must not be. Credentials are checked where they are read. */
export function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  return singleHeaders.find((name) => isRepeated(rawHeaders, name));
}
