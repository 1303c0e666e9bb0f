/**
 * A recorded session of the 20 operations of the contract: a shop that configures nothing returns the recorded statuses
 * and bodies, whatever the server has learned since. Ids, times, tokens and names of images are left out of both.
 *
 * `CURD_TEST_RECORD=1` writes the recording anew, and is right only where the contract itself has changed.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { bern, onBothEngines, openShop, type RequestOptions, type Shop } from '../helper.ts';
import { password } from '../shop-verbs.ts';
import { bodyOf, boundary, filePart, imageIn, textPart } from './image-forms.ts';

const file = new URL('contract-replay.json', import.meta.url);
const isRecording = process.env.CURD_TEST_RECORD !== undefined;

interface Exchange {
  readonly request: string;
  readonly status: number;
  readonly body: unknown;
}

const variable =
  /^(id|cheeseId|size|token|expiresAt|createdAt|updatedAt|shipDate|nextCursor|imageUrl|thumbnailUrl)$/;

/** The value without what differs between two sessions. */
function stable(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => stable(item, name === 'photoUrls' ? 'imageUrl' : ''));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, stable(member, key)]));
  }
  if (value !== null && variable.test(name)) {
    return `<${typeof value}>`;
  }
  return typeof value === 'string' ? value.replace(/\b\d+\b/g, '<digits>') : value;
}

class Session {
  readonly exchanges: Exchange[] = [];
  readonly #shop: Shop;

  constructor(shop: Shop) {
    this.#shop = shop;
  }

  readonly send = async (method: string, path: string, options: RequestOptions = {}) => {
    const { status, json, text } = await this.#shop.request(method, `/v2${path}`, options);
    const body = text === '' ? null : stable(json);
    this.exchanges.push({ request: `${method} ${path.replace(/\d{2,}|cursor=.*/g, '…')}`, status, body });
    return json;
  };
}

async function runCheeses({ send }: Session, { reader, writer }: Shop): Promise<number> {
  const gruyere = {
    name: 'Gruyère',
    category: { name: 'Hard' },
    tags: [{ name: 'cow' }, { name: 'raw milk' }],
    photoUrls: ['https://images.example.com/gruyere.jpg'],
    origin: 'Switzerland',
    pricePerKg: 32.45,
    ageMonths: 12,
    organic: true,
  };
  const { id } = await send('POST', '/cheeses', { as: writer, body: gruyere });
  await send('POST', '/cheeses', { as: writer, body: gruyere });
  await send('POST', '/cheeses', { as: writer, body: { name: '', ageMonths: 121, pricePerKg: -1 } });
  const { id: brie } = await send('POST', '/cheeses', {
    as: writer,
    body: { name: 'Brie', pricePerKg: 12.345 },
  });
  await send('POST', '/cheeses', { as: writer, body: { name: 'Feta', status: 'sold', origin: null } });
  await send('PUT', '/cheeses', {
    as: writer,
    body: { ...gruyere, id, status: 'available', ageMonths: 18, tags: [{ name: 'cow' }] },
  });
  await send('PUT', '/cheeses', { as: writer, body: { id: 999_999, name: 'None', status: 'available' } });
  await send('PUT', '/cheeses', { as: writer, body: { id, status: 'gone' } });
  const { nextCursor } = await send('GET', '/cheeses?limit=2', { as: reader });
  await send('GET', `/cheeses?limit=2&cursor=${encodeURIComponent(nextCursor)}`, { as: reader });
  await send('GET', '/cheeses?status=available&sort=-name', { as: reader });
  await send('GET', '/cheeses?limit=101', { as: reader });
  await send('GET', '/cheeses/findByStatus?status=available,sold', { as: writer });
  await send('GET', '/cheeses/findByStatus?status=eaten', { as: writer });
  await send('GET', '/cheeses/findByTags?tags=cow', { as: writer });
  await send('GET', `/cheeses/${id}`, { as: reader });
  await send('GET', '/cheeses/999999', { as: reader });
  await send('GET', `/cheeses/${id}`);
  await send('POST', `/cheeses/${brie}?name=Brie%20de%20Meaux&status=pending`, { as: writer });
  await send('POST', `/cheeses/${brie}?status=available`, { as: writer });
  await send('POST', `/cheeses/${brie}?status=eaten`, { as: writer });
  const upload = (parts: Parameters<typeof bodyOf>[0]) =>
    send('POST', `/cheeses/${id}/uploadImage`, {
      as: writer,
      raw: bodyOf(parts),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    });
  await upload([
    textPart('caption', 'A wheel'),
    textPart('isPrimary', 'true'),
    filePart(await imageIn('png')),
  ]);
  await upload([filePart('no image')]);
  await send('DELETE', '/cheeses/999999', { as: writer, headers: { 'x-confirm-delete': 'true' } });
  await send('DELETE', `/cheeses/${brie}`, { as: writer });
  await send('DELETE', `/cheeses/${brie}`, { as: writer, headers: { 'x-confirm-delete': 'true' } });
  return id;
}

async function runStore({ send }: Session, { reader, admin }: Shop, cheeseId: number): Promise<void> {
  const address = { ...bern, state: 'BE', zipCode: '3011' };
  const items = [{ cheeseId, quantity: 2 }];
  await send('GET', '/store/inventory', { as: reader });
  const { id } = await send('POST', '/store/order', {
    as: admin,
    body: { items: [...items, { cheeseId, quantity: 1 }], shippingAddress: address, notes: 'Ring twice' },
  });
  await send('POST', '/store/order', { as: admin, body: { items, shippingAddress: bern } });
  await send('POST', '/store/order', {
    as: admin,
    body: { items: [], shippingAddress: { country: 'Austria' } },
  });
  await send('POST', '/store/order', {
    as: admin,
    body: { items: [{ cheeseId: 999_999, quantity: 101 }], shippingAddress: bern },
  });
  await send('POST', '/store/order', {
    as: admin,
    body: { items: [{ cheeseId: 999_999, quantity: 1 }], shippingAddress: bern },
  });
  await send('GET', `/store/order/${id}`, { as: reader });
  await send('GET', '/store/order/999999', { as: reader });
  await send('DELETE', `/store/order/${id}`, { as: admin });
  await send('GET', `/store/order/${id}`, { as: reader });
  await send('DELETE', '/store/order/999999', { as: admin });
}

async function runCustomers({ send }: Session, { reader }: Shop): Promise<void> {
  const ada = {
    username: 'ada',
    email: 'ada@example.com',
    password,
    firstName: 'Ada',
    lastName: 'Lovelace',
    phone: '+41 31 000 00 00',
  };
  await send('POST', '/customer', { body: ada });
  await send('POST', '/customer', { body: ada });
  await send('POST', '/customer', { body: { username: '', email: 'none', password: '1' } });
  await send('POST', '/customer/createMultiple', {
    body: [
      { username: 'grace', email: 'grace@example.com', password },
      { ...ada, email: 'ada2@example.com' },
      {},
    ],
  });
  await send('POST', '/customer/login', { body: { username: 'ada', password: 'wrong password' } });
  const { token } = await send('POST', '/customer/login', { body: { username: 'ada', password } });
  const headers = { authorization: `Bearer ${token}` };
  await send('GET', '/customer/ada', { headers });
  await send('GET', '/customer/ada', { as: reader });
  await send('GET', '/customer/nobody', { as: reader });
  await send('PUT', '/customer/ada', {
    headers,
    body: { ...ada, phone: null, favouriteCheese: { name: 'Gruyère' } },
  });
  await send('PUT', '/customer/ada', { headers, body: { username: 'ada' } });
  await send('PUT', '/customer/grace', { headers, body: ada });
  await send('GET', '/customer/logout', { headers });
  await send('GET', '/customer/ada', { headers });
  const { token: second } = await send('POST', '/customer/login', { body: { username: 'ada', password } });
  await send('DELETE', '/customer/ada', { headers: { authorization: `Bearer ${second}` } });
  await send('GET', '/customer/ada', { as: reader });
}

onBothEngines('The contract', (engine) => {
  test('The contract returns the recorded bodies in a shop that configures nothing', async (t) => {
    const shop = await openShop(t, { engine });
    const session = new Session(shop);
    const cheeseId = await runCheeses(session, shop);
    await runStore(session, shop, cheeseId);
    await runCustomers(session, shop);
    if (isRecording) {
      writeFileSync(file, `${JSON.stringify(session.exchanges, null, 2)}\n`);
    }
    const recorded: Exchange[] = JSON.parse(readFileSync(file, 'utf8'));
    for (const [index, exchange] of session.exchanges.entries()) {
      assert.deepEqual(exchange, recorded[index]);
      // The order of members too: clients compare and cache texts.
      assert.equal(JSON.stringify(exchange), JSON.stringify(recorded[index]));
    }
    assert.equal(session.exchanges.length, recorded.length);
  });
});
