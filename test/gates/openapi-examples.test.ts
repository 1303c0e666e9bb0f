/** Examples in the OpenAPI document: every JSON body and form has one, and all are valid and realistic. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Compile } from 'typebox/schema';
import { closed, type JsonSchema, operationsOf } from '../fuzz/openapi.ts';
import { read } from './sources.ts';

interface Example {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema: JsonSchema;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;

const operations = operationsOf(JSON.parse(read('openapi.json')));
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

/** Examples of bodies. Images, pages and files have none. */
const bodies: Example[] = operations.flatMap((operation) => {
  const { requestBody, responses } = operation;
  const contents: [string, Content][] = [
    [`${nameOf(operation)} request`, requestBody?.content ?? {}],
    ...Object.entries(responses).map(([status, { content = {} }]): [string, Content] => [
      `${nameOf(operation)} ${status}`,
      content,
    ]),
  ];
  return contents.flatMap(([name, content]) =>
    Object.entries(content)
      .filter(([type]) => type === 'application/json' || type === 'application/x-www-form-urlencoded')
      .map(([type, { schema, example }]) => ({ name: `${name} ${type}`, schema, value: example })),
  );
});

const webhooks = operationsOf(JSON.parse(read('openapi.json')), 'webhooks');
for (const { path, requestBody } of webhooks) {
  const content: Content[string] | undefined = requestBody?.content['application/json'];
  bodies.push({ name: `webhook ${path}`, schema: content?.schema ?? {}, value: content?.example });
}

const parameters = operations.flatMap((operation) =>
  (operation.parameters as readonly Parameter[]).map((one) => ({
    ...one,
    name: `${nameOf(operation)} ${one.name}`,
  })),
);

/** Examples of a schema and of all schemas in it. */
function examplesIn(schema: JsonSchema, name: string): Example[] {
  const { examples = [], properties = {}, items, anyOf = [], oneOf = [] } = schema;
  return [
    ...examples.map((value) => ({ name, schema, value })),
    ...Object.entries(properties).flatMap(([key, one]) => examplesIn(one, `${name}.${key}`)),
    ...(items === undefined ? [] : examplesIn(items, `${name}[]`)),
    ...[...anyOf, ...oneOf].flatMap((one) => examplesIn(one, name)),
  ];
}

function assertValid({ name, schema, value }: Example): void {
  const compiled = Compile(closed(schema) as object);
  const errors = compiled.Check(value) ? [] : compiled.Errors(value);
  assert.deepEqual(errors, [], `${name}: ${JSON.stringify(value)} ${JSON.stringify(errors)}`);
}

/** Every string and number in a value. */
function leavesOf(value: unknown): unknown[] {
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(leavesOf) : [value];
}

suite('Examples in the OpenAPI document', () => {
  test('Examples in the OpenAPI document exist for every JSON body and form, and are valid by their schemas', () => {
    assert.ok(bodies.length > 300);
    for (const body of bodies) {
      assert.notEqual(body.value, undefined, `${body.name} has no example`);
      assertValid(body);
    }
  });

  test('Examples of schemas in the OpenAPI document are valid at every depth', () => {
    const examples = bodies.flatMap(({ schema, name }) => examplesIn(schema, name));
    assert.ok(examples.length > 100);
    examples.forEach(assertValid);
  });

  test('Examples of errors in the OpenAPI document have the code of their status', () => {
    for (const { name, value } of bodies) {
      const [, status] = / ([45]\d\d) /.exec(name) ?? [];
      if (status !== undefined && value !== undefined && !/\/oauth\/|\/mcp /.test(name)) {
        assert.equal(String((value as { code: number }).code), status, name);
      }
    }
  });

  test('Examples in the OpenAPI document contain no placeholders', () => {
    for (const { name, value } of bodies) {
      for (const leaf of leavesOf(value)) {
        assert.doesNotMatch(String(leaf), /^(string|text|example|foo|bar|user@example\.com|)$/i, name);
      }
    }
  });

  test('Examples of bodies in the OpenAPI document agree with the query parameters that the reference page sends by default', () => {
    for (const operation of operations) {
      const body = operation.requestBody?.content['application/json'] as { example?: object } | undefined;
      for (const { name, in: place, schema } of operation.parameters) {
        const sent = schema.default ?? schema.enum?.[0];
        const value = (body?.example as Readonly<Record<string, unknown>> | undefined)?.[name];
        if (place === 'query' && sent !== undefined && value !== undefined) {
          assert.equal(value, sent, `${nameOf(operation)} ${name}`);
        }
      }
    }
  });

  test('Examples of parameters in the OpenAPI document exist only where they are required, because the reference page sends them', () => {
    for (const { name, in: place, required, example, schema } of parameters) {
      if (required) {
        assert.notEqual(example, undefined, `${name} has no example`);
        assertValid({ name, schema, value: example });
      } else {
        assert.equal(example, undefined, `${name} in ${place} has an example`);
        assert.equal(schema.examples, undefined, `${name} in ${place} has examples`);
      }
    }
  });
});
