/** The options of the commands on API keys. */
import { scopes } from '../../access/access.ts';
import { originRule } from '../../auth/keys/kinds.ts';
import { lineRule, networkRule } from '../../schema/text-rules.ts';
import {
  ConfigError,
  type Parser,
  parseDurationSetting,
  parseEnum,
  parseInteger,
  parseLifetime,
  parseText,
  parseWords,
} from '../../settings/parsers.ts';
import { booleanOption, option, repeatableOption, requiredOption } from './options.ts';

const parseKeyName: Parser<string> = (text, name) => {
  if ([...text].length > 100 || !lineRule.test(text)) {
    throw new ConfigError(`${name} must have 1 to 100 visible characters in one line.`);
  }
  return text;
};

const parseDollars: Parser<number> = (text, name) => {
  const dollars = /^\d{1,7}(\.\d{1,2})?$/.test(text) ? Number(text) : 0;
  if (dollars < 0.01 || dollars > 1_000_000) {
    throw new ConfigError(
      `${name} is "${text}": set it to dollars from 0.01 to 1000000, such as 50 or 12.50.`,
    );
  }
  return dollars;
};

const parseNetwork: Parser<string> = (text, name) => {
  if (!networkRule.test(text)) {
    throw new ConfigError(`${name} is "${text}": it ${networkRule.message}.`);
  }
  return text;
};

const parseOrigin: Parser<string> = (text, name) => {
  if (!originRule.test(text)) {
    throw new ConfigError(`${name} is "${text}": it ${originRule.message}.`);
  }
  return text;
};

export const createKeyOptions = {
  account: requiredOption('name', 'account that owns the key', parseText),
  name: option('text', 'what you call the key, 1 to 100 characters; "keys list" shows it', parseKeyName),
  type: option(
    'type',
    'live or test (default: live in production, test elsewhere)',
    parseEnum(['live', 'test']),
  ),
  scope: option(
    'scopes',
    'scopes besides reading, separated by spaces: "write:cheeses admin"; all scopes of a restricted key: "read:cheeses write:orders"',
    parseWords(parseEnum(scopes)),
  ),
  expiresIn: option(
    'duration',
    'for example 90d (default: never; 90d with --restricted, at most 366d)',
    parseLifetime,
  ),
  publishable: booleanOption(
    'for web pages and apps: reads the catalogue, and is no secret; with the scope write:orders, customers who are logged in order with it',
  ),
  origin: repeatableOption(
    'origin',
    'with --publishable: a web page that may use the key, such as https://shop.example; may be given several times',
    parseOrigin,
  ),
  restricted: booleanOption(
    'for a program or an AI assistant: does only what its scopes say, within the limits below',
  ),
  dollarsPerOrder: option('dollars', 'with --restricted: the largest total of an order', parseDollars),
  dollarsPerDay: option('dollars', 'with --restricted: the sum of the orders of a UTC day', parseDollars),
  ordersPerDay: option('number', 'with --restricted: orders of a UTC day', parseInteger(1, 100_000)),
  category: repeatableOption(
    'name',
    'with --restricted: a category to which orders and changes are confined; may be given several times',
    parseText,
  ),
  cheeseId: repeatableOption(
    'id',
    'with --restricted: a cheese to which orders and changes are confined; may be given several times',
    parseInteger(1, 999_999_999_999_999),
  ),
  address: repeatableOption(
    'network',
    'with --restricted: a network from which the key is accepted, such as 203.0.113.0/24; may be given several times',
    parseNetwork,
  ),
};

export const listKeysOptions = {
  account: requiredOption('name', 'account that owns the keys', parseText),
};

export const rotateKeyOptions = {
  overlap: requiredOption(
    'duration',
    'how long the old key stays valid; 0s revokes it immediately',
    parseDurationSetting,
    '24h',
  ),
};
