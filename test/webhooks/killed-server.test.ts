/** A server that is killed between the request of a webhook and its result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import type { AttemptRow, DeliveryRow } from '../../src/webhooks/queries.ts';
import { accountWithKey, freshShop, inShop, serve } from '../cli/run.ts';
import { secret, until } from '../context.ts';
import { openReceiver } from './receiver.ts';

test('A server that is killed before the result of a webhook is known sends it again with the same id', async (t) => {
  const environment = await freshShop(t, { CURD_SECRET: secret });
  const { key } = await accountWithKey(environment, ['admin']);
  let isAccepting = false;
  const receiver = await openReceiver(t, (response) => {
    if (isAccepting) {
      response.writeHead(204).end();
    }
  });
  const server = await serve(t, environment);
  const send = async (path: string, body: object) => {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const response = await fetch(`${server.url}/v2${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 201, await response.text());
  };
  await send('/webhook-endpoints', { url: receiver.url, types: ['cheese.created'] });
  await send('/cheeses', { name: 'Brie' });
  await until(async () => receiver.received.length === 1, 'nothing was sent');
  await server.stop('SIGKILL');
  await inShop(environment, async ({ database }) => {
    const [job] = await database.all<{ due_at: string }>(sql`select due_at from background_job`);
    assert.ok(Date.parse(job?.due_at ?? '') > Date.now() + 30_000, 'there is no lease');
    // As if a minute had passed.
    await database.run(sql`update background_job set due_at = '2026-01-01T00:00:00.000Z'`);
  });
  isAccepting = true;
  const next = await serve(t, environment);
  await until(async () => receiver.received.length === 2, 'it was not sent again');
  const isDelivered = () =>
    inShop(environment, async ({ database }) => {
      const [delivery] = await database.all<DeliveryRow>(sql`select * from webhook_delivery`);
      return delivery?.status === 'delivered';
    });
  await until(isDelivered, 'the result is missing');
  assert.deepEqual(await next.stop(), { code: 0, stderr: '' });
  assert.equal(receiver.received[0]?.id, receiver.received[1]?.id);
  assert.equal(receiver.received[0]?.text, receiver.received[1]?.text);
  const attempts = await inShop(environment, ({ database }) =>
    database.all<AttemptRow>(sql`select * from webhook_attempt order by number`),
  );
  assert.deepEqual(
    attempts.map(({ number, status, error }) => [number, status, error]),
    [
      [1, null, 'the server stopped before the result was known'],
      [2, 204, null],
    ],
  );
});
