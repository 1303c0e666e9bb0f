/** A rolling restart of two instances behind HAProxy with deploy/haproxy.cfg. Skipped where it is not installed. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { run, skipWithout } from '../cli/programs.ts';
import { accountWithKey, freshShop, serve } from '../cli/run.ts';
import { bern, createDatabase, secret, temporaryFolder, until } from '../context.ts';
import { read } from '../gates/sources.ts';
import { freePort } from '../global-setup.ts';

const restarts = Number(process.env.CURD_TEST_RESTARTS ?? 2);
const clients = 8;

test('A rolling restart behind HAProxy with deploy/haproxy.cfg fails no read and no order', {
  skip: skipWithout('haproxy'),
}, async (t) => {
  const environment = await freshShop(t, {
    CURD_DATABASE: await createDatabase(t, 'template_curd'),
    CURD_SECRET: secret,
    CURD_STOP_DELAY: '5s',
    CURD_PLANS: '{"enterprise":{"perHour":null,"burst":60000}}',
  });
  const { key } = await accountWithKey(environment, ['write:orders', 'write:cheeses']);
  const ports = [await freePort(), await freePort()];
  const start = (index: number) => serve(t, environment, [], ['--port', String(ports[index])]);
  const servers = [await start(0), await start(1)];
  const port = await freePort();
  const file = join(await temporaryFolder(t), 'haproxy.cfg');
  writeFileSync(
    file,
    read('deploy/haproxy.cfg')
      .replace('bind :80', `bind 127.0.0.1:${port}`)
      .replace(/^\tbind :443.*$/m, '')
      .replace(/^\thttp-request redirect.*$/m, '')
      .replace('10.0.0.11:8080', `127.0.0.1:${ports[0]}`)
      .replace('10.0.0.12:8080', `127.0.0.1:${ports[1]}`),
  );
  const output = run(t, 'haproxy', ['-db', '-f', file]);
  const url = `http://127.0.0.1:${port}`;
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const send = async (path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { headers, ...sent });
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  await until(async () => (await fetch(`${url}/readyz`).catch(() => null))?.status === 200, output());
  const made = await send('/v2/cheeses', { name: 'Comté', status: 'available', pricePerKg: 20 });
  assert.equal(made.status, 201);

  const outcomes = new Map<string, number>();
  let isOver = false;
  const sendUntilOver = async (client: number) => {
    for (let turn = client; !isOver; turn += 1) {
      const order = { items: [{ cheeseId: made.json.id, quantity: 1 }], shippingAddress: bern };
      const response = turn % 4 === 0 ? send('/v2/store/order', order) : send(`/v2/cheeses/${made.json.id}`);
      const outcome = await response.then(
        ({ status }) => String(status),
        (error) => `${error.cause?.code ?? error}`,
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await sleep(10);
    }
  };
  const load = Promise.all(Array.from({ length: clients }, (_, client) => sendUntilOver(client)));
  for (let count = 0; count < restarts; count += 1) {
    const index = count % servers.length;
    assert.equal((await servers[index]?.stop())?.code, 0);
    servers[index] = await start(index);
    // Until HAProxy knows that it is back, the other one must not stop.
    await sleep(5000);
  }
  isOver = true;
  await load;
  t.diagnostic(JSON.stringify(Object.fromEntries(outcomes)));
  assert.deepEqual([...outcomes.keys()].toSorted(), ['200', '201'], output().slice(-2000));
});
