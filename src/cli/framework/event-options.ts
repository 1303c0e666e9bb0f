/** Options of the commands on events, webhooks and kept requests. */
import {
  ConfigError,
  type Parser,
  parseDurationFrom,
  parseEnum,
  parseInteger,
  parseText,
  parseWords,
} from '../../settings/parsers.ts';
import { deliveryStatuses } from '../../webhooks/delivery/delivery-schemas.ts';
import { booleanOption, option, requiredOption } from './options.ts';

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
    parseDurationFrom('0s', '7d'),
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

export const triggerOptions = {
  subject: option(
    'kind:id',
    'what the event happens to, such as order:31; by default something new',
    parseText,
  ),
  list: booleanOption('print the types of events'),
};

export const listRequestsOptions = {
  status: option('status', 'a status such as 422, or a class such as 4xx', parseText),
  method: option('method', 'the method', parseText),
  route: option('path', 'the path with its parameters, such as /v2/cheeses/{cheeseId}', parseText),
  error: option('type', 'the type of the error', parseText),
  credential: option('id', 'the id of the credential, such as key:12', parseText),
  from: option('time', 'at this time or later', parseText),
  before: option('time', 'before this time', parseText),
  limit: requiredOption('number', 'how many', parseInteger(1, 10_000), '20'),
};
