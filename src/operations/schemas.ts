/** Schemas of the state of the server. */

import { clockSchema, int64, nullableTimestampSchema, objectOf, timestampSchema } from '../schema/parts.ts';
import type { Schema } from '../schema/schema.ts';
import { environments } from '../settings/parsers.ts';
import { settingOrigins } from '../settings/setting-origins.ts';

const count = { type: 'integer', minimum: 0 } as const;

const Instance = {
  title: 'Instance',
  description: 'A server process of the shop',
  ...objectOf({
    id: { type: 'string' },
    version: { type: 'string' },
    startedAt: timestampSchema,
    seenAt: { ...timestampSchema, description: 'Its last sign; it writes one every minute' },
  }),
  examples: [
    {
      id: 'shop-1-3fa0c2',
      version: '0.1.0',
      startedAt: '2026-01-15T09:30:00.000Z',
      seenAt: '2026-01-15T12:41:00.000Z',
    },
  ],
} as const;

const BackgroundLoop = {
  title: 'BackgroundLoop',
  description: 'Background work that an instance repeats',
  ...objectOf({
    name: { type: 'string' },
    everySeconds: { type: 'number', description: 'The interval of its runs. Most are also woken by changes' },
    lastRunAt: { ...nullableTimestampSchema, description: 'The end of the last run; null before the first' },
    lastRunSeconds: { type: ['number', 'null'], description: 'The duration of the last run' },
    failures: { ...count, description: 'Runs that failed since the start; the log of the instance says why' },
    isFailing: { type: 'boolean', description: 'Whether the last run failed' },
  }),
  examples: [
    {
      name: 'mail.events',
      everySeconds: 2,
      lastRunAt: '2026-01-15T12:40:59.000Z',
      lastRunSeconds: 0.004,
      failures: 0,
      isFailing: false,
    },
  ],
} as const;

const SettingInUse = {
  title: 'SettingInUse',
  ...objectOf({
    variable: { type: 'string' },
    value: { type: ['string', 'null'], description: 'Secrets, and passwords in URLs, are `***`' },
    origin: { type: 'string', enum: settingOrigins },
  }),
  examples: [{ variable: 'CURD_PORT', value: '8080', origin: 'default' }],
} as const;

const DeprecatedUse = {
  title: 'DeprecatedUse',
  ...objectOf({
    operationId: { type: 'string' },
    principal: { type: 'string', description: 'Such as `key:12`' },
    lastAt: timestampSchema,
  }),
  examples: [{ operationId: 'findCheesesByTags', principal: 'key:12', lastAt: '2026-01-15T09:30:00.000Z' }],
} as const;

const FailedRequest = {
  title: 'FailedRequest',
  ...objectOf({
    at: timestampSchema,
    requestId: { type: 'string', description: 'X-Request-Id: search the log for it' },
    operationId: { type: ['string', 'null'], description: 'null for paths outside of the API' },
    message: { type: 'string', description: 'The message of the response, and the kind of the cause' },
  }),
  examples: [
    {
      at: '2026-01-15T09:30:00.000Z',
      requestId: '01JAB2Y6Q4',
      operationId: 'placeOrder',
      message: 'The database cannot be reached. (Error ECONNREFUSED)',
    },
  ],
} as const;

export const ShopStatus = {
  title: 'ShopStatus',
  description: 'The state of the shop, and of the instance that responds',
  ...objectOf({
    version: { type: 'string' },
    environment: { type: 'string', enum: environments },
    shopName: { type: 'string' },
    engine: { type: 'string', enum: ['sqlite', 'postgres'] },
    startedAt: timestampSchema,
    uptimeSeconds: count,
    instance: { type: 'string', description: 'The instance that responds: the first of `instances`' },
    instances: { type: 'array', items: Instance, description: 'All that ran within the last three minutes' },
    database: objectOf({
      latencyMs: { type: 'number', description: 'Duration of a statement' },
      waiting: { ...count, description: 'Statements and transactions that wait' },
    }),
    log: objectOf({
      last: { ...int64, description: 'Number of the last event' },
      first: { ...int64, description: 'Number of the oldest event that the log still has' },
      waiting: { ...count, description: 'Events without a number' },
      epoch: { type: ['string', 'null'] },
    }),
    clock: { ...clockSchema, description: 'The time of the shop, which is moved forward in test shops only' },
    jobs: objectOf({
      due: { ...count, description: 'Background jobs that are due' },
      oldestSeconds: { type: 'number', description: 'How long the oldest has been due; 0 without any' },
    }),
    loops: { type: 'array', items: BackgroundLoop, description: 'The loops of this instance, by name' },
    deliveries: objectOf({
      waiting: { ...count, description: 'Webhook deliveries that have not ended' },
      failing: { ...count, description: 'Enabled webhook endpoints whose last delivery failed' },
    }),
    mail: objectOf({
      transport: { type: 'string', enum: ['smtp', 'file', 'off'] },
      folder: { type: ['string', 'null'], description: 'Where the files are, with `file`' },
      paused: {
        type: 'boolean',
        description: 'The shop was copied or restored: mails wait for `curd mail resume` or `discard`',
      },
      waiting: { ...count, description: 'Mails that wait to be sent' },
      failed: { ...count, description: 'Mails of the last 30 days that could not be sent' },
      fault: {
        type: ['string', 'null'],
        description: 'Why this instance can send no mail: the server refuses the sign-in, the sender or TLS',
      },
    }),
    streams: { ...count, description: 'Event streams that are open on this instance' },
    memoryBytes: count,
    lastBackupAt: {
      ...nullableTimestampSchema,
      description: 'Of the last `curd backup`; null without one, and on PostgreSQL, which has its own tools',
    },
    settings: { type: 'array', items: SettingInUse },
    deprecated: {
      type: 'array',
      items: DeprecatedUse,
      description: 'Deprecated operations in use on this instance since its start: the last 100',
    },
    faults: {
      type: 'array',
      items: FailedRequest,
      description: 'Requests that failed in this instance, newest first: the last 20 since its start',
    },
  }),
  examples: [
    {
      version: '0.1.0',
      environment: 'production',
      shopName: 'Cheese shop',
      engine: 'postgres',
      startedAt: '2026-01-15T09:30:00.000Z',
      uptimeSeconds: 11_460,
      instance: 'shop-1-3fa0c2',
      instances: Instance.examples,
      database: { latencyMs: 0.61, waiting: 0 },
      log: { last: 1043, first: 1, waiting: 0, epoch: 'k3Xw' },
      clock: { now: '2026-01-15T12:41:00.000Z', advancedBy: 'PT0S' },
      jobs: { due: 0, oldestSeconds: 0 },
      loops: BackgroundLoop.examples,
      deliveries: { waiting: 3, failing: 0 },
      mail: { transport: 'smtp', folder: null, paused: false, waiting: 0, failed: 1, fault: null },
      streams: 4,
      memoryBytes: 104_857_600,
      lastBackupAt: null,
      settings: SettingInUse.examples,
      deprecated: DeprecatedUse.examples,
      faults: FailedRequest.examples,
    },
  ],
} as const;

export const NameList = {
  title: 'NameList',
  ...objectOf({
    items: {
      type: 'array',
      items: objectOf({
        of: { type: 'string', description: 'As in the request' },
        name: { type: 'string' },
      }),
    },
  }),
  examples: [
    {
      items: [
        { of: 'cheese:12', name: 'Gruyère' },
        { of: 'key:1', name: 'Web shop' },
      ],
    },
  ],
} as const satisfies Schema;
