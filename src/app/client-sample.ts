/** Code with which the client package sends the request of a route. The reference page shows it beside curl. */
import areas from '../../client/src/areas/verbs.json' with { type: 'json' };
import { findExample } from '../http/openapi/openapi-schema.ts';
import { type Described, parametersIn } from '../http/route.ts';

/** The verbs of operations, such as `cheeses.uploadImage`. */
const verbs = new Map(
  Object.entries<{ readonly verbs: object; readonly byHand?: object }>(areas).flatMap(
    ([area, { verbs: generated, byHand }]) =>
      Object.entries({ ...generated, ...byHand }).map(([verb, id]) => [id, `${area}.${verb}`] as const),
  ),
);

/** What uploads send. */
const files: Readonly<Record<string, { readonly name: string; readonly path: string }>> = {
  importCheeses: { name: 'file', path: '/cheeses.csv' },
  uploadCheeseImage: { name: 'image', path: '/brie.jpg' },
};

/** The panel of the reference page shows 46 characters in a line. */
const literalWidth = 44;

/** Returns the code, or undefined for a route that is no verb of the client. */
export function clientSample(
  route: Described,
  examples: Readonly<Record<string, unknown>>,
): string | undefined {
  const verb = verbs.get(route.operationId);
  if (verb === undefined) {
    return undefined;
  }
  const file = files[route.operationId];
  const call = `curd.${verb}(${argumentsOf(route, examples)
    .map((value) => literal(value))
    .join(', ')})`;
  return [
    "import { Curd } from '@curd/client';",
    '',
    `const curd = new Curd(${literal(credentialOf(route))});`,
    ...(file === undefined
      ? []
      : [`const ${file.name} = await fetch('${file.path}').then((response) => response.blob());`]),
    ...statementOf(route, verb, call),
  ].join('\n');
}

/** The parameters in the path, and the body or the required parameters in the query. */
function argumentsOf(
  { operationId, path, query = {}, body, upload }: Described,
  examples: Readonly<Record<string, unknown>>,
): unknown[] {
  const values = parametersIn(path).map((name) => examples[name]);
  const required = Object.entries(query).filter(([, { isRequired }]) => isRequired);
  if (upload !== undefined) {
    return [...values, variable(files[operationId]?.name ?? 'file')];
  }
  if (body !== undefined) {
    return [...values, findExample(body)];
  }
  const filters = required.map(([name, { type }]) => {
    const example = examples[name];
    return [name, type === 'array' ? String(example).split(',') : example];
  });
  return filters.length === 0 ? values : [...values, Object.fromEntries(filters)];
}

function statementOf({ responses }: Described, verb: string, call: string): string[] {
  const schema = [200, 201, 202].flatMap((status) => responses[status]?.schema ?? [])[0];
  // The limits are one resource.
  const isList = verb.includes('.list') && verb !== 'limits.list';
  if (isList || verb === 'events.stream') {
    return [`for await (const item of ${call}) {`, '  console.log(item);', '}'];
  }
  return schema === undefined ? [`await ${call};`] : [`const result = await ${call};`];
}

/** A customer's own data needs the session of the customer. Other requests are sent with an API key, or with nothing. */
function credentialOf({ access }: Described): object {
  const baseUrl = 'https://shop.example';
  if (access === 'open' || access === 'operational') {
    return { baseUrl };
  }
  const isForCustomers = access !== 'any credential' && access.some(({ kind }) => kind === 'session');
  return isForCustomers
    ? { baseUrl, session: variable('process.env.CURD_SESSION') }
    : { baseUrl, apiKey: variable('process.env.CURD_KEY') };
}

class Variable {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const variable = (name: string) => new Variable(name);

/** A value as JavaScript, on one line if it is short. */
function literal(value: unknown, indentation = ''): string {
  if (value instanceof Variable) {
    return value.name;
  }
  if (typeof value === 'string') {
    return `'${value.replace(/['\\]/g, '\\$&')}'`;
  }
  if (typeof value !== 'object' || value === null) {
    return String(value);
  }
  const isArray = Array.isArray(value);
  const deeper = `${indentation}  `;
  const members = Object.entries(value).map(
    ([name, member]) =>
      `${isArray ? '' : `${/^\w+$/.test(name) ? name : literal(name)}: `}${literal(member, deeper)}`,
  );
  const [open, close, space] = isArray ? ['[', ']', ''] : ['{', '}', ' '];
  const short = `${open}${space}${members.join(', ')}${space}${close}`;
  return short.length <= literalWidth && !short.includes('\n')
    ? short
    : `${open}\n${members.map((member) => `${deeper}${member},\n`).join('')}${indentation}${close}`;
}
