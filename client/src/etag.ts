/** The version of a resource travels with its body, without changing it. */
const etagKey = Symbol.for('@curd/client.etag');

/** The version of a response, for `ifMatch`; undefined where the operation has none. */
export function etagOf(body: object): string | undefined {
  return (body as { [etagKey]?: string })[etagKey];
}

/** Not enumerable: copies and comparisons see the body alone. */
export function attachEtag(body: unknown, etag: string | null): void {
  if (etag !== null && typeof body === 'object' && body !== null) {
    Object.defineProperty(body, etagKey, { value: etag });
  }
}
