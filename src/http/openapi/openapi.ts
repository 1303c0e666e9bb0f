/** Creates the OpenAPI 3.1 document from the routes, with the schemas that also validate requests. */

import { type Access, publishableTexts } from '../../access/access.ts';
import type { Parameter, Parameters, Schema } from '../../schema/schema.ts';
import { idempotencyHours } from '../../stored-responses/store.ts';
import { clientIpHeader } from '../client-ip.ts';
import { DryRunResult, dryRunHeader } from '../pipeline/dry-run.ts';
import { keyLengthMax } from '../pipeline/idempotency-key.ts';
import { documentedResponses } from '../responses/error-responses.ts';
import type { DocumentedResponses } from '../responses/response.ts';
import { type Described, fullPath, hasDryRun, parametersIn } from '../route.ts';
import { documentedSchema, findExample, reference, withDefaultInWords } from './openapi-schema.ts';
import { shareResponses } from './shared-responses.ts';

type Document = Record<string, unknown>;

interface Operation extends Document {
  responses: Readonly<Record<string, unknown>>;
}

/** Parts of the document that do not come from routes. */
export interface ApiInfo {
  /** Version of this program. */
  readonly version: string;
  readonly title: string;
  readonly description: string;
  /** Whom clients can ask. */
  readonly contact: string;
  /** Groups of operations, in the order of the document. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** Descriptions of scopes. */
  readonly scopes: Readonly<Record<string, string>>;
  /** Values of parameters with which readers can try an operation. Examples of a route take precedence. */
  readonly examples: Examples;
  /** Code that sends the request of a route, for the reference page. */
  readonly sampleOf: (route: Described, examples: Examples) => string | undefined;
}

/** A request that the server sends to a URL of its client. */
export interface WebhookDescription {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly headers: Parameters;
  readonly headerExamples: Examples;
  readonly body: Schema;
  /** Descriptions of responses by status. */
  readonly responses: Readonly<Record<string, string>>;
}

type Examples = Readonly<Record<string, string | number | boolean>>;

const schemesOf = (scopes: ApiInfo['scopes']) => ({
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description:
      'Also accepted as `Authorization: Bearer <key>`. Requests that change something need a key with the scope',
  },
  oauth: {
    type: 'oauth2',
    flows: {
      authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl: '/oauth/token', scopes },
      implicit: { authorizationUrl: '/oauth/authorize', scopes },
      clientCredentials: { tokenUrl: '/oauth/token', scopes },
    },
  },
  publishableKey: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: 'A publishable API key (`pk_`), which is also accepted in `X-API-Key`',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token that a login returned',
  },
});

/** The document for all routes. */
export function describeApi(
  routes: readonly Described[],
  webhooks: readonly WebhookDescription[],
  { title, description, contact, tags, scopes, examples, sampleOf }: ApiInfo,
): Document {
  const schemes = schemesOf(scopes);
  const components = new Map<string, unknown>();
  const paths: Record<string, Record<string, Operation>> = {};
  // No route names it: a 200 of two kinds would make the types of every client worse.
  reference(DryRunResult, components);
  for (const route of routes) {
    const path = fullPath(route)
      .replace(/:(\w+)/g, '{$1}')
      .replace(/\*$/, '{path}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operation(route, { components, examples, sampleOf }),
    };
  }
  const responses = shareResponses(Object.values(paths).flatMap((methods) => Object.values(methods)));
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '2.0.0',
      description,
      contact: { name: contact },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags,
    paths,
    webhooks: Object.fromEntries(
      webhooks.map((webhook) => [webhook.name, { post: received(webhook, components) }]),
    ),
    components: {
      schemas: Object.fromEntries([...components].sort()),
      responses,
      securitySchemes: schemes,
    },
  };
}

interface Common {
  readonly components: Map<string, unknown>;
  readonly examples: Examples;
  readonly sampleOf: ApiInfo['sampleOf'];
}

function operation(route: Described, { components, examples, sampleOf }: Common): Operation {
  const { operationId, tag, summary, description, access, body, upload, deprecated } = route;
  const content = (
    schema: Schema,
    types: readonly string[] = ['application/json'],
    example = findExample(schema),
  ) => Object.fromEntries(types.map((type) => [type, { schema: reference(schema, components), example }]));
  const [okType = 'application/json'] = (route.mediaType ?? 'application/json').split(';');
  const contentOf = ({ schema, mediaTypes = [], example }: DocumentedResponses[number], status: string) =>
    schema === undefined && mediaTypes.length === 0
      ? {}
      : {
          content: {
            ...(schema === undefined
              ? {}
              : content(schema, status === '200' ? [okType] : undefined, example)),
            ...Object.fromEntries(mediaTypes.map((type) => [type, { schema: bodySchema(type) }])),
          },
        };
  const responses = Object.entries(documentedResponses(route)).map(([status, response]) => [
    status,
    {
      description: response.description,
      ...contentOf(response, status),
    },
  ]);
  const bodyTypes = route.takesForms
    ? ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']
    : route.bodyTypes;
  const sample = sampleOf(route, { ...examples, ...route.examples });
  return {
    operationId,
    tags: [tag],
    summary,
    description:
      route.publishable === undefined ? description : `${description} ${publishableTexts[route.publishable]}`,
    ...(deprecated === undefined ? {} : { deprecated: true }),
    security: [...securityOf(access), ...(route.publishable === 'catalogue' ? [{ publishableKey: [] }] : [])],
    parameters: parametersOf(route, { ...examples, ...route.examples }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: !route.bodyIsOptional, content: content(body, bodyTypes) } }),
    ...(upload === undefined ? {} : { requestBody: { required: true, content: formContent(upload) } }),
    responses: Object.fromEntries(responses),
    ...(sample === undefined
      ? {}
      : { 'x-codeSamples': [{ lang: 'typescript', label: '@curd/client', source: sample }] }),
  };
}

function received(webhook: WebhookDescription, components: Map<string, unknown>): Document {
  const { name, summary, description, headers, headerExamples, body, responses } = webhook;
  const content = { schema: reference(body, components), example: findExample(body) };
  return {
    // `onOrderPlaced` for "order.placed".
    operationId: `on.${name}`.replace(/[._](\w)/g, (_, first: string) => first.toUpperCase()),
    summary,
    description,
    // The receiver checks the signature instead.
    security: [],
    parameters: declared(headers, 'header', headerExamples),
    requestBody: { required: true, content: { 'application/json': content } },
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, description]) => [status, { description }]),
    ),
  };
}

/** OpenAPI 3.1 describes bytes by their media type alone. */
const bodySchema = (mediaType: string) => (/^(text|application)\//.test(mediaType) ? { type: 'string' } : {});

/** OpenAPI 3.1 describes a file by `contentMediaType`. Older tools need the format. */
function formContent({ fileField, description, fields }: NonNullable<Described['upload']>): Document {
  const texts = Object.entries(fields).map(([name, { isRequired: _, ...schema }]) => [
    name,
    withDefaultInWords(documentedSchema(schema)),
  ]);
  const schema = {
    type: 'object',
    required: [fileField],
    properties: {
      [fileField]: {
        type: 'string',
        format: 'binary',
        contentMediaType: 'application/octet-stream',
        description,
      },
      ...Object.fromEntries(texts),
    },
  };
  // There is no encoding with a list of media types: the reference page would send that list as the type of the file.
  return { 'multipart/form-data': { schema } };
}

function securityOf(access: Access): Document[] {
  if (access === 'any credential') {
    return ['apiKey', 'oauth', 'session'].map((scheme) => ({ [scheme]: [] }));
  }
  if (typeof access === 'string') {
    // Operational routes ignore credentials. Other open routes accept one and refuse it when it is not valid.
    return access === 'operational' ? [] : [{}];
  }
  const takesAnyKey = access.some(({ kind }) => kind === 'apiKey');
  return access.flatMap((requirement): Document[] =>
    requirement.kind === 'oauth'
      ? // An API key with the scope is accepted too.
        [...(takesAnyKey ? [] : [{ apiKey: [requirement.scope] }]), { oauth: [requirement.scope] }]
      : [{ [requirement.kind]: [] }],
  );
}

function parametersOf(route: Described, examples: Examples): Document[] {
  const inPath = parametersIn(route.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    example: examples[name],
    schema: typeof examples[name] === 'number' ? { type: 'integer', format: 'int64' } : { type: 'string' },
  }));
  const idempotencyKey: Parameters = {
    'Idempotency-Key': {
      type: 'string',
      maxLength: keyLengthMax,
      description: `Any text. The same request with the same key runs only once within ${idempotencyHours} hours`,
    },
  };
  const headers = {
    ...route.headers,
    ...(route.acceptsClientIp ? clientIpHeader : {}),
    ...(hasDryRun(route) ? dryRunHeader : {}),
    ...(route.method === 'POST' && route.access !== 'operational' ? idempotencyKey : {}),
  };
  return [
    ...inPath,
    ...declared(route.query ?? {}, 'query', examples),
    ...declared(headers, 'header', examples),
  ];
}

function declared(parameters: Parameters, place: 'query' | 'header', examples: Examples): Document[] {
  return Object.entries(parameters).map(([name, parameter]) => {
    // The reference page would also send the examples of optional parameters, and so filter its results.
    const { isRequired = false, description, examples: _, ...schema }: Parameter = parameter;
    return {
      name,
      in: place,
      ...(isRequired ? { required: true, example: exampleOfParameter(schema, examples[name]) } : {}),
      ...(description === undefined ? {} : { description }),
      ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
      schema: documentedSchema(schema),
    };
  });
}

/** Routes give the text that is sent: elements of a list are separated by commas. */
function exampleOfParameter(schema: Schema, text: Examples[string] | undefined): unknown {
  return schema.type === 'array' ? String(text).split(',') : text;
}
