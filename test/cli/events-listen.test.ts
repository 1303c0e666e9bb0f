/** "curd events listen": events of a server reach a receiver on this machine as signed webhooks. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verify } from '../../client/webhooks/index.ts';
import { bern, cleanUp, temporaryFolder, until } from '../context.ts';
import { openListeningShop } from '../helper.ts';
import { newCheese } from '../shop-verbs.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import { assertEachRefused, freshShop, runInProcess } from './run.ts';

const executable = fileURLToPath(new URL('../../bin/curd.js', import.meta.url));

suite('curd events listen', () => {
  test('curd events listen forwards each event in order with a valid signature, and the last one again', async (t) => {
    const shop = await openListeningShop(t);
    const statuses = [500, 204, 204, 204];
    const receiver = await openReceiver(t, (response) => response.writeHead(statuses.shift() ?? 204).end());
    const args = ['events', 'listen', '--forward-to', receiver.url, '--server', shop.url];
    const child = spawn(
      process.execPath,
      [executable, ...args, '--types', 'cheese.created,order.*', '--since', 'earliest'],
      {
        cwd: await temporaryFolder(t),
        env: { PATH: process.env.PATH, HOME: process.env.HOME, CURD_KEY: shop.admin },
      },
    );
    cleanUp(t, () => child.kill('SIGKILL'));
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const cheeseId = await newCheese(shop, { name: 'Brie' });
    await until(async () => lines.length === 2, 'no event was forwarded', 30_000);
    const [, secret = ''] = /signed with (whsec_[\w+/]+=*)/.exec(lines[0] ?? '') ?? [];
    const cheeses = `/v2/cheeses/${cheeseId}`;
    await shop.request('PATCH', cheeses, { as: shop.writer, body: { pricePerKg: 20 } });
    const startedAt = performance.now();
    const order = { items: [{ cheeseId, quantity: 1 }], shippingAddress: bern };
    await shop.request('POST', '/v2/store/order', { as: shop.admin, body: order });
    await until(async () => receiver.received.length === 2);
    t.diagnostic(`an order arrived after ${Math.round(performance.now() - startedAt)} ms`);
    await until(async () => lines.length === 3);
    child.stdin.write('r\n');
    await until(async () => lines.length === 4);

    const events = [];
    for (const { headers, text } of receiver.received) {
      events.push(await verify({ headers, body: text }, secret));
    }
    const [created, placed, again] = events;
    assert.deepEqual(
      events.map(({ type, previousId }) => [type, previousId]),
      [
        ['cheese.created', null],
        ['order.placed', created?.id],
        ['order.placed', created?.id],
      ],
    );
    assert.equal(again?.id, placed?.id);
    const printed = [
      `cheese.created ${created?.id} -> 500`,
      `order.placed ${placed?.id} -> 204`,
      `order.placed ${placed?.id} -> 204`,
    ];
    assert.deepEqual(
      lines.slice(1).map((line) => line.replace(/ \(\d+ ms\)$/, '')),
      printed,
    );
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    assert.deepEqual([code, stderr], [0, `Continue with --since ${placed?.id}\n`]);
  });

  test('curd events listen refuses what cannot work, in one sentence', async (t) => {
    const shop = await freshShop(t);
    const server = await openListeningShop(t);
    const forwardTo = 'http://127.0.0.1:9/';
    const listen = (options: Record<string, string>) => () =>
      runInProcess(shop, 'events listen', [], { forwardTo, server: server.url, ...options });
    await assertEachRefused(t, [
      ['no key', listen({ key: '' }), /CURD_KEY/],
      ['a receiver that is no URL', listen({ key: 'k', forwardTo: 'localhost' }), /--forward-to/],
      [
        'a secret that is none',
        listen({ key: 'k', webhookSecret: 'secret' }),
        /--webhook-secret must be whsec_/,
      ],
      ['an unknown type', listen({ key: server.admin, types: 'order.eaten' }), /order\.eaten/],
    ]);
  });
});
