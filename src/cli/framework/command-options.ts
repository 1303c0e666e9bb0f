/** The options of the commands that have their own, with their parsers. */
import { scopes } from '../../access/access.ts';
import { grantTypes } from '../../auth/oauth/clients.ts';
import { commandName } from '../../command-name.ts';
import { orderStatuses } from '../../orders/transitions/order-status.ts';
import { countryRule } from '../../schema/countries.ts';
import {
  ConfigError,
  type Parser,
  parseDatabase,
  parseDurationSetting,
  parseEnum,
  parseImages,
  parseInteger,
  parseText,
  parseWords,
} from '../../settings/parsers.ts';
import { adjustmentReasons, onHandSchema } from '../../stock/schemas.ts';
import { deliveryStatuses } from '../../webhooks/delivery/delivery-schemas.ts';
import { booleanOption, option, repeatableOption, requiredOption } from './options.ts';

/** A parser of an id as the commands print it. @param what "API key" @param hint where the ids are shown */
export function parseId(what: string, hint: string): Parser<number> {
  return (text) => {
    if (!/^[1-9]\d{0,14}$/.test(text)) {
      const article = /^[aeiou]/i.test(what) ? 'an' : 'a';
      throw new ConfigError(`"${text}" is not the id of ${article} ${what}. ${hint}`);
    }
    return Number(text);
  };
}

const parseCountry: Parser<string> = (text, name) => {
  if (!countryRule.test(text)) {
    throw new ConfigError(`${name} is "${text}": it ${countryRule.message}.`);
  }
  return text.toUpperCase();
};

export const serveOptions = {
  allowSecondServer: booleanOption('start even if another server has the SQLite database open'),
  ephemeral: booleanOption(
    'for one test run: a free port, and a new local shop with a movable clock, which is deleted at the end',
  ),
  stopWithStdin: booleanOption(
    'stop when standard input ends, which is when the program that started it ends',
  ),
};

export const consoleOptions = { open: booleanOption('also open it in the browser of this machine') };

export const createAccountOptions = {
  plan: option(
    'plan',
    'free, pro, enterprise or a plan of CURD_PLANS (default: enterprise in local, free elsewhere)',
    parseText,
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

const parseSearch: Parser<string> = (text, name) => {
  if (text.trim() === '' || text.length > 100) {
    throw new ConfigError(`${name} must have 1 to 100 characters, and not only spaces.`);
  }
  return text;
};

export const listCustomersOptions = {
  search: option(
    'text',
    'the beginning of a username, an e-mail address, a last name, or of first and last name',
    parseSearch,
  ),
};

export const listOrdersOptions = {
  status: option('status', `one of ${orderStatuses.join(', ')}`, parseEnum(orderStatuses)),
  customer: option('username', 'only orders of this customer', parseText),
  country: option('code', 'only orders to this country, such as CH', parseCountry),
  cheese: option(
    'id',
    'only open orders (placed, approved or shipped) with this cheese',
    parseId('cheese', `"${commandName} export cheeses" writes the ids to a file.`),
  ),
  late: booleanOption('only approved orders whose estimated shipDate has passed'),
  needsApproval: booleanOption('only placed orders that wait for an operator, because a cheese has no price'),
};

export const importOptions = {
  map: repeatableOption(
    'field=Column[,Other]',
    'columns of a field: the first that is not empty is used; for tags, all of them',
    parseText,
  ),
  update: booleanOption(
    'update cheeses that exist with the values of the file; an empty cell changes nothing',
  ),
  setStock: booleanOption('with --update: set the kilograms on hand of cheeses that exist'),
  dryRun: booleanOption('print what the import would do, and write nothing'),
};

export const parseKilograms = parseInteger(0, onHandSchema.maximum);

/** Kilograms to add, or with a minus sign to subtract. */
export const parseDelta: Parser<number> = (text, name) => {
  if (!/^[-+]?\d{1,10}$/.test(text) || Number(text) === 0 || Math.abs(Number(text)) > onHandSchema.maximum) {
    throw new ConfigError(
      `${name} is "${text}": set it to the whole kilograms to add, such as 20, or to subtract, such as -5.`,
    );
  }
  return Number(text);
};

export const listStockOptions = {
  low: booleanOption('only cheeses of which nothing is available, or no more than their --low-at'),
};

export const changeOptions = {
  dryRun: booleanOption('print what the command would change, and change nothing'),
};

export const setStockOptions = {
  ...changeOptions,
  lowAt: option(
    'kg',
    'warn at this number of available kilograms or below; none: no warning (default: unchanged)',
    (text, name) => (text === 'none' ? null : parseKilograms(text, name)),
  ),
};

export const adjustStockOptions = {
  ...changeOptions,
  reason: requiredOption('reason', adjustmentReasons.join(', '), parseEnum(adjustmentReasons)),
};

export const changeEnvironmentOptions = {
  dryRun: booleanOption('print what would be removed, and change nothing'),
};

export const doctorOptions = {
  repair: booleanOption('first count again what can be counted: stock, orders, statistics'),
  noRecord: booleanOption('do not store the result, which GET /v2/integrity lists'),
};

export const resetOptions = {
  yes: booleanOption('confirm that all of it is deleted'),
};

export const restoreOptions = {
  yes: booleanOption('confirm that a shop with data is replaced'),
  idGap: requiredOption('number', 'how many ids are left out', parseInteger(0, 1_000_000_000), '10000'),
};

export const backupOptions = {
  keep: option(
    'number',
    'delete all but the newest backups of this folder or file name',
    parseInteger(1, 999_999),
  ),
};

export const copyOptions = {
  from: option(
    'database',
    'source: sqlite:<file> or postgres://... (default: the database of the settings)',
    parseDatabase,
  ),
  to: requiredOption('database', 'target: postgres://... or sqlite:<file>', parseDatabase),
  fromImages: option(
    'location',
    'images of the source: file:<folder> or s3://bucket/prefix (default: the folder beside an SQLite file, or the settings)',
    parseImages,
  ),
  toImages: option(
    'location',
    'images of the target (default: beside an SQLite file; otherwise they are not copied)',
    parseImages,
  ),
};

const types = option('types', 'types with commas, such as "order.*,cheese.created"', parseWords(parseText));

export const createEndpointOptions = {
  account: requiredOption('name', 'account to which the endpoint belongs', parseText),
  types: option(
    'types',
    'types with commas, such as "order.*,cheese.created" (default: those that every API key sees)',
    parseWords(parseText),
  ),
  description: option('text', 'what the receiver is, for people', parseText),
};

export const rotateSecretOptions = {
  overlap: requiredOption(
    'duration',
    'how long the old secret signs as well, at most 7d; 0s ends it immediately',
    parseDurationSetting,
    '24h',
  ),
};

export const enableEndpointOptions = {
  skip: booleanOption('continue with new events; what the endpoint missed is not sent'),
};

export const listDeliveriesOptions = {
  status: option('status', deliveryStatuses.join(', '), parseEnum(deliveryStatuses)),
  limit: requiredOption('number', 'how many, the newest first', parseInteger(1, 100), '20'),
};

const position = 'an event id, an RFC 3339 time, earliest or latest';

export const replayOptions = {
  since: requiredOption('position', `events after this position: ${position}`, parseText),
  until: option('position', 'up to this position (default: latest)', parseText),
  types,
};

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
