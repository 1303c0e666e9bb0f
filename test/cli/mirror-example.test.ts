/** The example that mirrors the catalogue, on a shop that changes between its runs. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../context.ts';
import { accountWithKey, type Environment, freshShop, resultOf, serve, startExample } from './run.ts';

test('examples/mirror-catalogue.js copies the catalogue and continues where it stopped', async (t) => {
  const shop = await freshShop(t, {});
  const { key } = await accountWithKey(shop, ['write:cheeses']);
  const server = await serve(t, shop);
  const file = join(await temporaryFolder(t), 'mirror.json');
  const send = (method: string, path: string, body?: object) =>
    fetch(`${server.url}/v2${path}`, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'X-Confirm-Delete': 'true' },
      body: JSON.stringify(body),
    });
  const run = async (where: Environment, ...args: string[]) => {
    const { code, stdout, stderr } = await resultOf(
      startExample('mirror-catalogue.js', { KEY: key, ...where }, file, ...args, '--once'),
    );
    assert.equal(code, 0, stderr);
    return stdout.trim().split('\n');
  };
  // The demo catalogue has 62 cheeses.
  const { id } = (await (await send('POST', '/cheeses', { name: 'Brie' })).json()) as { id: number };
  await send('POST', '/cheeses', { name: 'Feta' });
  assert.equal((await run({ CURD_PORT: '1' }, server.url)).at(-1), 'The copy has 64 cheeses.');
  await send('DELETE', `/cheeses/${id}`);
  await send('POST', '/cheeses', { name: 'Gouda' });
  assert.deepEqual(await run({ CURD_PORT: new URL(server.url).port }), [
    `cheese ${id} was deleted`,
    `cheese ${id + 2} is new: Gouda`,
    'The copy has 64 cheeses.',
  ]);
  const { cheeses } = JSON.parse(await readFile(file, 'utf8'));
  assert.ok(!(id in cheeses) && id + 1 in cheeses && id + 2 in cheeses);
});
