/** Parses ages in prose: "9 Months", "2 Years", "3 to 6 months", "Less than 1 Month", "Unripened". */

const daysInMonth = 30;
const monthsIn: Readonly<Record<string, number>> = {
  day: 1 / daysInMonth,
  week: 7 / daysInMonth,
  month: 1,
  year: 12,
};

/** Whole months, for a range its lower end; null when the text is not an age. */
export function parseRipening(text: string): number | null {
  const plain = text.trim().toLowerCase();
  if (/^(un-?ripened|unriped|none|fresh)\.?$/.test(plain)) {
    return 0;
  }
  // The lookbehind keeps the time linear: a match starts at the first digit of a number only.
  const match = /(?<!\d)(\d+(?:\.\d+)?)\s*(?:(?:-|to|or)\s*\d+(?:\.\d+)?\s*)?(day|week|month|year)s?\b/.exec(
    plain,
  );
  if (match === null) {
    return /^\d+$/.test(plain) ? Number(plain) : null;
  }
  const months = Math.floor(Number(match[1]) * (monthsIn[match[2] ?? ''] ?? 0));
  return /\bless than\b/.test(plain) ? Math.max(0, months - 1) : months;
}
