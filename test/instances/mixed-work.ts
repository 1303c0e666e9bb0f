/** Requests of every kind that changes something, on rows that they choose at random. */
import { testImage, upload } from '../files/images.ts';
import { bern, type TestResponse } from '../helper.ts';
import { deleteCheese, newCheese, password, registerAndLogIn } from '../shop-verbs.ts';
import { type Instances, newName, newUsername } from './instances.ts';

type Work = () => Promise<TestResponse | undefined>;
type Method = 'DELETE' | 'PATCH' | 'POST' | 'PUT';

interface Customer {
  readonly id: number;
  readonly username: string;
  readonly headers: Record<string, string>;
}

const below = (end: number) => Math.floor(Math.random() * end);
export const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
const taken = <T>(list: T[]): T => list.splice(below(list.length), 1)[0] as T;
const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);

/** Returns each work as often as its weight. */
export async function createWorks(shops: Instances): Promise<{ works: Work[]; all: Work[] }> {
  const { admin } = shops;
  const names = new Map<number, string>();
  const cheeses: number[] = [];
  const customers: Customer[] = [];
  const orders = [1];
  const codes = [newName('CODE'), newName('CODE')].map((name) => name.replace(' ', '-'));

  const send = (method: Method, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    shops.request(method, `/v2${path}`, { as: admin, body, headers });
  const asCustomer = (method: Method, path: string, { headers }: Customer, body?: unknown) =>
    shops.request(method, `/v2${path}`, { headers, body });

  async function addCheese(): Promise<number> {
    const name = newName();
    const id = await newCheese(shops, { name });
    names.set(id, name);
    cheeses.push(id);
    return id;
  }

  async function register(): Promise<Customer> {
    const username = newUsername();
    const { headers } = await registerAndLogIn(shops, { username });
    const { json } = await shops.request('GET', `/v2/customer/${username}`, { headers });
    return { id: json.id, username, headers };
  }

  const some = (max: number) => shuffled(cheeses).slice(0, 1 + below(max));
  const price = () => 10 + below(90);
  const status = () => pick(['available', 'available', 'available', 'pending', 'sold']);

  async function place(headers: Record<string, string> = {}): Promise<TestResponse> {
    const items = some(4).map((cheeseId) => ({ cheeseId, quantity: 1 }));
    const discountCode = pick([undefined, ...codes]);
    const body = { items, shippingAddress: bern, discountCode };
    const response = await send('POST', '/store/order', body, headers);
    if (response.status === 201 && response.json.id > 0) {
      orders.push(response.json.id);
    }
    return response;
  }

  const move = (verb: string) => send('POST', `/store/order/${pick(orders)}/${verb}`);

  function replaceCheese(): Promise<TestResponse> {
    const id = pick(cheeses);
    const tags = [{ name: `tag ${below(20)}` }];
    const body = { id, name: names.get(id) ?? '', pricePerKg: price(), status: status(), tags };
    return send('PUT', '/cheeses', body);
  }

  async function removeCheese(): Promise<TestResponse> {
    await addCheese();
    return deleteCheese(shops.next(), taken(cheeses), admin);
  }

  /** A file that updates cheeses in any order, and has a new one. */
  async function importCheeses(): Promise<TestResponse> {
    const data = new FormData();
    const rows = [...some(6).map((id) => names.get(id)), newName()].map((name) => `${name},${price()}`);
    data.append('file', new Blob([['name,pricePerKg', ...rows].join('\n')]), 'cheeses.csv');
    data.append('mode', 'update');
    const encoded = new Response(data);
    return shops.request('POST', '/v2/imports', {
      as: admin,
      raw: new Uint8Array(await encoded.arrayBuffer()),
      headers: { 'content-type': encoded.headers.get('Content-Type') ?? '' },
    });
  }

  const profile = (username: string, email = username) => ({
    username,
    email: `${email}@example.com`,
    password,
    favouriteCheese: { id: pick(cheeses) },
  });

  /** Another favourite, and now and then the name or the e-mail address of another customer. */
  function replaceCustomer(): Promise<TestResponse> {
    const customer = pick(customers);
    const { username } = customer;
    const isSwap = Math.random() < 0.3;
    const body = isSwap ? profile(pick(customers).username, pick(customers).username) : profile(username);
    return asCustomer('PUT', `/customer/${username}`, customer, body);
  }

  async function removeCustomer(): Promise<TestResponse> {
    customers.push(await register());
    const customer = taken(customers);
    await Promise.all([place(customer.headers), place(customer.headers)]);
    return asCustomer('DELETE', `/customer/${customer.username}`, customer);
  }

  function registerBatch(): Promise<TestResponse> {
    const usernames = shuffled([newUsername(), newUsername(), pick(customers).username]);
    return send(
      'POST',
      '/customer/createMultiple',
      usernames.map((username) => profile(username)),
    );
  }

  async function resetPassword(): Promise<TestResponse> {
    const { id } = await register();
    const { json } = await send('POST', `/customers/${id}/password-reset`);
    const {
      customers: { administration: customerAdministration },
    } = shops.next().app;
    const token = String(json.url).split('/').at(-1) ?? '';
    await customerAdministration.redeemReset(token, `${password} again`, '127.0.0.1');
    return send('POST', `/customers/${id}/role`, { role: pick(['customer', 'staff']) });
  }

  const stock = (method: Method, path = '', body?: object) =>
    send(method, `/cheeses/${pick(cheeses)}/stock${path}`, body);

  const createCode = (code = pick(codes)) =>
    send('POST', '/discounts', { code, kind: 'percent', value: 5, usesMax: 50, usesPerCustomer: 5 });

  async function keyOnce(): Promise<TestResponse> {
    const { json } = await send('POST', '/api-keys', { account: newName('keys') });
    const made = json.id === undefined ? await send('POST', '/accounts', { name: newName('account') }) : null;
    if (made !== null) {
      return made;
    }
    await send('POST', `/api-keys/${json.id}/rotate`, {});
    return send('DELETE', `/api-keys/${json.id}`);
  }

  async function webhookOnce(): Promise<TestResponse> {
    const { json } = await send('POST', '/webhook-endpoints', {
      url: 'http://127.0.0.1:1/',
      since: 'earliest',
    });
    const path = `/webhook-endpoints/${json.id}`;
    await shops.next().app.webhooks.worker.run();
    await Promise.all([send('POST', path, { description: 'busy' }), send('POST', `${path}/disable`)]);
    return send('DELETE', path);
  }

  async function clientOnce(): Promise<TestResponse> {
    const account = newName('clients');
    await send('POST', '/accounts', { name: account });
    const made = await send('POST', '/oauth-clients', { name: 'Diary', account, scopes: ['read:cheeses'] });
    const {
      oauth: { approvals },
    } = shops.next().app;
    const { id } = await approvals.request(made.json.clientId, pick(customers).id);
    await Promise.all(['approve', 'deny', 'revoke'].map((verb) => send('POST', `/approvals/${id}/${verb}`)));
    return send('DELETE', `/oauth-clients/${made.json.clientId}`);
  }

  const background = (run: (app: Instances['all'][0]['app']) => Promise<unknown>) => async () => {
    await run(shops.next().app);
    return undefined;
  };
  const image = await testImage(1);
  const confirmed = { 'x-confirm-delete': 'true' };
  const patchType = { 'content-type': 'application/merge-patch+json' };
  const all: readonly (readonly [weight: number, work: Work])[] = [
    [20, () => place()],
    [12, () => place(pick(customers).headers)],
    [6, () => move('approve')],
    [6, () => move('ship')],
    [6, () => move('deliver')],
    [6, () => send('DELETE', `/store/order/${pick(orders)}`)],
    [3, () => place({ 'dry-run': 'true' })],
    [2, () => createCode()],
    [2, () => send('PATCH', `/discounts/${pick(codes)}`, { value: 1 + below(50) })],
    [1, () => send('DELETE', `/discounts/${pick(codes)}`)],
    [12, replaceCheese],
    [12, () => send('PATCH', `/cheeses/${pick(cheeses)}`, { status: status() }, patchType)],
    [3, importCheeses],
    [2, removeCheese],
    [1, () => send('DELETE', `/cheeses/${pick(cheeses)}`, undefined, { ...confirmed, 'dry-run': 'effects' })],
    [1, () => upload(shops.next(), pick(cheeses), image, admin)],
    [4, () => stock('PUT', '', { onHand: 5 + below(50) })],
    [4, () => stock('POST', '/adjustments', { deltaKg: pick([1, 5, -3]), reason: 'received' })],
    [1, () => stock('DELETE')],
    [8, replaceCustomer],
    [2, removeCustomer],
    [1, registerBatch],
    [1, resetPassword],
    [1, keyOnce],
    [1, webhookOnce],
    [1, clientOnce],
    [4, background((app) => app.worker.run())],
    [1, background((app) => app.orders.counter.run())],
    [1, background((app) => app.statistics.counter.run())],
    [1, background((app) => app.maintenance.run())],
  ];
  await Promise.all(codes.map((code) => createCode(code)));
  await Promise.all(Array.from({ length: 8 }, addCheese));
  customers.push(...(await Promise.all(Array.from({ length: 4 }, register))));
  return {
    works: all.map(([, work]) => work),
    all: all.flatMap(([weight, work]) => Array.from({ length: weight }, () => work)),
  };
}
