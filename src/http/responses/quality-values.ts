/** Lists with quality values, such as Accept-Encoding (RFC 9110, section 12.4.2). */

/**
 * The quality of the first member with this name (in lower case); undefined if no member has it. A quality that is
 * not a number counts as 0. Linear in the length of the header: no regular expression, because clients choose the
 * header.
 */
export function findQuality(header: string, name: string): number | undefined {
  for (const member of header.split(',')) {
    const [value = '', ...parameters] = member.split(';');
    if (value.trim().toLowerCase() === name) {
      const quality = parameters
        .map((parameter) => parameter.trim().toLowerCase())
        .find((parameter) => parameter.startsWith('q='));
      return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
    }
  }
  return undefined;
}
