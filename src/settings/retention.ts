/** Settings that say how long the server keeps what it has recorded. */
import { ConfigError, type Parser, parseDurationSetting } from './parsers.ts';

/** Webhooks are repeated for 75.6 hours. */
const eventRetentionDaysMin = 4;

/** Milliseconds; null for ever. */
export const parseEventRetention: Parser<number | null> = (text, name) => {
  if (text === 'forever') {
    return null;
  }
  const milliseconds = parseDurationSetting(text, name);
  if (milliseconds < eventRetentionDaysMin * 24 * 60 * 60 * 1000) {
    throw new ConfigError(
      `${name} is "${text}": webhooks are repeated for more than three days. Set at least ${eventRetentionDaysMin}d, or forever.`,
    );
  }
  return milliseconds;
};
