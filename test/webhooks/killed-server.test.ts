/** A server that is killed between the request of a webhook and its result. */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { type Engine, sql } from '../../src/database/sql.ts';
import type { AttemptRow, DeliveryRow } from '../../src/webhooks/queries.ts';
import { accountWithKey, freshShop, inShop, serve } from '../cli/run.ts';
import { createDatabase, secret, until } from '../context.ts';
import { openReceiver } from './receiver.ts';

/** On PostgreSQL, another server notices it after ten seconds. */
const noticedMs = { sqlite: 5000, postgres: 20_000 };

suite('A server that is killed before the result of a webhook is known', { concurrency: true }, () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    test(`A server that is killed before the result of a webhook is known sends it again soon with the same id (${engine})`, (t) =>
      sendAgain(t, engine));
  }
});

async function sendAgain(t: TestContext, engine: Engine): Promise<void> {
  const place = engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t, 'template_curd') } : {};
  const environment = await freshShop(t, { CURD_SECRET: secret, ...place });
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
  isAccepting = true;
  const next = await serve(t, environment);
  await until(async () => receiver.received.length === 2, 'it was not sent again', noticedMs[engine]);
  const isDelivered = () =>
    inShop(environment, async ({ database }) => {
      const [delivery] = await database.all<DeliveryRow>(sql`select * from webhook_delivery`);
      return delivery?.status === 'delivered';
    });
  await until(isDelivered, 'the result is missing');
  assert.equal((await next.stop()).code, 0);
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
}
