/** The OpenAPI document is complete, and openapi.json is current. */
import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { eventTypes } from '../../src/app/event-types.ts';
import { indexText } from '../../src/cli/operations/write-index.ts';
import { curd } from '../cli/run.ts';
import { operationsOf } from '../fuzz/openapi.ts';
import { filesIn, read } from './sources.ts';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>;
}

interface WebhookBody {
  readonly requestBody: {
    readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
  };
}

interface EventSchema {
  readonly oneOf?: readonly { readonly $ref: string }[];
  readonly discriminator?: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
  readonly properties?: { readonly type?: { readonly const?: string } };
}

interface Document {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation & WebhookBody }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, EventSchema>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

interface NamedOperation {
  readonly name: string;
  readonly path: string;
  readonly operation: Operation;
}

let current: Awaited<ReturnType<typeof curd>>;
let document: Document;
let operations: readonly NamedOperation[];

/** Members of objects whose schema has a `default`. */
function membersWithDefault(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const { properties = {} } = value as { readonly properties?: Readonly<Record<string, object>> };
  const own = Object.entries(properties).filter(([, schema]) => Object.hasOwn(Object(schema), 'default'));
  return [
    ...own.map(([name]) => `${path} ${name}`),
    ...Object.entries(value).flatMap(([key, member]) => membersWithDefault(member, `${path}/${key}`)),
  ];
}

/** All values of members named `$ref`. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' && typeof member === 'string' ? [member] : referencesIn(member),
  );
}

function resolves(reference: string): boolean {
  const steps = reference.replace(/^#\//, '').split('/');
  let place: unknown = reference.startsWith('#/') ? document : undefined;
  for (const step of steps) {
    place = (place as Record<string, unknown> | undefined)?.[step];
  }
  return place !== undefined;
}

suite('The OpenAPI document', () => {
  before(async () => {
    current = await curd({}, 'openapi');
    document = JSON.parse(current.stdout);
    operations = operationsOf(document as Parameters<typeof operationsOf>[0]).map(
      ({ method, path, ...operation }) => ({
        name: `${method} ${path}`,
        path,
        operation: operation as Operation,
      }),
    );
  });

  test('The index of the operations that are commands is committed as it follows from the OpenAPI document', () => {
    assert.equal(
      read('src/cli/operations/index.json'),
      indexText(JSON.parse(current.stdout)),
      'Run: npm run generate',
    );
  });

  test('The OpenAPI document has no member of an object with a default: generators would make it required in requests', () => {
    assert.deepEqual(membersWithDefault(document), []);
  });

  test('The OpenAPI document is committed as the routes generate it', () => {
    assert.equal(current.code, 0, current.stderr);
    const committed = filesIn('openapi.json').length === 0 ? '' : read('openapi.json');
    assert.ok(committed === current.stdout, 'openapi.json is not current: run "npm run generate"');
  });

  test('The OpenAPI document has version 3.1, and all its references can be resolved', () => {
    assert.match(document.openapi, /^3\.1\.\d+$/);
    const references = referencesIn(document);
    assert.ok(references.length > 10);
    assert.deepEqual(
      references.filter((one) => !resolves(one)),
      [],
      'give the schema that these refer to a title, so that it is a component',
    );
  });

  test('The OpenAPI document says a repeated response once', () => {
    const texts = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses = {} }) => Object.values(responses))
      .filter((response) => !('$ref' in response))
      .map((response) => JSON.stringify(response));
    assert.ok(texts.length > 50);
    assert.equal(
      new Set(texts).size,
      texts.length,
      'src/http/openapi/shared-responses.ts must find all repeated responses',
    );
  });

  test('The OpenAPI document has a name, a summary, a description, a tag and responses for every operation', () => {
    assert.ok(operations.length > 5);
    for (const { name, operation } of operations) {
      assert.match(operation.operationId ?? '', /^[a-z]\w+$/i, name);
      assert.match(operation.summary ?? '', /^[A-Z].{5,}/, name);
      assert.match(operation.description ?? '', /^\S.{5,}\.$/s, name);
      assert.equal(operation.tags?.filter((tag) => tag !== '').length, 1, name);
      const responses = Object.entries(operation.responses ?? {});
      assert.ok(
        responses.some(([status]) => /^[23]\d\d$/.test(status)),
        `${name} has no successful response`,
      );
      for (const [status, { description = '' }] of responses) {
        assert.match(status, /^[2-5]\d\d$/, name);
        assert.ok(description.length > 3, `${name} ${status} has no description`);
      }
    }
    const received = Object.values(document.webhooks).map(({ post }) => post);
    const ids = [...operations.map(({ operation }) => operation), ...received].map((one) => one.operationId);
    assert.equal(new Set(ids).size, ids.length, 'each operationId is unique');
  });

  test('The OpenAPI document describes one webhook for each type of events and the test ping, with the schema of that type', () => {
    const { Event, EventOrderShipped, WebhookTest } = document.components.schemas;
    const { 'webhook.test': ping, ...ofEvents } = document.webhooks;
    assert.deepEqual(
      Object.keys(ofEvents),
      eventTypes.names,
      'describe each type in src/events/event-components.ts',
    );
    assert.equal(WebhookTest?.properties?.type?.const, 'webhook.test');
    assert.deepEqual(Object.keys(ping?.post.responses ?? {}).sort(), ['2XX', 'default']);
    assert.equal(EventOrderShipped?.properties?.type?.const, 'order.shipped');
    assert.equal(Event?.discriminator?.propertyName, 'type');
    for (const [type, { post }] of Object.entries(ofEvents)) {
      const { $ref } = post.requestBody.content['application/json'].schema;
      assert.match(post.operationId ?? '', /^on[A-Z]\w+$/);
      assert.deepEqual(post.security, [], `${type} has the credentials of the API`);
      const schema = document.components.schemas[$ref.split('/').at(-1) ?? ''];
      assert.equal(schema?.properties?.type?.const, type);
      assert.equal(Event.discriminator.mapping[type], $ref);
      assert.ok(
        Event.oneOf?.some((one) => one.$ref === $ref),
        type,
      );
      assert.deepEqual(
        post.parameters?.map(({ name }) => name),
        ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
      );
      assert.deepEqual(Object.keys(post.responses ?? {}).sort(), ['2XX', '410', 'default']);
    }
  });

  test('The OpenAPI document describes each tag, and has no tag without operations', () => {
    for (const { name, description = '' } of document.tags) {
      assert.match(description, /^[A-Z].{20,}\.$/, name);
    }
    const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? []));
    assert.deepEqual(
      document.tags.map(({ name }) => name).sort(),
      [...used].sort(),
      'describe each `tag` of a route in src/app/api-info.ts, and no other',
    );
  });

  test('The OpenAPI document declares every parameter of a path, and describes every credential', () => {
    for (const { name, path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const declared = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
      assert.deepEqual(
        declared,
        inPath,
        `${name}: declare the parameters of the path in \`params\` of the route`,
      );
      for (const scheme of (operation.security ?? []).flatMap((one) => Object.keys(one))) {
        assert.ok(Object.hasOwn(document.components.securitySchemes, scheme), `${name}: ${scheme}`);
      }
    }
  });
});
