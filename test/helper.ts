/**
 * A shop for one test: the real app on a real, fresh database, spoken to over HTTP.
 *
 *     onBothEngines('POST /cheeses', (engine) => {
 *       test('answers 201 with the cheese', async (t) => {
 *         const shop = await openShop(t, { engine });
 *         const answer = await shop.call('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Comté' } });
 *         assert.equal(answer.status, 201);
 *       });
 *     });
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, type TestContext } from 'node:test';
import postgres from 'postgres';
import { Compile } from 'typebox/schema';
import { type App, buildApp } from '../src/app.ts';
import type { KeyRequest } from '../src/auth/keys/service.ts';
import { type Clock, systemClock } from '../src/clock.ts';
import { type Config, loadConfig, type RawSettings } from '../src/config.ts';
import type { Engine } from '../src/database/sql.ts';
import { answersOf } from '../src/http/descriptions.ts';
import { fullPath, type Schema } from '../src/http/route.ts';
import { createHelpers } from '../src/services.ts';

export const engines = ['sqlite', 'postgres'] as const;

/** Registers the same tests for each engine. */
export function onBothEngines(name: string, register: (engine: Engine) => void): void {
  for (const engine of engines) {
    suite(`${name} (${engine})`, () => register(engine));
  }
}

/** A clock that stands still until it is told to move. */
export interface TestClock extends Clock {
  advance(milliseconds: number): void;
}

export function testClock(start = Date.parse('2026-06-01T12:00:00.000Z')): TestClock {
  let now = start;
  return {
    ...systemClock,
    isSystem: false,
    now: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
    },
  };
}

export interface CallOptions {
  /** An API key. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body parsed; undefined where there is none. Tests know what to expect in it. */
  // biome-ignore lint/suspicious/noExplicitAny: the answer was held against its schema already.
  readonly json: any;
}

export interface Shop {
  readonly app: App;
  readonly config: Config;
  readonly clock: Clock;
  /** Keys of one account: one that reads, one with write:cheeses, one with admin. */
  readonly reader: string;
  readonly writer: string;
  readonly admin: string;
  /** Sends a request through the whole server, and holds the answer against the route's declaration. */
  call(method: string, url: string, options?: CallOptions): Promise<CallAnswer>;
  /** A key of a fresh account. */
  newKey(request?: KeyRequest): Promise<string>;
  /** A second app on the same database, as another process would be. */
  another(): Promise<Shop>;
}

export interface ShopOptions {
  readonly engine?: Engine;
  readonly clock?: Clock;
  readonly settings?: RawSettings;
}

/** Opens a shop that closes itself with the test. */
export async function openShop(t: TestContext, options: ShopOptions = {}): Promise<Shop> {
  const { engine = 'sqlite', clock = systemClock, settings = {} } = options;
  const dataDir = await temporaryFolder(t);
  const database = engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t, 'template_curd') } : {};
  const config = loadConfig({
    CURD_DATA_DIR: dataDir,
    CURD_SECRET: 'a secret that is only good for tests',
    CURD_LOG_LEVEL: 'silent',
    // Tests call as quickly as they can, and clocks stand still.
    CURD_PLANS: '{"enterprise":{"perHour":null,"burst":60000}}',
    ...database,
    ...settings,
  });
  return shopOn(t, config, clock);
}

/** Processes that work out passwords and pictures: started once for all shops of a file. */
const helpers = createHelpers(systemClock);

async function shopOn(t: TestContext, config: Config, clock: Clock): Promise<Shop> {
  const app = await buildApp(config, clock, helpers);
  cleanUp(t, () => app.close());
  const { keys, contextOf } = app.services;

  async function newKey(request: KeyRequest = {}, accountName = randomName()): Promise<string> {
    const known = (await keys.listAccounts()).find(({ name }) => name === accountName);
    const account = known ?? (await keys.createAccount(contextOf('test'), accountName));
    return (await keys.create(contextOf('test'), account.id, request)).key;
  }

  const name = randomName();
  return {
    app,
    config,
    clock,
    reader: await newKey({}, name),
    writer: await newKey({ scopes: ['write:cheeses', 'read:cheeses'] }, name),
    admin: await newKey({ scopes: ['admin'] }, name),
    call: (method, url, callOptions) => call(app, method, url, callOptions),
    newKey: (request) => newKey(request),
    another: () => shopOn(t, config, clock),
  };
}

function randomName(): string {
  return `account-${randomBytes(6).toString('hex')}`;
}

async function call(app: App, method: string, url: string, options: CallOptions = {}): Promise<CallAnswer> {
  const { as, body, raw, headers = {} } = options;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await app.server.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(as === undefined ? {} : { 'x-api-key': as }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined
      ? {}
      : { payload: typeof payload === 'string' ? payload : Buffer.from(payload) }),
  });
  const text = response.payload;
  const isJson =
    String(response.headers['content-type']).includes('json') &&
    response.headers['content-encoding'] === undefined;
  const answer = {
    status: response.statusCode,
    headers: Object.fromEntries(Object.entries(response.headers).map(([key, value]) => [key, String(value)])),
    text,
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
  requireDeclared(app, method, url, answer);
  return answer;
}

const validators = new WeakMap<Schema, (value: unknown) => boolean>();

/** Every answer in every test is one that its route declares, in exactly the declared shape. */
function requireDeclared(app: App, method: string, url: string, { status, json }: CallAnswer): void {
  const path = url.split('?', 1)[0] ?? '';
  const candidates = app.routes
    .filter((route) => route.method === method && patternOf(fullPath(route)).test(path))
    .sort((a, b) => a.path.split(':').length - b.path.split(':').length);
  const [route] = candidates;
  if (route === undefined || route.access === 'operational' || status === 405) {
    return;
  }
  const declared = answersOf(route)[status];
  assert.ok(declared !== undefined || status === 304, `${method} ${route.path} does not declare ${status}`);
  if (declared?.schema !== undefined && json !== undefined && json.errorType === undefined) {
    assert.ok(isValid(declared.schema, json), `${method} ${route.path} ${status}: ${JSON.stringify(json)}`);
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:[^/]+/g, '[^/]+')}/?$`);
}

function isValid(schema: Schema, value: unknown): boolean {
  let validator = validators.get(schema);
  if (validator === undefined) {
    const compiled = Compile(closed(schema) as object);
    validator = (candidate) => compiled.Check(candidate);
    validators.set(schema, validator);
  }
  return validator(value);
}

/** The schema with no room for undeclared members, and without our own formats. */
function closed(schema: Schema): Schema {
  const { format: _, examples: _examples, ...rest } = schema;
  return {
    ...rest,
    ...(schema.properties === undefined
      ? {}
      : {
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(schema.properties).map(([name, one]) => [name, closed(one)]),
          ),
        }),
    ...(schema.items === undefined ? {} : { items: closed(schema.items) }),
    ...(schema.anyOf === undefined ? {} : { anyOf: schema.anyOf.map(closed) }),
  };
}

const cleanUps = new WeakMap<TestContext, (() => unknown)[]>();

/** Does something when the test ends: the last thing opened is the first to be closed, unlike with `t.after`. */
export function cleanUp(t: TestContext, step: () => unknown): void {
  const steps = cleanUps.get(t);
  if (steps !== undefined) {
    steps.push(step);
    return;
  }
  const first = [step];
  cleanUps.set(t, first);
  t.after(async () => {
    for (const one of first.reverse()) {
      await one();
    }
  });
}

/** A folder that goes away with the test. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'curd-test-'));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A fresh database on the PostgreSQL of this run, with the schema already where it comes from `template_curd`. */
export async function createDatabase(
  t: TestContext,
  template: 'template1' | 'template_curd' = 'template1',
): Promise<string> {
  const url = process.env.CURD_TEST_POSTGRES;
  assert.ok(url !== undefined, 'PostgreSQL is not there: run the tests with "npm test"');
  const name = `curd_${randomBytes(8).toString('hex')}`;
  const server = postgres(`${url}/postgres`, { max: 1, onnotice: () => {} });
  // Its files are copied as they are, and not page by page through the log.
  await server.unsafe(`create database ${name} template ${template} strategy file_copy`);
  cleanUp(t, async () => {
    await server.unsafe(`drop database if exists ${name} with (force)`);
    await server.end();
  });
  return `${url}/${name}`;
}

/** An error body in the contract's shape, with nothing else in it. */
export function assertError(answer: CallAnswer, status: number, type: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json.code, status);
  assert.equal(answer.json.type, type);
  assert.equal(typeof answer.json.message, 'string');
  assert.notEqual(answer.json.message, '');
}
