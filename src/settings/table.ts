/** Every setting. Config, flags, help and the check of docs/configuration.md derive from this table. */
import { join, resolve } from 'node:path';
import {
  parseClientIpLimits,
  parseLoginLimits,
  parsePlans,
  parsePublishableLimits,
} from './limit-parsers.ts';
import { mailSettings } from './mail-settings.ts';
import {
  environments,
  imagesIn,
  outsideProduction,
  parseBoolean,
  parseClockMode,
  parseDatabase,
  parseDurationFrom,
  parseDurationOr,
  parseEnum,
  parseImages,
  parseInteger,
  parseOrigins,
  parseProcesses,
  parseProxies,
  parsePublicUrl,
  parseShopName,
  parseText,
  parseTiers,
  parseUrl,
} from './parsers.ts';
import { parseLocalKey, parseSecret, secretRequiredBecause } from './secret.ts';
import type { Setting } from './setting.ts';

/** Milliseconds that a timer supports. */
const parseTimeout = parseDurationFrom('1ms', '24h');

/** Sorted as `--help` prints them. A setting may depend on those above it. */
export const settings = {
  environment: {
    variable: 'CURD_ENVIRONMENT',
    placeholder: 'name',
    help: 'local, sandbox or production: decides which API keys are accepted and which defaults are safe',
    default: 'local',
    parse: parseEnum(environments),
  },
  shopName: {
    variable: 'CURD_SHOP_NAME',
    placeholder: 'text',
    help: 'name that the shop gets at its first start: 1 to 60 characters. Afterwards, change it with PATCH /v2/shop',
    default: 'Cheese shop',
    parse: parseShopName,
  },
  host: {
    variable: 'CURD_HOST',
    placeholder: 'address',
    help: 'network address to listen on',
    default: '127.0.0.1',
    parse: parseText,
  },
  port: {
    variable: 'CURD_PORT',
    placeholder: 'number',
    help: 'port to listen on; 0 for any free port',
    default: '8080',
    parse: parseInteger(0, 65_535),
  },
  processes: {
    variable: 'CURD_PROCESSES',
    former: 'CURD_WORKERS',
    placeholder: 'number',
    help: 'server processes that share the port, or auto: one for each processor, at most 16; more than 1 needs PostgreSQL, and Linux or FreeBSD',
    default: '1',
    parse: parseProcesses,
  },
  publicUrl: {
    variable: 'CURD_PUBLIC_URL',
    placeholder: 'url',
    help: 'URL at which clients reach this server; https in production, unless the host is loopback',
    default: () => null,
    defaultText: 'from host and port',
    requiredBecause: ({ environment }) =>
      environment === 'production'
        ? 'production needs the https URL at which clients reach the server.'
        : null,
    parse: (text, name, { environment }): string | null => parsePublicUrl(environment)(text, name),
  },
  dataDir: {
    variable: 'CURD_DATA_DIR',
    placeholder: 'folder',
    help: 'folder of the SQLite file, the images and unfinished uploads',
    default: './data',
    parse: (text) => resolve(text),
  },
  database: {
    variable: 'CURD_DATABASE',
    placeholder: 'url',
    help: 'sqlite:<file> or postgres://user:password@host/name',
    default: ({ dataDir }) => `sqlite:${join(dataDir, 'curd.sqlite')}`,
    defaultText: 'sqlite: in the data folder',
    parse: parseDatabase,
  },
  images: {
    variable: 'CURD_IMAGES',
    placeholder: 'location',
    help: 'file:<folder>, or s3://bucket/prefix with endpoint and credentials in AWS_* variables',
    default: ({ dataDir }) => `file:${imagesIn(dataDir).folder}`,
    defaultText: 'file: in the data folder',
    parse: parseImages,
  },
  imagesUrl: {
    variable: 'CURD_IMAGES_URL',
    placeholder: 'url',
    help: 'base URL from which clients read images instead: a CDN, or the bucket itself',
    default: () => null,
    defaultText: 'this server',
    parse: (text, name): string | null => parseUrl(text, name),
  },
  secret: {
    variable: 'CURD_SECRET',
    placeholder: 'text',
    help: 'at least 32 bytes; signs cursors and encrypts stored responses with secrets; the same on every instance',
    default: () => null,
    defaultText: 'created in the data folder (local on SQLite only)',
    requiredBecause: secretRequiredBecause,
    parse: (text, name): string | null => parseSecret(text, name),
  },
  plans: {
    variable: 'CURD_PLANS',
    placeholder: 'json',
    help: 'requests an hour and a second of each plan; more plans may be added',
    default: {
      sandbox:
        '{"free":{"perHour":1000,"burst":100},"pro":{"perHour":100000,"burst":1000},"enterprise":{"perHour":null,"burst":10000}}',
      elsewhere:
        '{"free":{"perHour":100,"burst":10},"pro":{"perHour":10000,"burst":100},"enterprise":{"perHour":null,"burst":1000}}',
    },
    parse: parsePlans,
  },
  sessionPlan: {
    variable: 'CURD_SESSION_PLAN',
    placeholder: 'plan',
    help: 'plan of customers who are logged in',
    default: { local: 'enterprise', elsewhere: 'free' },
    parse: (text, name, { plans }): string => parseEnum(Object.keys(plans))(text, name),
  },
  accountPlan: {
    variable: 'CURD_ACCOUNT_PLAN',
    placeholder: 'plan',
    help: 'default plan of accounts, for those that are created without one',
    default: { local: 'enterprise', elsewhere: 'free' },
    parse: (text, name, { plans }): string => parseEnum(Object.keys(plans))(text, name),
  },
  addressLimits: {
    variable: 'CURD_ADDRESS_LIMITS',
    placeholder: 'json',
    help: 'requests a minute from one client IP without a valid credential; accountsPerMinute is for logins and registrations, publicPerMinute for pages, images and health checks',
    default: {
      production: '{"perMinute":600,"accountsPerMinute":60,"publicPerMinute":6000}',
      sandbox: '{"perMinute":6000,"accountsPerMinute":6000,"publicPerMinute":60000}',
      local: '{"perMinute":60000,"accountsPerMinute":60000,"publicPerMinute":60000}',
    },
    parse: parseClientIpLimits,
  },
  publishableLimits: {
    variable: 'CURD_PUBLISHABLE_LIMITS',
    placeholder: 'json',
    help: 'requests a minute and a second of a publishable key from one client IP',
    default: {
      production: '{"perMinute":600,"burst":60}',
      sandbox: '{"perMinute":6000,"burst":600}',
      local: '{"perMinute":60000,"burst":60000}',
    },
    parse: parsePublishableLimits,
  },
  edgeCacheMs: {
    variable: 'CURD_EDGE_CACHE',
    placeholder: 'duration',
    help: 'how long a cache in front of the server may keep catalogue reads with publishable keys; "off" permits none',
    default: 'off',
    parse: parseDurationOr('off', '1s', '365d'),
  },
  approvalDelayMs: {
    variable: 'CURD_APPROVAL_DELAY',
    placeholder: 'duration',
    help: 'how long an order stays placed before it is approved automatically',
    default: '5s',
    parse: parseDurationFrom('0s'),
  },
  shippingTimeMs: {
    variable: 'CURD_SHIPPING_TIME',
    placeholder: 'duration',
    help: 'from the approval of an order to its estimated shipDate',
    default: '2d',
    parse: parseDurationFrom('0s'),
  },
  requirePrice: {
    variable: 'CURD_REQUIRE_PRICE',
    placeholder: 'bool',
    help: 'true refuses orders of cheeses without a price; otherwise an operator must approve such orders',
    default: 'false',
    parse: parseBoolean,
  },
  clock: {
    variable: 'CURD_CLOCK',
    placeholder: 'mode',
    help: 'movable lets operators move the time of the shop forward, to test what happens later; not in production',
    default: { local: 'movable', elsewhere: 'system' },
    parse: parseClockMode,
  },
  autoShip: {
    variable: 'CURD_AUTO_SHIP',
    placeholder: 'bool',
    help: 'true ships approved orders by themselves at their shipDate; not in production',
    default: 'false',
    parse: outsideProduction('false', parseBoolean),
  },
  autoDeliverMs: {
    variable: 'CURD_AUTO_DELIVER',
    placeholder: 'duration',
    help: 'how long after shipping an order is delivered by itself, or off; not in production',
    default: 'off',
    parse: outsideProduction('off', parseDurationOr('off', '0s')),
  },
  localKey: {
    variable: 'CURD_LOCAL_KEY',
    placeholder: 'key',
    help: 'a test key with every scope that a local server creates at its start, for tests and CI',
    default: 'none',
    parse: (text, name, { environment }): string | null =>
      text === 'none' ? null : parseLocalKey(text, name, environment),
  },
  catalogueMax: {
    variable: 'CURD_CATALOGUE_MAX',
    placeholder: 'number',
    help: 'how many cheeses the catalogue may have; each process keeps an index of them in memory',
    default: '2000000',
    parse: parseInteger(1, 100_000_000),
  },
  ordersPerHour: {
    variable: 'CURD_ORDERS_PER_HOUR',
    placeholder: 'number',
    help: 'how many orders one credential may place in an hour',
    default: 'off',
    parse: (text, name): number | null => (text === 'off' ? null : parseInteger(1, 1_000_000)(text, name)),
  },
  tiers: {
    variable: 'CURD_TIERS',
    placeholder: 'json',
    help: 'total of delivered orders, in the currency of the shop, from which a customer has a tier',
    default: '{"silver":500,"gold":2000,"platinum":10000}',
    parse: parseTiers,
  },
  console: {
    variable: 'CURD_CONSOLE',
    placeholder: 'on|off',
    help: "whether this server has the operator's console at /console",
    default: 'on',
    parse: parseEnum(['on', 'off']),
  },
  simulate: {
    variable: 'CURD_SIMULATE',
    placeholder: 'on|off',
    help: 'whether the header Sandbox-Simulate causes faults; production ignores the header always',
    default: 'on',
    parse: parseEnum(['on', 'off']),
  },
  mcp: {
    variable: 'CURD_MCP',
    placeholder: 'on|off',
    help: 'whether AI assistants can use the shop at /mcp (Model Context Protocol)',
    default: { production: 'off', elsewhere: 'on' },
    parse: parseEnum(['on', 'off']),
  },
  requestLog: {
    variable: 'CURD_REQUEST_LOG',
    placeholder: 'on|off',
    help: 'whether requests can be looked up for 24 hours: changes, errors, slow ones, and those with an X-Request-Id of the client',
    default: 'on',
    parse: parseEnum(['on', 'off']),
  },
  registration: {
    variable: 'CURD_REGISTRATION',
    placeholder: 'mode',
    help: 'open lets anyone register a customer; key requires an API key',
    default: 'open',
    parse: parseEnum(['open', 'key']),
  },
  passwordLengthMin: {
    variable: 'CURD_PASSWORD_MIN',
    placeholder: 'number',
    help: 'minimum number of characters in a password',
    default: { production: '8', elsewhere: '1' },
    parse: parseInteger(1, 128),
  },
  loginLimits: {
    variable: 'CURD_LOGIN_LIMITS',
    placeholder: 'json',
    help: 'failed logins: for a username from one client IP and for a client IP in 15 minutes, for a username in an hour',
    default: {
      local: '{"pair":100,"address":1000,"username":1000}',
      elsewhere: '{"pair":10,"address":100,"username":100}',
    },
    parse: parseLoginLimits,
  },
  ...mailSettings,
  trustedProxies: {
    variable: 'CURD_TRUSTED_PROXIES',
    placeholder: 'list',
    help: 'IP addresses or networks of proxies, separated by commas, whose X-Forwarded-For is trusted',
    default: 'none',
    parse: parseProxies,
  },
  corsOrigins: {
    variable: 'CURD_CORS_ORIGINS',
    placeholder: 'list',
    help: 'origins of web pages that may send requests to this server, separated by commas',
    default: '*',
    parse: parseOrigins,
  },
  connectionsMax: {
    variable: 'CURD_MAX_CONNECTIONS',
    placeholder: 'number',
    help: 'maximum number of open connections; further connections are closed immediately',
    default: '10000',
    parse: parseInteger(1, 1_000_000),
  },
  tombstoneRetentionMs: {
    variable: 'CURD_TOMBSTONE_RETENTION',
    placeholder: 'duration',
    help: 'how long the list of catalogue changes keeps deleted cheeses; at least 7d',
    default: '365d',
    // A mirror that reads the catalogue every week must not miss a deletion.
    parse: parseDurationFrom('7d'),
  },
  streams: {
    variable: 'CURD_STREAMS',
    placeholder: 'number',
    help: 'event streams that may be open on this server',
    default: '1000',
    parse: parseInteger(1, 100_000),
  },
  streamsPerAccount: {
    variable: 'CURD_STREAMS_PER_ACCOUNT',
    placeholder: 'number',
    help: 'event streams and long polls that an account may have open on this server',
    default: '50',
    parse: parseInteger(1, 100_000),
  },
  webhookTargets: {
    variable: 'CURD_WEBHOOK_TARGETS',
    placeholder: 'mode',
    help: 'public sends webhooks only to https URLs at public IP addresses; any permits http and private networks',
    default: { local: 'any', elsewhere: 'public' },
    parse: parseEnum(['public', 'any']),
  },
  deliveryRetentionMs: {
    variable: 'CURD_DELIVERY_RETENTION',
    placeholder: 'duration',
    help: 'how long webhook deliveries that ended are kept, with their attempts',
    default: '30d',
    parse: parseDurationFrom('0s'),
  },
  eventRetentionMs: {
    variable: 'CURD_EVENT_RETENTION',
    placeholder: 'duration',
    help: 'how long events stay in the event log: at least 4d, or forever',
    default: '90d',
    // Webhooks are repeated for 75.6 hours.
    parse: parseDurationOr('forever', '4d'),
  },
  headersTimeoutMs: {
    variable: 'CURD_HEADERS_TIMEOUT',
    placeholder: 'duration',
    help: 'maximum time for the request line and headers to arrive',
    default: '15s',
    parse: parseTimeout,
  },
  requestTimeoutMs: {
    variable: 'CURD_REQUEST_TIMEOUT',
    placeholder: 'duration',
    help: 'maximum time for a whole request to arrive',
    default: '60s',
    parse: parseTimeout,
  },
  uploadTimeoutMs: {
    variable: 'CURD_UPLOAD_TIMEOUT',
    placeholder: 'duration',
    help: 'maximum time for an upload to arrive; also closes connections without traffic',
    default: '120s',
    parse: parseTimeout,
  },
  idleTimeoutMs: {
    variable: 'CURD_IDLE_TIMEOUT',
    placeholder: 'duration',
    help: 'how long a connection may wait for its next request',
    default: '75s',
    parse: parseTimeout,
  },
  stopDelayMs: {
    variable: 'CURD_STOP_DELAY',
    placeholder: 'duration',
    help: 'how long a server that is told to stop still serves requests, with /readyz 503, so that a load balancer sends it no more; at most 5m',
    default: '0s',
    parse: parseDurationFrom('0s', '5m'),
  },
  minFreeSpaceBytes: {
    variable: 'CURD_MIN_FREE_SPACE',
    placeholder: 'mebibytes',
    help: 'free disk space in MiB below which /readyz is 503; 0 turns this off',
    default: '32',
    parse: (text, name) => parseInteger(0, 1_000_000_000)(text, name) * 1024 * 1024,
  },
  logLevel: {
    variable: 'CURD_LOG_LEVEL',
    placeholder: 'level',
    help: 'debug, info, warn, error or silent; debug logs every request',
    default: 'info',
    parse: parseEnum(['debug', 'info', 'warn', 'error', 'silent']),
  },
  logClientIp: {
    variable: 'CURD_LOG_CLIENT_IP',
    placeholder: 'bool',
    help: 'false leaves the client IP out of the log',
    default: 'true',
    parse: parseBoolean,
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof settings;
export type Variable = (typeof settings)[SettingName]['variable'];

export type SettingValues<Name extends SettingName = SettingName> = {
  readonly [N in Name]: ReturnType<(typeof settings)[N]['parse']>;
};
