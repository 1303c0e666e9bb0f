/** Options of the commands that create API keys and applications. */
import { scopes } from '../../access/access.ts';
import { originRule } from '../../auth/keys/kinds.ts';
import { grantTypes } from '../../auth/oauth/clients.ts';
import { lineRule, networkRule, trimBlanks } from '../../schema/text-rules.ts';
import {
  ConfigError,
  type Parser,
  parseDurationFrom,
  parseEnum,
  parseInteger,
  parseText,
  parseWords,
} from '../../settings/parsers.ts';
import { parseByRule } from './command-options.ts';
import { booleanOption, option, repeatableOption, requiredOption } from './options.ts';

const parseKeyName: Parser<string> = (text, name) => {
  const keyName = trimBlanks(text);
  if ([...keyName].length > 100 || !lineRule.test(keyName)) {
    throw new ConfigError(`${name} must have 1 to 100 visible characters in one line.`);
  }
  return keyName;
};

const parseDollars: Parser<number> = (text, name) => {
  const dollars = /^\d{1,7}(\.\d{1,2})?$/.test(text) ? Number(text) : 0;
  if (dollars < 0.01 || dollars > 1_000_000) {
    throw new ConfigError(
      `${name} is "${text}": set it to an amount from 0.01 to 1000000, such as 50 or 12.50.`,
    );
  }
  return dollars;
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
    parseDurationFrom('1ms'),
  ),
  publishable: booleanOption(
    'for web pages and apps: reads the catalogue, and is no secret; with the scope write:orders, customers who are logged in order with it',
  ),
  origin: repeatableOption(
    'origin',
    'with --publishable: a web page that may use the key, such as https://shop.example; may be given several times',
    parseByRule(originRule),
  ),
  restricted: booleanOption(
    'for a program or an AI assistant: does only what its scopes say, within the limits below',
  ),
  dollarsPerOrder: option(
    'amount',
    'with --restricted: the largest total of an order, in the currency of the shop',
    parseDollars,
  ),
  dollarsPerDay: option(
    'amount',
    'with --restricted: the sum of the orders of a UTC day, in the currency of the shop',
    parseDollars,
  ),
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
    parseByRule(networkRule),
  ),
};

export const rotateKeyOptions = {
  overlap: requiredOption(
    'duration',
    'how long the old key stays valid; 0s revokes it immediately',
    parseDurationFrom('0s'),
    '24h',
  ),
};

export const createClientOptions = {
  account: requiredOption(
    'name',
    'account that owns the application; its plan limits the requests',
    parseText,
  ),
  scope: requiredOption(
    'scopes',
    'scopes that it may request, separated by spaces: "read:cheeses read:orders"',
    parseWords(parseEnum(scopes)),
  ),
  redirectUri: repeatableOption(
    'uri',
    'where customers are redirected to; may be given several times',
    parseText,
  ),
  native: booleanOption('runs on a device: loopback redirects on any port, or its own URI scheme'),
  grant: option(
    'grants',
    'authorization_code, refresh_token, implicit, client_credentials (default: the first two with a redirect URI, otherwise the last)',
    parseWords(parseEnum(grantTypes)),
  ),
  public: booleanOption('cannot keep a secret (a web page, an app): it gets none, and PKCE is required'),
};
