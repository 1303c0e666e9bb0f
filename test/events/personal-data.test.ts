/** No event has personal data: the fields of events are a closed list, and a deleted customer is found nowhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTypes } from '../../src/app/event-types.ts';
import { listTables } from '../../src/database/copy/tables.ts';
import { rawSql, sql } from '../../src/database/sql.ts';
import type { Schema } from '../../src/schema/schema.ts';
import { onBothEngines, shared, until } from '../context.ts';
import { type ListeningShop, openListeningShop } from '../helper.ts';
import { openStream, untilNumbered } from './streams.ts';

/** Every field of any event. Add one only if it can never have personal data: the log outlives the customer. */
const fields = new Set(
  `
  account actor addresses ageMonths amount available before breakdown categories category changed changes cheeseId cheeseIds clientId code createdAt currency
  customerStatus deltaKg delivery discount dollarsPerDay dollarsPerOrder expiresAt from grams id imageUrl included kind last4 lastUsedAt lowAt
  name net onHand ordersPerDay organic origin origins percent photoUrls plan portions pricePerKg rates reason replacedBy reserved role scopes size status stock subtotal tags tax
  thumbnailUrl to
  total type updatedAt
`
    .trim()
    .split(/\s+/),
);

function fieldsOf({ properties = {}, items }: Schema): string[] {
  const own = Object.entries(properties).flatMap(([name, one]) => [name, ...fieldsOf(one)]);
  return [...own, ...(items === undefined ? [] : fieldsOf(items))];
}

test('Events have fields of a closed list alone', () => {
  const unknown = eventTypes.definitions.flatMap(({ type, schema }) =>
    fieldsOf(schema)
      .filter((name) => !fields.has(name))
      .map((name) => `${type}: ${name}`),
  );
  assert.deepEqual(
    unknown,
    [],
    'add these to the fields at the top of this file, if they can never have personal data',
  );
  for (const { type, schema } of eventTypes.definitions.filter(({ type }) =>
    /^(customer|order)\./.test(type),
  )) {
    for (const [name, { enum: values, type: kind }] of Object.entries(schema.properties ?? {})) {
      const isText = [kind].flat().includes('string');
      assert.ok(!isText || values !== undefined || name === 'reason', `${type}: ${name} is free text`);
    }
  }
});

/** Every row of every table, as text. */
async function dump({ app }: ListeningShop): Promise<string> {
  const { database } = app;
  const parts: string[] = [];
  for (const { name } of await listTables(database, database.engine)) {
    const rows = await database.all(sql`select * from ${rawSql(name)}`);
    parts.push(...rows.map((row) => `${name} ${JSON.stringify(row)}`));
  }
  return parts.join('\n');
}

onBothEngines('A customer made of markers', (engine) => {
  const opened = shared((t) => openListeningShop(t, { engine }));

  test('A customer made of markers is found nowhere after the deletion: list, stream, deliveries and all tables', async (t) => {
    const shop = opened();
    const send = async (method: string, path: string, body?: object, headers = {}) => {
      const as = path.startsWith('/v2/customer') ? {} : { as: shop.admin };
      const response = await shop.request(method, path, {
        ...as,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      assert.ok(response.status < 300, `${method} ${path} ${response.text}`);
      return response.json;
    };
    const endpoint = await send('POST', '/v2/webhook-endpoints', { url: 'http://127.0.0.1:9/hook' });
    const stream = await openStream(t, shop);
    const marked = (what: string) => `zyx${what}marker`;
    const customer = {
      username: marked('username'),
      email: `${marked('email')}@example.com`,
      password: marked('password'),
      firstName: marked('first'),
      lastName: marked('last'),
      phone: '+41 99 98 97 96 95',
    };
    const shippingAddress = {
      name: marked('recipient'),
      company: marked('company'),
      street: marked('street'),
      street2: marked('floor'),
      phone: '+41 99 98 97 96 93',
      city: marked('city'),
      zipCode: 'zyx-marker',
      country: 'CH',
    };
    await shop.app.mail.worker.run();
    const cheese = await send('POST', '/v2/cheeses', { name: 'Brie', pricePerKg: 5000 });
    await send('POST', '/v2/customer', customer, { 'idempotency-key': 'register' });
    const { token } = await send('POST', '/v2/customer/login', customer);
    const session = { authorization: `Bearer ${token}` };
    const order = { items: [{ cheeseId: cheese.id, quantity: 1 }], shippingAddress, notes: marked('notes') };
    const placed = await send('POST', '/v2/store/order', order, session);
    await send(
      'PUT',
      `/v2/customer/${customer.username}`,
      { ...customer, phone: '+41 99 98 97 96 94' },
      session,
    );
    for (const step of ['approve', 'ship', 'deliver']) {
      await send('POST', `/v2/store/order/${placed.id}/${step}`);
    }
    await send('POST', '/v2/store/order', order, session);
    // In `local`, mails go to files.
    await shop.app.mail.worker.run();
    assert.match(await dump(shop), /zyx\w+marker/, 'the dump does not see the customer');
    await send('DELETE', `/v2/customer/${customer.username}`, undefined, {
      ...session,
      'x-confirm-delete': 'true',
    });

    await untilNumbered(shop);
    const list = await shop.request('GET', '/v2/events?limit=100', { as: shop.admin });
    const types = list.json.items.map(({ type }: { type: string }) => type);
    for (const type of [
      'customer.created',
      'customer.updated',
      'customer.deleted',
      'order.placed',
      'order.delivered',
    ]) {
      assert.ok(types.includes(type), type);
    }
    await until(
      async () => stream.blocks.some(({ event }) => event === 'customer.deleted'),
      'the stream is late',
    );
    const deliveries = () =>
      shop.request('GET', `/v2/webhook-endpoints/${endpoint.id}/deliveries?limit=100`, { as: shop.admin });
    await until(async () => {
      await shop.app.webhooks.worker.run();
      return /customer\.deleted/.test((await deliveries()).text);
    }, 'no delivery of the deletion');
    stream.close();
    const everything = [list.text, stream.text(), (await deliveries()).text, await dump(shop)].join('\n');
    const found = everything.split('\n').filter((line) => /zyx[a-z-]{2}|marker|\+41 99/.test(line));
    assert.deepEqual(found, []);
  });
});
