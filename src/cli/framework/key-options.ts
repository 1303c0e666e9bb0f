/** The options of the commands on API keys. */
import { scopes } from '../../access/access.ts';
import { originRule } from '../../auth/keys/kinds.ts';
import { lineRule } from '../../schema/text-rules.ts';
import {
  ConfigError,
  type Parser,
  parseDurationSetting,
  parseEnum,
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
    'scopes besides reading, separated by spaces: "write:cheeses admin"',
    parseWords(parseEnum(scopes)),
  ),
  expiresIn: option('duration', 'for example 90d (default: never)', parseLifetime),
  publishable: booleanOption(
    'for web pages and apps: reads the catalogue, and is no secret; with the scope write:orders, customers who are logged in order with it',
  ),
  origin: repeatableOption(
    'origin',
    'with --publishable: a web page that may use the key, such as https://shop.example; may be given several times',
    parseOrigin,
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
