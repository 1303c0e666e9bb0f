/**
 * The order of each subject's events over all verbs: two writers, of two instances on PostgreSQL, change the same subject
 * at the same time, and a tenth of the requests fails. Events that contain the value before their change form a chain.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { bern, onBothEngines } from '../context.ts';
import { formOf, testImage } from '../files/images.ts';
import { openShop, type RequestOptions, type Shop } from '../helper.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { listSequences, untilNumbered } from './streams.ts';

const rounds = Number(process.env.CURD_TEST_ORDER_ROUNDS ?? 4);

interface EventRow {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type has its data.
  readonly data: any;
}

/** A request to one of the instances. @param round the number of the round, and who sends it: 0 or 1 */
type Write = (
  send: (method: string, path: string, options?: RequestOptions) => Promise<unknown>,
  writer: number,
  round: number,
) => Promise<unknown>;

/** What happens to one subject. */
interface Life {
  readonly subject: string;
  readonly write: Write;
  /** The types in order, joined by blanks. */
  readonly types: RegExp;
  readonly check?: (events: readonly EventRow[]) => void;
}

const tags = [['mild'], ['raw', 'mild'], []];
const statuses = ['available', 'pending', 'sold'];
const some = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

/** Asserts that a value was changed from what the event before has changed it to. */
function assertChain(events: readonly EventRow[]): void {
  const state = new Map<string, unknown>(Object.entries(events[0]?.data ?? {}));
  for (const { type, data } of events) {
    for (const [field, { from, to }] of Object.entries<{ from: unknown; to: unknown }>(data.changes ?? {})) {
      assert.notDeepEqual(from, to);
      assert.deepEqual(plain(state.get(field)), from, `${type}: ${field}`);
      state.set(field, to);
    }
  }
  const last = events.at(-1);
  if (last?.type === 'cheese.deleted') {
    for (const [field, value] of state) {
      if (field !== 'updatedAt' && field !== 'photoUrls') {
        assert.deepEqual(plain(last.data[field]), plain(value), `cheese.deleted: ${field}`);
      }
    }
  }
}

/** As in `changes`: the name of a category, the names of tags, null for what is absent. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((one) => (typeof one === 'object' ? one.name : one));
  }
  return value === undefined
    ? null
    : typeof value === 'object'
      ? ((value as { name?: string })?.name ?? null)
      : value;
}

/** Asserts that no event repeats the value of the one before. */
function assertDiffer(events: readonly EventRow[], field: string): void {
  const values = events.map(({ data }) => data[field]).filter((value) => value !== undefined);
  for (const [index, value] of values.entries()) {
    assert.notEqual(value, values[index - 1], `${field} was changed twice to the same value`);
  }
}

/** Opens one subject of each kind. */
async function openLives(shop: Shop, receiverUrl: string): Promise<Life[]> {
  const as = shop.admin;
  async function make(path: string, body: object, options: RequestOptions = {}) {
    const response = await shop.request('POST', `/v2${path}`, { as, body, ...options });
    assert.ok(response.status < 300, response.text);
    return response.json;
  }
  const name = 'Étivaz';
  const cheese = await make('/cheeses', { name, pricePerKg: 10, tags: [{ name: 'mild' }] });
  const stocked = await make('/cheeses', { name: 'Tomme', pricePerKg: 1 });
  // Without orders, which change stock too.
  const counted = await make('/cheeses', { name: 'Chaource' });
  const photographed = await make('/cheeses', { name: 'Brie' });
  const images = await Promise.all([1, 2, 3].map((seed) => testImage(seed)));
  const orders: Life[] = [];
  for (let count = 0; count < 3; count += 1) {
    const items = [{ cheeseId: stocked.id, quantity: 1 }];
    const { id } = await make('/store/order', { items, shippingAddress: bern });
    orders.push({
      subject: `order:${id}`,
      write: async (send) => {
        await send('POST', `/store/order/${id}/${some(['approve', 'ship', 'deliver'])}`);
        await send('POST', `/store/order/${id}/${some(['ship', 'deliver'])}`);
        await (count === 0
          ? send('DELETE', `/store/order/${id}`)
          : send('POST', `/store/order/${id}/deliver`));
      },
      types: /^order\.placed( order\.approved)?( order\.shipped)?( order\.delivered| order\.cancelled)?$/,
    });
  }
  const customer = { username: 'ada', email: 'ada@example.com', password: 'Roquefort 9' };
  const { id: customerId } = await make('/customer', customer, { as: shop.reader });
  const { token } = await make('/customer/login', customer, { as: shop.reader });
  const headers = { authorization: `Bearer ${token}` };
  const account = await make('/accounts', { name: 'scanners', plan: 'free' });
  const key = await make('/api-keys', { account: 'scanners', name: 'Scanner' });
  const endpoint = await make('/webhook-endpoints', { url: receiverUrl, types: ['shop.reset'] });
  const client = await make('/oauth-clients', {
    name: 'Client',
    redirectUris: ['http://127.0.0.1/back'],
    scopes: ['read:orders'],
    account: 'scanners',
  });
  return [
    ...orders,
    {
      subject: `cheese:${cheese.id}`,
      write: async (send, writer, round) => {
        const path = `/cheeses/${cheese.id}`;
        await Promise.all([
          send('PATCH', path, {
            raw: JSON.stringify({
              pricePerKg: 10 + 2 * round + writer,
              tags: some(tags).map((tag) => ({ name: tag })),
            }),
            headers: { 'content-type': 'application/merge-patch+json' },
          }),
          send('POST', `${path}?status=${some(statuses)}&name=${some(['Étivaz', 'Sbrinz'])}`),
        ]);
        await send('PUT', '/cheeses', { body: { ...cheese, ageMonths: 2 * round + writer + 1 } });
        if (round === rounds - 1) {
          await send('DELETE', path, { headers: { 'x-confirm-delete': 'true' } });
        }
      },
      types: /^cheese\.created( cheese\.updated)+ cheese\.deleted$/,
      check: assertChain,
    },
    {
      subject: `cheese:${photographed.id}`,
      write: (send, writer, round) =>
        send(
          'POST',
          `/cheeses/${photographed.id}/uploadImage`,
          formOf(images[(writer + round) % 3] ?? Buffer.of()),
        ),
      types: /^cheese\.created(( cheese\.updated)? cheese\.image_uploaded)+$/,
      check: assertChain,
    },
    {
      subject: `stock:${counted.id}`,
      write: async (send, writer, round) => {
        const path = `/cheeses/${counted.id}/stock`;
        await send('PUT', path, { body: { onHand: 100 + 10 * round + writer, lowAt: null } });
        await send('POST', `${path}/adjustments`, { body: { deltaKg: writer + 1, reason: 'received' } });
        if (round % 2 === 1) {
          await send('DELETE', path);
        }
      },
      types: /^stock\.adjusted( stock\.adjusted)+$/,
      check: (events) => {
        let onHand = 0;
        for (const { data } of events) {
          onHand += data.deltaKg;
          assert.equal(
            data.onHand,
            data.reason === 'tracking_ended' ? data.onHand : onHand,
            JSON.stringify(data),
          );
          onHand = data.reason === 'tracking_ended' ? 0 : onHand;
        }
      },
    },
    {
      subject: `customer:${customerId}`,
      write: async (send, writer, round) => {
        await Promise.all([
          send('PUT', '/customer/ada', {
            headers,
            body: { ...customer, firstName: `Ada ${round} ${writer}` },
          }),
          send('POST', `/customers/${customerId}/role`, { body: { role: some(['customer', 'staff']) } }),
        ]);
        if (round === rounds - 1) {
          await send('DELETE', '/customer/ada', { headers });
        }
      },
      types: /^customer\.created( customer\.updated)+ customer\.deleted$/,
      check: (events) => assertDiffer(events, 'role'),
    },
    {
      subject: `account:${account.id}`,
      write: (send) =>
        send('POST', `/accounts/${account.id}/plan`, { body: { plan: some(['free', 'pro']) } }),
      types: /^account\.created( account\.plan_changed)*$/,
      check: (events) => assertDiffer(events, 'plan'),
    },
    {
      subject: `api_key:${key.id}`,
      write: async (send, writer, round) => {
        const path = `/api-keys/${key.id}`;
        if (round < rounds - 1) {
          await send('POST', path, { body: { name: some(['Scanner', 'Shelf', `Shelf ${writer}`]) } });
        } else if (writer === 0) {
          await send('POST', `${path}/rotate`, { body: { overlap: '1h' } });
        } else {
          await send('DELETE', path);
        }
      },
      types: /^api_key\.created( api_key\.renamed)*( api_key\.rotated)?( api_key\.revoked)?$/,
      check: (events) => assertDiffer(events, 'name'),
    },
    {
      subject: `webhook_endpoint:${endpoint.id}`,
      write: async (send, writer, round) => {
        const path = `/webhook-endpoints/${endpoint.id}`;
        await send('POST', `${path}/${writer === 0 ? 'disable' : 'enable'}`);
        await send('POST', `${path}/${writer === 0 ? 'enable' : 'disable'}`);
        if (round === rounds - 1) {
          await send('POST', path, { body: { description: `By ${writer}` } });
          await send('POST', `${path}/rotate-secret`, { body: { overlap: '0s' } });
          await send('DELETE', path);
        }
      },
      types: /^webhook_endpoint\.created( webhook_endpoint\.(updated|disabled))+ webhook_endpoint\.deleted$/,
      check: (events) => {
        const types = events.map(({ type }) => type).join(' ');
        assert.ok(!types.includes('webhook_endpoint.disabled webhook_endpoint.disabled'), types);
      },
    },
    {
      subject: `oauth_client:${client.clientId}`,
      write: (send, _, round) =>
        round === rounds - 1 ? send('DELETE', `/oauth-clients/${client.clientId}`) : Promise.resolve(),
      types: /^oauth_client\.created oauth_client\.deleted$/,
    },
  ];
}

onBothEngines('Two writers of one subject', (engine) => {
  test('Two writers of one subject leave its events in the order of its changes, for all verbs', async (t) => {
    const shop = await openShop(t, { engine, settings: { CURD_APPROVAL_DELAY: '1h' } });
    const instances = engine === 'postgres' ? [shop, await shop.another()] : [shop, shop];
    const receiver = await openReceiver(t);
    const lives = await openLives(shop, receiver.url);
    const failures: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(
        lives.flatMap(({ write }) =>
          instances.map((instance, writer) => {
            const send = async (method: string, path: string, options: RequestOptions = {}) => {
              const isBad = Math.random() < 0.1;
              const response = await instance.request(method, `/v2${path}${isBad ? '%00' : ''}`, {
                as: shop.admin,
                ...options,
              });
              assert.ok(response.status < 500, `${method} ${path} ${response.status} ${response.text}`);
              if (isBad) {
                assert.ok(response.status >= 400, `${method} ${path}`);
                failures.push(response.status);
                await send(method, path, options);
              }
            };
            return write(send, writer, round);
          }),
        ),
      );
    }
    assert.ok(failures.length > 0);
    await untilNumbered(shop);
    const { database } = shop.app;
    const rows = await database.all<{ subject: string; type: string; data: string }>(
      sql`select subject, type, data from event where sequence > 0 order by sequence`,
    );
    const bySubject = Map.groupBy(rows, ({ subject }) => subject);
    for (const { subject, types, check } of lives) {
      const events = (bySubject.get(subject) ?? []).map(({ type, data }) => ({
        type,
        data: JSON.parse(data),
      }));
      assert.match(events.map(({ type }) => type).join(' '), types, subject);
      check?.(events);
    }
    assert.deepEqual(
      await listSequences(shop),
      rows.map((_, index) => index + 1),
    );
    t.diagnostic(`${rows.length} events, ${failures.length} requests failed`);
  });
});
