/** Durations as text. Those of settings and requests are a whole number and a unit, such as `500ms`, `6s`, `15m`, `24h` or `90d`. */

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A hundred years. Later dates can have a year of five digits, which timestamps do not support. */
export const durationMax = '36500d';
const durationMsMax = 36_500 * 86_400_000;

/** Milliseconds, or null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  const milliseconds = Number(digits) * (units[unit] ?? Number.NaN);
  return milliseconds <= durationMsMax ? milliseconds : null;
}

const isoUnits = [
  ['H', 3_600_000],
  ['M', 60_000],
] as const;

/** A duration by ISO 8601, such as `P3DT4H5.25S`; `PT0S` for none. Days have 24 hours. */
export function isoDuration(milliseconds: number): string {
  const days = Math.floor(milliseconds / 86_400_000);
  let rest = milliseconds % 86_400_000;
  let time = '';
  for (const [unit, unitMs] of isoUnits) {
    const count = Math.floor(rest / unitMs);
    time += count > 0 ? `${count}${unit}` : '';
    rest %= unitMs;
  }
  if (rest > 0 || (days === 0 && time === '')) {
    time += `${rest / 1000}S`;
  }
  return `P${days > 0 ? `${days}D` : ''}${time === '' ? '' : `T${time}`}`;
}
