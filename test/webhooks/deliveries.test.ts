/** Deliveries of webhooks: what is sent, in which order, and what happens when a receiver fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { sql } from '../../src/database/sql.ts';
import { createEndpointSecrets } from '../../src/webhooks/secrets.ts';
import { onBothEngines, until } from '../context.ts';
import { openShop, type Shop } from '../helper.ts';
import { openReceiver } from './receiver.ts';

interface Registered {
  readonly id: number;
  readonly secret: string;
}

async function register(
  shop: Shop,
  url: string,
  types: readonly string[] = ['order.*'],
): Promise<Registered> {
  const { database } = shop.app.services;
  const account = await database.get<{ id: number }>(sql`select min(id) as id from account`);
  const last = await database.get<{ last: number }>(sql`select last from event_log`);
  const row = await database.transaction((tx) =>
    tx.get<{ id: number }>(sql`
    insert into webhook_endpoint (account_id, url, types, secrets, status, position, created_at, updated_at)
    values (${account?.id ?? 0}, ${url}, ${JSON.stringify(types)}, '[]', 'enabled', ${last?.last ?? 0}, '', '')
    returning id`),
  );
  const id = row?.id ?? 0;
  const { text, stored } = createEndpointSecrets(shop.clock, shop.config.secret).create(id);
  await database.run(sql`update webhook_endpoint set secrets = ${JSON.stringify([stored])} where id = ${id}`);
  return { id, secret: text };
}

async function createCheese(shop: Shop, name: string): Promise<number> {
  const response = await shop.request('POST', '/v2/cheeses', { as: shop.writer, body: { name } });
  assert.equal(response.status, 201, response.text);
  return response.json.id;
}

/** Waits until all events have a number. */
async function numbered(shop: Shop): Promise<void> {
  await until(async () => {
    const row = await shop.app.services.database.get<{ waiting: number }>(
      sql`select count(*) as waiting from event where sequence is null`,
    );
    return row?.waiting === 0;
  });
}

async function deliver(shop: Shop): Promise<void> {
  await numbered(shop);
  await shop.app.webhookWorker.run();
}

async function listed(shop: Shop): Promise<string[]> {
  const text = (await shop.request('GET', '/v2/events?limit=100', { as: shop.admin })).text;
  return JSON.parse(text).items.map((item: unknown) => JSON.stringify(item));
}

onBothEngines('Webhooks', (engine) => {
  test('are the events of the list with previousId as the last member, signed', async (t) => {
    const shop = await openShop(t, { engine });
    const receiver = await openReceiver(t);
    const { secret } = await register(shop, receiver.url, ['cheese.*']);
    await createCheese(shop, 'Brie');
    await createCheese(shop, 'Comté');
    await deliver(shop);
    const events = (await listed(shop)).filter((text) => JSON.parse(text).type === 'cheese.created');
    const sent = receiver.received.toSorted((a, b) => a.body.sequence - b.body.sequence);
    const [first, second] = sent;
    assert.ok(first !== undefined && second !== undefined && sent.length === 2);
    assert.deepEqual(
      sent.map(({ text }) => text),
      [
        `${events[0]?.slice(0, -1)},"previousId":null}`,
        `${events[1]?.slice(0, -1)},"previousId":"${first.id}"}`,
      ],
    );
    for (const { id, headers, text, body } of sent) {
      assert.equal(id, body.id);
      assert.deepEqual(new Webhook(secret).verify(text, headers as Record<string, string>), body);
      assert.match(String(headers['user-agent']), /^Curd\/\d/);
      assert.match(String(headers.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    }
  });
});
