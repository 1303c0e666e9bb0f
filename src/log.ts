/** Structured logs: one JSON object a line on standard error, quiet unless something is worth reading. */
import { pino } from 'pino';
import type { LogLevel } from './config.ts';

export type Log = ReturnType<typeof createLog>;

/** A log that never writes credentials, whatever it is handed. */
export function createLog(level: LogLevel) {
  return pino(
    { level, redact: ['*.authorization', '*["x-api-key"]', '*.password', '*.key', '*.secret'], base: null },
    pino.destination({ dest: 2, sync: true }),
  );
}
