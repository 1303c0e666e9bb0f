/** Durations as text: a whole number and a unit, such as `500ms`, `6s`, `15m`, `24h` or `90d`. */

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A hundred years. Later dates can have a year of five digits, which timestamps do not support. */
const durationMsMax = 36_500 * 86_400_000;

/** Milliseconds, or null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  const milliseconds = Number(digits) * (units[unit] ?? Number.NaN);
  return milliseconds <= durationMsMax ? milliseconds : null;
}
