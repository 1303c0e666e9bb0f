/** The Link header to the next page (RFC 8288). */
export function nextLink(path: string, query: Readonly<Record<string, string>>): string {
  return `<${path}?${new URLSearchParams(query)}>; rel="next"`;
}
