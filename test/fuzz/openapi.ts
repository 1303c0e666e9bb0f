/**
 * Requests generated from the OpenAPI document: valid ones from its schemas, and broken ones from those. The same seed
 * generates the same requests.
 */
import { bodyOf, boundary, filePart } from '../api/image-forms.ts';
import { hostileBodies, hostileForms, hostileHeaders, hostileTexts, hostileValues } from './hostile.ts';

/** The members of a JSON Schema that these tests use. */
export interface JsonSchema {
  readonly [member: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly readOnly?: boolean;
  readonly format?: string;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-codeSamples'?: readonly { readonly source: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>> }>
  >;
}

/** The operations of a document, or its webhooks, with every reference resolved. */
export function operationsOf(document: unknown, place: 'paths' | 'webhooks' = 'paths'): Operation[] {
  const all = followed(document, document) as Record<typeof place, Record<string, Record<string, Operation>>>;
  return Object.entries(all[place]).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
}

function followed(part: unknown, document: unknown): unknown {
  if (Array.isArray(part)) {
    return part.map((one) => followed(one, document));
  }
  if (part === null || typeof part !== 'object') {
    return part;
  }
  const { $ref } = part as JsonSchema;
  if (typeof $ref === 'string') {
    const names = $ref.split('/').slice(1);
    const target = names.reduce((at: unknown, name) => (at as Record<string, unknown>)[name], document);
    return followed(target, document);
  }
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, followed(one, document)]));
}

/** The schema without undeclared members. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) {
    return schema.map(closed);
  }
  if (schema === null || typeof schema !== 'object') {
    return schema;
  }
  const members = Object.entries(schema).map(([name, one]) => [
    name,
    name === 'examples' ? one : closed(one),
  ]);
  return {
    ...('properties' in schema && 'type' in schema ? { additionalProperties: false } : {}),
    ...Object.fromEntries(members),
  };
}

export interface Random {
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  chance(share: number): boolean;
}

/** Mulberry32, a pseudorandom number generator: the same seed gives the same numbers on every machine. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, chance: (share) => next() < share, pick: (from) => from[below(from.length)] as never };
}

/** A request before it is sent. */
export interface Draft {
  method: string;
  path: Record<string, string>;
  query: [string, string][];
  headers: Record<string, string>;
  /** The value of a JSON body or of a form; text or bytes are sent as they are. */
  body: unknown;
  raw: string | Uint8Array | undefined;
  /** What was changed, for the message of a failure. */
  changes: string[];
}

/** Values of existing resources, by the name of the member or parameter. */
export type Known = Readonly<Record<string, unknown>>;

/** A value that the schema permits. */
function exampleOf(schema: JsonSchema, random: Random, known: Known, name = ''): unknown {
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (Object.hasOwn(known, name)) {
    return known[name];
  }
  if (schema.enum !== undefined) {
    return random.pick(schema.enum);
  }
  if (schema.format === 'email') {
    return `${unique(random)}@example.com`;
  }
  if (schema.format === 'date-time') {
    return new Date(Date.UTC(2026, 0, 1 + random.below(300))).toISOString();
  }
  switch (type) {
    case 'object': {
      const properties = Object.entries(schema.properties ?? {}).filter(([, one]) => one.readOnly !== true);
      const isChosen = (key: string) =>
        schema.required?.includes(key) || Object.hasOwn(known, key) || random.chance(0.4);
      const chosen = properties.filter(([key]) => isChosen(key));
      return Object.fromEntries(chosen.map(([key, one]) => [key, exampleOf(one, random, known, key)]));
    }
    case 'array':
      return Array.from({ length: Math.max(schema.minItems ?? 0, 1 + random.below(2)) }, () =>
        exampleOf(schema.items ?? {}, random, known, name),
      );
    case 'integer':
    case 'number':
      return (schema.minimum ?? 0) + random.below(5);
    case 'boolean':
      return random.chance(0.5);
    default:
      return schema.examples !== undefined && !/name$/i.test(name)
        ? random.pick(schema.examples)
        : unique(random)
            .padEnd(schema.minLength ?? 0, 'x')
            .slice(0, schema.maxLength);
  }
}

const unique = (random: Random) =>
  `x${random.below(2 ** 31).toString(36)}${random.below(2 ** 31).toString(36)}`;

/** A request that is valid according to its schema. */
export function draftOf(operation: Operation, random: Random, known: Known, image: Uint8Array): Draft {
  const draft: Draft = {
    method: operation.method,
    path: {},
    query: [],
    headers: {},
    body: undefined,
    raw: undefined,
    changes: [],
  };
  for (const { name, in: place, required, schema } of operation.parameters) {
    if (place !== 'path' && (required || (name !== 'cursor' && name !== 'If-Match' && random.chance(0.3)))) {
      const text =
        name === 'Dry-Run' ? random.pick(['true', 'false']) : String(exampleOf(schema, random, known, name));
      if (place === 'query') {
        draft.query.push([name, text]);
      } else {
        draft.headers[name.toLowerCase()] = text;
      }
    }
  }
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {});
  if (type === 'multipart/form-data') {
    draft.headers['content-type'] = `${type}; boundary=${boundary}`;
    draft.raw = bodyOf([filePart(image, 'image/png')]);
  } else if (content !== undefined) {
    draft.body = exampleOf(content.schema, random, known);
  }
  return draft;
}

/** Breaks a request in one to three places. */
export function spoil(draft: Draft, operation: Operation, random: Random): void {
  const isForm = String(draft.headers['content-type']).startsWith('multipart/');
  const takesBody = operation.requestBody !== undefined;
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const ways = [
      spoilHeader,
      spoilQuery,
      ...(takesBody ? [spoilValue, spoilValue, spoilBody, spoilBody] : []),
    ];
    const rare = random.chance(0.04) ? [spoilMethod] : [];
    const way = random.pick([...ways, ...(operation.path.includes('{') ? [spoilPath] : []), ...rare]);
    way(draft, operation, random, isForm);
  }
}

type Spoil = (draft: Draft, operation: Operation, random: Random, isForm: boolean) => void;

const spoilMethod: Spoil = (draft, _operation, random) => {
  draft.method = random.pick(['PATCH', 'TRACE', 'PROPFIND', 'HEAD', 'OPTIONS', 'QUERY', 'PURGE']);
  draft.changes.push(`method ${draft.method}`);
};

const spoilPath: Spoil = (draft, { parameters }, random) => {
  const { name } = random.pick(parameters.filter((one) => one.in === 'path'));
  const text = random.pick(hostileTexts).toWellFormed();
  draft.path[name] = random.chance(0.1) ? '%zz%' : encodeURIComponent(text);
  draft.changes.push(`path ${name}`);
};

const spoilQuery: Spoil = (draft, { parameters }, random) => {
  const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const name = random.pick([...names, ...names, 'unknown', '__proto__', '']);
  draft.query.push([name, random.pick(hostileTexts).toWellFormed()]);
  if (random.chance(0.3)) {
    draft.query.push([name, random.pick(hostileTexts).toWellFormed()]);
  }
  draft.changes.push(`query ${name}`);
};

const spoilHeader: Spoil = (draft, _operation, random) => {
  const name = random.pick(Object.keys(hostileHeaders));
  draft.headers[name] = random.pick(hostileHeaders[name] ?? []);
  draft.changes.push(`header ${name}`);
};

const spoilBody: Spoil = (draft, _operation, random, isForm) => {
  draft.raw = random.pick(isForm ? hostileForms : hostileBodies);
  draft.changes.push('body');
};

/** Replaces, removes or adds a value somewhere in the body. */
const spoilValue: Spoil = (draft, _operation, random) => {
  const places: { in: Record<string, unknown>; name: string }[] = [];
  const walk = (value: unknown) => {
    if (value !== null && typeof value === 'object') {
      for (const [name, one] of Object.entries(value)) {
        places.push({ in: value as Record<string, unknown>, name });
        walk(one);
      }
    }
  };
  walk(draft.body);
  const place = places.length === 0 ? undefined : random.pick(places);
  const dice = random.below(100);
  if (place === undefined || dice < 10) {
    draft.body = random.pick(hostileValues);
    draft.changes.push('the whole value');
  } else if (dice < 25) {
    delete place.in[place.name];
    draft.changes.push(`without ${place.name}`);
  } else if (dice < 40) {
    place.in[random.pick(['unknown', 'id', 'constructor', 'toJSONx', ''])] = random.pick(hostileValues);
    draft.changes.push('one more member');
  } else {
    place.in[place.name] = structuredClone(random.pick(hostileValues));
    draft.changes.push(`value ${place.name}`);
  }
};

/** The path and query, with `values` for parameters that were not replaced. */
export function urlOf({ path: replaced, query }: Draft, { path }: Operation, values: Record<string, string>) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => replaced[name] ?? values[name] ?? '1');
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`;
}
