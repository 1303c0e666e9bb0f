/** The first of several times at which something is due. */

/** Milliseconds since the epoch; null without any. */
export function firstTimeOf(times: readonly (string | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known.map((time) => Date.parse(time)));
}
