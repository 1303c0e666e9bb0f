/** "curd requests", and what a server that was killed has kept. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { secret } from '../context.ts';
import { createDatabase, engines, until } from '../helper.ts';
import { accountWithKey, assertRefused, curd, curdJson, freshShop, serve, start } from './run.ts';

for (const engine of engines) {
  test(`The request log is read by commands, and survives a killed server (${engine})`, async (t) => {
    const environment = await freshShop(t, {
      CURD_SECRET: secret,
      ...(engine === 'postgres' ? { CURD_DATABASE: await createDatabase(t) } : {}),
    });
    const { key } = await accountWithKey(environment, ['write:cheeses']);
    const send = async (url: string, id: string, body: object) => {
      const headers = { 'X-API-Key': key, 'X-Request-Id': id, 'Content-Type': 'application/json' };
      return fetch(`${url}/v2/cheeses`, { method: 'POST', headers, body: JSON.stringify(body) });
    };
    const find = async (url: string, id: string) =>
      (await fetch(`${url}/v2/requests/${id}`, { headers: { 'X-API-Key': key } })).status;
    const first = await serve(t, environment);
    assert.equal((await send(first.url, 'created-1', { name: 'Comté' })).status, 201);
    assert.equal((await send(first.url, 'refused-1', { name: '' })).status, 422);
    // A second later it is written.
    await until(async () => (await find(first.url, 'refused-1')) === 200);
    await first.stop('SIGKILL');
    const second = await serve(t, environment);
    assert.equal(await find(second.url, 'created-1'), 200);

    const shown = await curdJson(environment, 'requests', 'show', 'created-1');
    assert.deepEqual([shown.items.length, shown.items[0].status], [1, 201]);
    assert.deepEqual(
      shown.items[0].events.map(({ type }: { type: string }) => type),
      ['cheese.created'],
    );
    const list = await curd(environment, 'requests', 'list', '--status', '4xx');
    assert.match(list.stdout, /^\S+Z 422 POST \/v2\/cheeses [\d.]+ ms key:\d+ refused-1 validation_error\n$/);
    const { id } = shown.items[0].credential;
    const own = await curd(environment, 'requests', 'list', '--credential', id, '--json');
    assert.deepEqual(
      own.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
      ['refused-1', 'created-1'],
    );
    assertRefused(await curd(environment, 'requests', 'list', '--status', '6xx'), /such as 422/);
    assertRefused(await curd(environment, 'requests', 'show', 'never'), /24 hours.*X-Request-Id/);

    const tail = start(['requests', 'tail'], environment);
    t.after(() => tail.kill('SIGKILL'));
    let output = '';
    tail.stdout.on('data', (piece: Buffer) => {
      output += piece.toString();
    });
    // Until it has begun, requests are not new to it.
    await until(async () => {
      await send(second.url, 'tailed', { name: '' });
      return / 422 POST \/v2\/cheeses .* tailed validation_error\n/.test(output);
    });
    tail.kill('SIGINT');
    const [code] = await once(tail, 'close');
    assert.equal(code, 0);
  });
}
