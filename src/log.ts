/**
 * Structured logs: one JSON object a line on standard error. Levels are names and times are RFC 3339, as log collectors
 * expect.
 */
import { pino } from 'pino';
import type { LogLevel } from './settings/config.ts';

export type Log = ReturnType<typeof createLog>;

/** A log that removes credentials from the objects that it writes. */
export function createLog(level: LogLevel) {
  return pino(
    {
      level,
      redact: ['*.authorization', '*["x-api-key"]', '*.password', '*.key', '*.secret'],
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
