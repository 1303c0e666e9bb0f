/** Options of the commands on events. */

import { parseDuration } from '../../duration.ts';
import { timestampRule } from '../../schema/text-rules.ts';
import { ConfigError, type Parser, parseInteger, parseText, parseWords } from '../../settings/parsers.ts';
import { booleanOption, option, requiredOption } from './options.ts';

const types = option('types', 'types with commas, such as "order.*,cheese.created"', parseWords(parseText));

const position = 'an event id, an RFC 3339 time, earliest or latest';

export const listEventsOptions = {
  since: option(
    'position',
    `events after this position: ${position} (default: the newest events)`,
    parseText,
  ),
  types,
  limit: requiredOption('number', 'how many', parseInteger(1, 10_000), '20'),
};

export const tailEventsOptions = { types };

const parseHttpUrl: Parser<string> = (text, name) => {
  if (!/^https?:\/\/[^/?#]/.test(text)) {
    throw new ConfigError(`${name} is "${text}", but must be a URL such as http://localhost:3000/webhooks.`);
  }
  return text;
};

const parseWebhookSecret: Parser<string> = (text, name) => {
  if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(text)) {
    throw new ConfigError(`${name} must be whsec_ and the base64 of 24 to 64 bytes.`);
  }
  return text;
};

export const listenOptions = {
  forwardTo: requiredOption(
    'url',
    'URL of the receiver, such as http://localhost:3000/webhooks',
    parseHttpUrl,
  ),
  types,
  since: option('position', `events after this position: ${position} (default: latest)`, parseText),
  server: option('url', 'server of the shop (default: that of the settings)', parseHttpUrl),
  key: option('key', 'API key (default: CURD_KEY)', parseText),
  webhookSecret: option('whsec', 'secret that signs (default: a new one)', parseWebhookSecret),
};

export const triggerOptions = {
  subject: option(
    'kind:id',
    'what the event happens to, such as order:31; by default something new',
    parseText,
  ),
  list: booleanOption('print the types of events'),
};

/** How far the clock of a test shop is moved. */
export const parseAdvance: Parser<{ readonly advance: string } | { readonly to: string }> = (text, name) => {
  if (parseDuration(text) !== null) {
    return { advance: text };
  }
  if (timestampRule.test(text)) {
    return { to: text };
  }
  throw new ConfigError(
    `${name} is "${text}": set it to how far, such as 90s, 24h or 3d and at most 366d, or to a time such as 2026-12-24T12:00:00Z.`,
  );
};
