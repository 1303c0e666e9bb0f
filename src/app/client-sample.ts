/** Code with which the client package sends the request of a route. The reference page shows it beside curl. */
import { exampleOf } from '../http/openapi/openapi-schema.ts';
import { type Described, fullPath, parametersIn } from '../http/route.ts';

/**
 * The area of the client for the first of these words in an operationId: `uploadCheeseImage` is a verb of `cheeses`. They
 * are without the endings of singular and plural.
 */
const areas: Readonly<Record<string, string>> = {
  Account: 'accounts',
  ApiKey: 'apiKeys',
  Approval: 'approvals',
  Categor: 'categories',
  CheeseStock: 'stock',
  Cheese: 'cheeses',
  Credential: 'credential',
  Customer: 'customers',
  Demo: 'demo',
  Event: 'events',
  Integrity: 'integrity',
  Inventory: 'inventory',
  Limit: 'limits',
  Mail: 'mails',
  OauthClient: 'oauthClients',
  Order: 'orders',
  Request: 'requests',
  Sandbox: 'sandbox',
  Snapshot: 'snapshots',
  Statistics: 'statistics',
  Stock: 'stock',
  Tag: 'tags',
  WebhookDeliver: 'webhookDeliveries',
  WebhookEndpoint: 'webhookEndpoints',
};

/** Verbs that are not the rest of the operationId. */
const exceptions: Readonly<Record<string, string>> = {
  deleteNote: 'orders.deleteNote',
  changeCheeses: 'cheeses.changeAll',
  createPasswordReset: 'customers.createPasswordReset',
  getIdempotentResponse: 'idempotency.get',
  getStatus: 'status.get',
  listAvailability: 'cheeses.listAvailability',
  listBestSellers: 'statistics.listBestSellers',
  listNames: 'events.listNames',
  listSalesByCategory: 'statistics.listSalesByCategory',
  listSalesByCountry: 'statistics.listSalesByCountry',
  listSalesByCustomer: 'statistics.listSalesByCustomer',
  registerCustomers: 'customers.registerAll',
  requestPasswordReset: 'customers.requestPasswordReset',
  signInToConsole: 'console.signIn',
  signOutOfConsole: 'console.signOut',
};

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
  const verb = verbOf(route);
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
    return [...values, exampleOf(body)];
  }
  const filters = required.map(([name, { type }]) => {
    const example = examples[name];
    return [name, type === 'array' ? String(example).split(',') : example];
  });
  return filters.length === 0 ? values : [...values, Object.fromEntries(filters)];
}

function verbOf(route: Described): string | undefined {
  const { operationId } = route;
  if (!fullPath(route).startsWith('/v2/')) {
    return undefined;
  }
  const [first] = Object.entries(areas)
    .map(([word, area]) => ({ word, area, index: operationId.indexOf(word) }))
    .filter(({ index }) => index >= 0)
    .sort((one, other) => one.index - other.index);
  if (first === undefined || operationId in exceptions) {
    return exceptions[operationId];
  }
  const rest = operationId.slice(first.index + first.word.length).replace(/^(?:s|y|ies)(?![a-z])/, '');
  return `${first.area}.${operationId.slice(0, first.index)}${rest}`;
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
