/** Resources, credentials and values that valid requests to the operations of the OpenAPI document need. */
import assert from 'node:assert/strict';
import { newSession } from '../auth/holders.ts';
import { bern, type Shop } from '../helper.ts';
import type { Known, Operation } from './openapi.ts';

/** Resources for the operations, created when they are first needed, and again after a request has used them up. */
export function createWorld(shop: Shop) {
  let made = 0;
  const kept = new Map<string, Promise<string>>();

  const makers: Readonly<Record<string, () => Promise<string>>> = {
    cheeseId: () => idOf('POST', '/v2/cheeses', { name: `Cheese ${made}`, status: 'available' }),
    // It belongs to the customer, because some operations require that.
    orderId: async () => {
      const items = [{ cheeseId: Number(await get('cheeseId')), quantity: 1 }];
      const headers = { authorization: `Bearer ${await get('session')}` };
      return idOf('POST', '/v2/store/order', { items, shippingAddress: bern }, headers);
    },
    shippedOrderId: async () => {
      made += 1;
      const items = [{ cheeseId: Number(await get('cheeseId')), quantity: 1 }];
      const id = await idOf('POST', '/v2/store/order', { items, shippingAddress: bern });
      await idOf('POST', `/v2/store/order/${id}/approve`, {});
      return idOf('POST', `/v2/store/order/${id}/ship`, {});
    },
    methodId: () => idOf('POST', '/v2/delivery-methods', { name: 'Counter', kind: 'pickup' }),
    rateId: () => idOf('POST', '/v2/tax-rates', { name: 'VAT', percent: 1, category: `Kind ${made}` }),
    code: async () => {
      const code = `CODE-${made}`;
      await idOf('POST', '/v2/discounts', { code, kind: 'free_delivery' });
      return code;
    },
    noteId: async () => idOf('POST', `/v2/store/order/${await get('orderId')}/notes`, { text: 'A note' }),
    account: async () => {
      const {
        auth: { keys },
        contextOf,
      } = shop.app;
      return (await keys.createAccount(contextOf('test'), `account ${made}`)).name;
    },
    keyId: async () => {
      const {
        auth: { keys },
        contextOf,
      } = shop.app;
      const account = await keys.createAccount(contextOf('test'), `of ${made}`);
      return String((await keys.create(contextOf('test'), account.id, {})).id);
    },
    eventId: async () => {
      await get('cheeseId');
      const page = await shop.request('GET', '/v2/events?wait=10', { as: shop.admin });
      return page.json.items[0].id;
    },
    trackedCheeseId: async () => {
      const id = await idOf('POST', '/v2/cheeses', { name: `Tracked ${made}` });
      await shop.request('PUT', `/v2/cheeses/${id}/stock`, { as: shop.admin, body: { onHand: 1_000_000 } });
      return id;
    },
    accountId: async () => {
      const {
        auth: { keys },
        contextOf,
      } = shop.app;
      return String((await keys.createAccount(contextOf('test'), `planned ${made}`)).id);
    },
    clientId: async () => {
      const {
        oauth: { clients },
        contextOf,
      } = shop.app;
      const accountId = Number(await get('accountId'));
      const request = { name: 'Diary', accountId, scopes: ['read:cheeses'], redirectUris: [] } as const;
      return (await clients.create(contextOf('test'), request)).clientId;
    },
    customerId: async () => {
      const path = `/v2/customer/${await get('username')}`;
      return String((await shop.request('GET', path, { as: shop.admin })).json.id);
    },
    approvalId: async () => {
      const { id } = await shop.app.oauth.approvals.request(
        await get('clientId'),
        Number(await get('customerId')),
      );
      return String(id);
    },
    // Nothing listens there. An account can have 20 endpoints.
    endpointId: async () => {
      const {
        auth: { keys },
        contextOf,
      } = shop.app;
      const { name } = await keys.createAccount(contextOf('test'), `notified ${made}`);
      return idOf('POST', '/v2/webhook-endpoints', { url: 'http://127.0.0.1:9/', account: name });
    },
    consoleLink: async () => {
      const {
        oauth: { consoleLinks },
        contextOf,
      } = shop.app;
      return (await consoleLinks.create(contextOf('cli'))).link;
    },
    key: async () => {
      const headers = { 'idempotency-key': `key-${made}` };
      await idOf('POST', '/v2/cheeses', { name: `Keyed ${made}` }, headers);
      return `key-${made}`;
    },
    changesToken: async () =>
      (await shop.request('GET', '/v2/cheeses/changes', { as: shop.admin })).json.next,
    username: async () => {
      const username = `ada${made}`;
      const body = { username, email: `${username}@example.com`, password: 'correct horse' };
      await idOf('POST', '/v2/customer', body);
      return username;
    },
    session: async () => {
      const path = `/v2/customer/${await get('username')}`;
      const { status, json, text } = await shop.request('GET', path, { as: shop.admin });
      assert.equal(status, 200, text);
      return newSession(shop, json.id);
    },
  };

  async function idOf(method: string, url: string, body: object, headers = {}): Promise<string> {
    const response = await shop.request(method, url, { as: shop.admin, headers, body });
    assert.ok(response.status < 300, response.text);
    return String(response.json.id);
  }

  function get(name: string): Promise<string> {
    let value = kept.get(name);
    if (value === undefined) {
      made += 1;
      value = (makers[name] ?? (() => Promise.resolve('1')))();
      kept.set(name, value);
    }
    return value;
  }

  return {
    get,
    /** A number that no other resource has. */
    next(): number {
      made += 1;
      return made;
    },
    /** Called after a change that succeeded. */
    forget(names: readonly string[]) {
      for (const name of names) {
        kept.delete(name);
      }
    },
  };
}

export type World = ReturnType<typeof createWorld>;

export async function credentialsFor({ security }: Operation, shop: Shop, world: World) {
  const kinds = security.flatMap((one) => Object.keys(one));
  return kinds.includes('session') && !kinds.includes('apiKey')
    ? { authorization: `Bearer ${await world.get('session')}` }
    : { 'x-api-key': shop.admin };
}

/** Values that a valid request must contain. */
export async function knownTo({ operationId }: Operation, world: World): Promise<Known> {
  switch (operationId) {
    case 'replaceCheese':
      return { id: Number(await world.get('cheeseId')) };
    case 'placeOrder':
      return { cheeseId: Number(await world.get('cheeseId')) };
    case 'listAvailability':
      return { cheeseIds: [Number(await world.get('cheeseId'))] };
    case 'changeCheeses':
      return { cheeseIds: [Number(await world.get('cheeseId'))], price: { set: 3 }, tags: ['new'] };
    case 'loginCustomer':
      return { username: await world.get('username'), password: 'correct horse' };
    case 'createApiKey':
    case 'listApiKeys':
      return { account: await world.get('account'), scopes: [] };
    case 'getStatisticsSeries':
    case 'listBestSellers':
      return { from: '2026-01-01', to: '2026-02-01', step: 'day', zone: 'UTC', measures: ['orders.placed'] };
    case 'changeAccountPlan':
      return { plan: 'pro' };
    case 'createOauthClient':
      return {
        account: await world.get('account'),
        scopes: ['read:cheeses'],
        redirectUris: [],
        grants: ['client_credentials'],
        native: false,
        public: false,
      };
    case 'createWebhookEndpoint':
    case 'updateWebhookEndpoint':
      return {
        url: 'http://127.0.0.1:9/',
        types: ['order.*'],
        since: 'latest',
        account: await world.get('account'),
      };
    case 'replayWebhookEndpoint':
      return { since: 'latest', until: undefined, types: ['order.*'] };
    case 'rotateWebhookEndpointSecret':
      return { overlap: '0s' };
    case 'createDeliveryMethod':
    case 'patchDeliveryMethod':
      return { rates: [{ upToGrams: 1000, amount: 1 }], shipDays: null, deliveryDays: null };
    case 'createTaxRate':
      return { country: 'CH', state: null, zipPrefix: `Z${world.next()}`, category: null };
    case 'createDiscount':
      return { code: `NEW-${world.next()}`, kind: 'percent', value: 5, startsAt: null, endsAt: null };
    case 'patchDiscount':
      return { value: null, startsAt: null, endsAt: null };
    case 'adjustCheeseStock':
      return { deltaKg: 1 };
    case 'signInToConsole':
      return { link: await world.get('consoleLink') };
    case 'listCheeseChanges':
      return { since: await world.get('changesToken'), wait: 0 };
    case 'listEvents':
      return { since: 'earliest', types: ['cheese.created'], wait: 0 };
    default:
      return {};
  }
}
