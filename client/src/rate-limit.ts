/** What remains of a limit. */
export interface Remaining {
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** The limits of the last response; a limit that it did not name is undefined. */
export interface RateLimit {
  /** The hourly quota. Plans without a quota have none. */
  readonly hour?: Remaining;
  readonly burst?: Remaining;
}

/** Reads `"hour";r=87;t=1742, "burst";r=9;t=1`. */
export function parseRateLimit(header: string | null): RateLimit {
  const limits = (header ?? '').matchAll(/"(\w+)";r=(\d+);t=(\d+)/g);
  return Object.fromEntries(
    Array.from(limits, ([, name, remaining, resetSeconds]) => [
      name,
      { remaining: Number(remaining), resetSeconds: Number(resetSeconds) },
    ]),
  );
}
