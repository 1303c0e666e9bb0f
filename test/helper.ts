/**
 * A shop for one test: the real app on a new, real database, used through HTTP.
 *
 *     onBothEngines('POST /cheeses', (engine) => {
 *       test('returns 201 with the cheese', async (t) => {
 *         const shop = await openShop(t, { engine });
 *         const response = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name: 'Comté' } });
 *         assert.equal(response.status, 201);
 *       });
 *     });
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type App, buildApp } from '../src/app/build-app.ts';
import { eventTypes } from '../src/app/event-types.ts';
import { createChildPools } from '../src/app/foundation.ts';
import type { KeyRequest } from '../src/auth/keys/service.ts';
import { createPasswords } from '../src/auth/passwords.ts';
import { type Clock, systemClock } from '../src/clock.ts';
import { type Engine, sql } from '../src/database/sql.ts';
import { checkEvents } from '../src/event-log/record.ts';
import type { StreamTimes } from '../src/events/stream.ts';
import { documentedResponses } from '../src/http/responses/error-responses.ts';
import { fullPath, type Route } from '../src/http/route.ts';
import type { Schema } from '../src/schema/schema.ts';
import { validate } from '../src/schema/validate.ts';
import { type Config, loadConfig, type RawSettings } from '../src/settings/config.ts';
import { cleanUp, createDatabase, type Scope, secret, shopFolder } from './context.ts';
import { migrateToFuture } from './upgrade/newer-schema.ts';

export {
  bern,
  cleanUp,
  createDatabase,
  engines,
  onBothEngines,
  type Scope,
  secret,
  shared,
  type TestClock,
  temporaryFolder,
  testClock,
  until,
} from './context.ts';

export interface RequestOptions {
  /** An API key. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent without encoding. */
  readonly raw?: string | Uint8Array;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body, or undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: the response was already validated against its schema.
  readonly json: any;
}

export interface Shop {
  readonly app: App;
  readonly config: Config;
  readonly clock: Clock;
  /** Keys of one account: one without scopes, one with write:cheeses, one with admin. */
  readonly reader: string;
  readonly writer: string;
  readonly admin: string;
  /** Sends a request through the whole server and validates the response against the declaration of the route. */
  request(method: string, url: string, options?: RequestOptions): Promise<TestResponse>;
  /** A key of a new account. */
  createKey(request?: KeyRequest): Promise<string>;
  /** A second app on the same database, like another instance. @param changes of the settings */
  another(changes?: Partial<Config>): Promise<Shop>;
}

export interface ShopOptions {
  readonly engine?: Engine;
  readonly clock?: Clock;
  readonly settings?: RawSettings;
  /** Shorter intervals of streams. */
  readonly streamTimes?: StreamTimes;
  /** Whether a newer version has migrated the database. With CURD_TEST_NEWER_SCHEMA=1, all shops are so. */
  readonly isSchemaNewer?: boolean;
}

/** Opens a shop, which is closed after the test. */
export async function openShop(t: Scope, options: ShopOptions = {}): Promise<Shop> {
  const { engine = 'sqlite', clock = systemClock, settings = {}, streamTimes } = options;
  const { isSchemaNewer = process.env.CURD_TEST_NEWER_SCHEMA !== undefined } = options;
  const dataDir = await shopFolder(t);
  const database = engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t, 'template_curd') } : {};
  const config = loadConfig({
    CURD_DATA_DIR: dataDir,
    CURD_SECRET: secret,
    CURD_LOG_LEVEL: 'silent',
    // Tests send requests as fast as they can, and a test clock does not advance by itself.
    CURD_PLANS: '{"enterprise":{"perHour":null,"burst":60000}}',
    ...database,
    ...settings,
  });
  if (isSchemaNewer) {
    await migrateToFuture(config);
  }
  return shopOn(t, config, clock, streamTimes);
}

export interface ListeningShop extends Shop {
  readonly url: string;
  readonly port: number;
}

/** A shop that listens on a free port, for tests that need a real connection. */
export async function openListeningShop(t: Scope, options: ShopOptions = {}): Promise<ListeningShop> {
  const shop = await openShop(t, options);
  await shop.app.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = shop.app.server.server.address() as AddressInfo;
  return { ...shop, url: `http://127.0.0.1:${port}`, port };
}

const eventSchemas = new Map(eventTypes.definitions.map(({ type, schema }) => [type, schema]));

// Every event of every test: its data matches the schema of its type, and its change comes before it. SQLite has one
// writer, so the order matters on PostgreSQL alone.
checkEvents(async (tx, events) => {
  for (const { type, data } of events) {
    const schema = eventSchemas.get(type);
    assert.ok(schema !== undefined, `${type} is missing in app/event-types.ts`);
    assert.deepEqual(validate(schema, JSON.parse(data), true).errors, [], `${type} ${data}`);
  }
  const row =
    tx.engine === 'postgres'
      ? await tx.get<{ changed: number }>(
          sql`select (pg_current_xact_id_if_assigned() is not null)::integer as changed`,
        )
      : undefined;
  assert.notEqual(row?.changed, 0, `${events[0]?.type} is recorded before its change`);
});

/** A hash takes 0.1 ms of CPU time instead of 15. `test/unit/passwords.test.ts` tests the cost of servers. */
export const lowPasswordCost = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** Worker processes for passwords and images, started once for all shops of a test file. */
const workers = {
  ...createChildPools(systemClock),
  passwords: createPasswords(systemClock, undefined, lowPasswordCost),
};

async function shopOn(t: Scope, config: Config, clock: Clock, streamTimes?: StreamTimes): Promise<Shop> {
  const app = await buildApp(config, { clock, workers, streamTimes });
  cleanUp(t, () => app.close());
  const {
    auth: { keys },
    contextOf,
  } = app;

  async function createKey(request: KeyRequest = {}, accountName = randomName()): Promise<string> {
    const known = (await keys.listAccounts()).find(({ name }) => name === accountName);
    const account = known ?? (await keys.createAccount(contextOf('test'), accountName));
    return (await keys.create(contextOf('test'), account.id, request)).key;
  }

  const name = randomName();
  return {
    app,
    config,
    clock,
    reader: await createKey({}, name),
    writer: await createKey({ scopes: ['write:cheeses', 'read:cheeses'] }, name),
    admin: await createKey({ scopes: ['admin'] }, name),
    request: (method, url, requestOptions) => sendRequest(app, method, url, requestOptions),
    createKey: (request) => createKey(request),
    another: (changes) => shopOn(t, { ...config, ...changes }, clock, streamTimes),
  };
}

function randomName(): string {
  return `account-${randomBytes(6).toString('hex')}`;
}

async function sendRequest(
  app: App,
  method: string,
  url: string,
  options: RequestOptions = {},
): Promise<TestResponse> {
  const { as, body, raw, headers = {} } = options;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const injected = await app.server.inject({
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
  const text = injected.payload;
  const isJson =
    String(injected.headers['content-type']).includes('json') &&
    injected.headers['content-encoding'] === undefined;
  const response = {
    status: injected.statusCode,
    headers: Object.fromEntries(Object.entries(injected.headers).map(([key, value]) => [key, String(value)])),
    text,
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
  await requireDocumented(app, method, url, shownResponse(response));
  return response;
}

/** Fails when the route does not declare the status of the response, or the body differs from the declared schema. */
async function requireDocumented(
  app: App,
  method: string,
  url: string,
  { status, json, headers }: TestResponse,
): Promise<void> {
  // Clients ask for simulated errors, which a route does not declare.
  if (headers['x-simulated'] === 'true' && status >= 400) {
    return;
  }
  const route = routeOf(app, method, url.split('?', 1)[0] ?? '');
  if (route === undefined || status === 405) {
    return;
  }
  const declared = documentedResponses(route)[status];
  assert.ok(declared !== undefined || status === 304, `${method} ${route.path} does not declare ${status}`);
  if (declared?.schema !== undefined && json !== undefined && json.errorType === undefined) {
    const isValid = await validatorOf(declared.schema);
    assert.ok(isValid(json), `${method} ${route.path} ${status}: ${JSON.stringify(json)}`);
  }
}

/** The response that the request would have got, in a dry run with effects. */
function shownResponse(response: TestResponse): TestResponse {
  const isEnvelope = response.headers['dry-run'] === 'effects' && response.json?.effects !== undefined;
  if (!isEnvelope) {
    return response;
  }
  const { status, body, headers, effects, more, ...rest } = response.json;
  assert.deepEqual(rest, {});
  assert.ok(typeof headers === 'object' && Array.isArray(effects) && typeof more === 'number');
  return { ...response, status, json: body ?? undefined };
}

interface Pattern {
  readonly route: Route;
  readonly pattern: RegExp;
}

const patterns = new WeakMap<App, readonly Pattern[]>();

function routeOf(app: App, method: string, path: string): Route | undefined {
  let known = patterns.get(app);
  if (known === undefined) {
    known = app.routes
      .map((route) => ({
        route,
        pattern: new RegExp(
          `^${fullPath(route)
            .replace(/:[^/]+/g, '[^/]+')
            .replace(/\*$/, '.+')}/?$`,
        ),
      }))
      // Paths with fewer parameters first: a fixed name wins over a parameter, and both over the rest of a path.
      .sort((a, b) => parametersOf(a.route.path) - parametersOf(b.route.path));
    patterns.set(app, known);
  }
  return known.find(({ route, pattern }) => route.method === method && pattern.test(path))?.route;
}

const parametersOf = (path: string) => path.split(':').length + (path.endsWith('*') ? 100 : 0);

type Validator = (value: unknown) => boolean;
const validators = new WeakMap<Schema, Validator>();

async function validatorOf(schema: Schema): Promise<Validator> {
  const known = validators.get(schema);
  if (known !== undefined) {
    return known;
  }
  // Loaded when needed, because it is large and not every test file sends requests.
  const { Compile } = await import('typebox/schema');
  const compiled = Compile(closed(schema) as object);
  const validator = (value: unknown) => compiled.Check(value);
  validators.set(schema, validator);
  return validator;
}

/** The schema without undeclared members and without the formats of Curd, which the validator does not know. */
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
    ...(schema.oneOf === undefined ? {} : { oneOf: schema.oneOf.map(closed) }),
  };
}

/** Asserts an error with this status and type. */
export function assertError(response: TestResponse, status: number, type: string): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.json.code, status);
  assert.equal(response.json.type, type);
  assert.equal(typeof response.json.message, 'string');
  assert.notEqual(response.json.message, '');
}

/** The fields in the `errors` of a 422, in order. */
export const errorFields = ({ json }: TestResponse): string[] =>
  json.errors.map(({ field }: { field: string }) => field);

/** Asserts a 422 with exactly these fields. */
export function assertFields(response: TestResponse, fields: readonly string[], what = response.text): void {
  assertError(response, 422, 'validation_error');
  assert.deepEqual(errorFields(response), fields, what);
}
