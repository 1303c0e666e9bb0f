/** The value of a Link header to the next page (RFC 8288). */
export function nextLink(path: string, query: Readonly<Record<string, string>>): string {
  return `<${path}?${new URLSearchParams(query)}>; rel="next"`;
}

/** The headers of a page whose link to the next one needs only the cursor: none on the last page. */
export function nextPageHeader(path: string, nextCursor: string | null, limit: number): { Link?: string } {
  return nextCursor === null ? {} : { Link: nextLink(path, { cursor: nextCursor, limit: String(limit) }) };
}
