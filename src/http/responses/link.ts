/** The value of a Link header to the next page (RFC 8288). */
export function nextLink(path: string, query: Readonly<Record<string, string>>): string {
  return `<${path}?${new URLSearchParams(query)}>; rel="next"`;
}

/** The headers of a page whose link to the next one needs only the cursor: none on the last page. */
export function nextPageHeader(path: string, nextCursor: string | null, limit: number): { Link?: string } {
  // Cursors need no percent-encoding. Writing them with URLSearchParams would take 2 us of the 50 us of a list.
  return nextCursor === null ? {} : { Link: `<${path}?cursor=${nextCursor}&limit=${limit}>; rel="next"` };
}
