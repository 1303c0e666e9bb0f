/**
 * What a test does in a shop before the request that it is about: cheeses, orders, customers and logins, through HTTP.
 * `placeOrder`, `changeOrder`, `deleteCheese` and `sendLogin` return any response. The others assert that they succeed.
 *
 *     const cheese = await newCheese(shop, { pricePerKg: 12 });
 *     const { headers } = await registerAndLogIn(shop, { username: 'ada' });
 *     const order = await newOrder(shop, [[cheese, 5]], { headers, changes: ['approve', 'ship'] });
 *
 * Credentials that no request issues at once, such as tokens, are in auth/holders.ts.
 */
import assert from 'node:assert/strict';
import { bern, type Shop, type TestResponse } from './helper.ts';

/** A shop, or several instances of one. */
export type Counter = Pick<Shop, 'request' | 'writer' | 'admin'>;

type Headers = Readonly<Record<string, string>>;

let made = 0;

/** Creates a cheese with a price and a name that no other has. @param fields of the cheese @returns its id */
export async function newCheese(shop: Counter, fields: object = {}, as = shop.writer): Promise<number> {
  made += 1;
  const body = { name: `Cheese of a test ${made}`, pricePerKg: 10, ...fields };
  const { status, text, json } = await shop.request('POST', '/v2/cheeses', { as, body });
  assert.equal(status, 201, text);
  return json.id;
}

/** Deletes a cheese, with the confirmation that this needs. */
export function deleteCheese(shop: Counter, id: number, as = shop.writer): Promise<TestResponse> {
  return shop.request('DELETE', `/v2/cheeses/${id}`, { as, headers: { 'x-confirm-delete': 'true' } });
}

/** The lines of an order: one kilogram of a cheese, or of several, or [cheeseId, kilograms] of each. */
export type Lines = number | readonly (number | readonly [cheeseId: number, kilograms: number])[];

/** The body of an order. @param more members, such as notes */
export function orderOf(lines: Lines, more: object = {}) {
  const items = [lines].flat().map((line) => {
    const [cheeseId, quantity] = typeof line === 'number' ? [line, 1] : line;
    return { cheeseId, quantity };
  });
  return { items, shippingAddress: bern, ...more };
}

export interface OrderOptions {
  /** An API key; null sends none. By default that of an admin. */
  readonly as?: string | null;
  /** Headers such as those of a session, an idempotency key, or a dry run. */
  readonly headers?: Headers;
  /** The customer for whom an operator places the order. */
  readonly customerId?: number;
  /** Other members of the body, such as notes. */
  readonly more?: object;
}

/** Places an order. */
export function placeOrder(shop: Counter, lines: Lines, options: OrderOptions = {}): Promise<TestResponse> {
  const { as = shop.admin, headers = {}, customerId, more } = options;
  const query = customerId === undefined ? '' : `?customerId=${customerId}`;
  const body = orderOf(lines, more);
  return shop.request('POST', `/v2/store/order${query}`, { ...(as === null ? {} : { as }), headers, body });
}

export type OrderChange = 'approve' | 'ship' | 'deliver' | 'cancel';

/** Changes the status of an order by an operator. */
export function changeOrder(
  shop: Counter,
  id: number,
  change: OrderChange,
  body?: object,
): Promise<TestResponse> {
  const path = `/v2/store/order/${id}`;
  const options = { as: shop.admin, ...(body === undefined ? {} : { body }) };
  return change === 'cancel'
    ? shop.request('DELETE', path, options)
    : shop.request('POST', `${path}/${change}`, options);
}

/** Places an order that is accepted, and changes its status. @returns its id */
export async function newOrder(
  shop: Counter,
  lines: Lines,
  { changes = [], ...options }: OrderOptions & { readonly changes?: readonly OrderChange[] } = {},
): Promise<number> {
  const { status, text, json } = await placeOrder(shop, lines, options);
  assert.equal(status, 201, text);
  for (const change of changes) {
    const changed = await changeOrder(shop, json.id, change);
    assert.ok(changed.status < 300, changed.text);
  }
  return json.id;
}

/** The password of customers, unless another is given. */
export const password = 'correct horse battery staple';

export interface Customer {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

export interface CustomerFields extends Partial<Omit<Customer, 'id'>> {
  /** By default that of a customer. */
  readonly role?: 'customer' | 'staff';
  readonly firstName?: string;
  readonly lastName?: string;
  readonly favouriteCheese?: object;
}

/** Registers a customer, by default with a username that no other has. */
export async function registerCustomer(
  shop: Counter,
  { role = 'customer', ...fields }: CustomerFields = {},
): Promise<Customer> {
  made += 1;
  const { username = `customer${made}` } = fields;
  const body = { username, email: `${username}@example.com`, password, ...fields };
  const { status, text, json } = await shop.request('POST', '/v2/customer', { body });
  assert.equal(status, 201, text);
  if (role === 'staff') {
    const options = { as: shop.admin, body: { role } };
    const changed = await shop.request('POST', `/v2/customers/${json.id}/role`, options);
    assert.equal(changed.status, 200, changed.text);
  }
  return { ...body, id: json.id };
}

/** Sends a login, with the usual password. */
export function sendLogin(
  shop: Counter,
  username: string,
  given = password,
  headers: Headers = {},
): Promise<TestResponse> {
  return shop.request('POST', '/v2/customer/login', { body: { username, password: given }, headers });
}

/** Logs a customer in. @returns the headers of the session */
export async function logIn(
  shop: Counter,
  { username, password: given }: Pick<Customer, 'username' | 'password'>,
): Promise<{ readonly authorization: string }> {
  const { status, text, json } = await sendLogin(shop, username, given);
  assert.equal(status, 200, text);
  return { authorization: `Bearer ${json.token}` };
}

/** Registers a customer and logs in. @returns the customer with the headers of the session */
export async function registerAndLogIn(
  shop: Counter,
  fields: CustomerFields = {},
): Promise<Customer & { readonly headers: { readonly authorization: string } }> {
  const customer = await registerCustomer(shop, fields);
  return { ...customer, headers: await logIn(shop, customer) };
}
